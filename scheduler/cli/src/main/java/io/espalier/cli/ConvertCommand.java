package io.espalier.cli;

import io.espalier.core.config.Config;
import io.espalier.core.config.read.ConfigParser;
import io.espalier.core.config.source.ConfigSource.Text;
import io.espalier.core.config.source.ConfigSource.Unavailable;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.server.config.ConfigLoader;
import io.espalier.server.config.ConfigSources;
import io.espalier.server.config.yaml.YamlText;
import io.espalier.server.config.yaml.YamlWriter;
import io.espalier.worker.process.os.FileFailures;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Writes a configuration in the other notation. */
@Command(
    name = "convert",
    description =
        "Writes a configuration as YAML or as JSON. It means the same; comments are lost, and"
            + " templates, variables and included files are replaced by what they stand for.",
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:the configuration was written",
      "2:it has errors or cannot be read, or the output exists"
    },
    footerHeading = "%nEXAMPLES%n",
    footer = {
      "  espalier convert config-examples/quickstart.json",
      "  espalier convert site.json -o site.yaml"
    })
final class ConvertCommand implements Callable<Integer> {
  /** The notations of configurations. */
  enum Notation {
    yaml,
    json
  }

  private final ConfigParser parser;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(
      paramLabel = "CONFIG",
      description = "A file, a directory with *.json and *.yaml files, or a URL.")
  private String config = "";

  @Option(
      names = "--to",
      paramLabel = "NOTATION",
      description = "yaml or json; without it, the one in which the configuration is not.")
  private @Nullable Notation to;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FILE",
      description = "Write this new file in place of printing.")
  private @Nullable Path output;

  ConvertCommand(ConfigParser parser) {
    this.parser = parser;
  }

  @Override
  public Integer call() throws InterruptedException {
    try {
      Text text = ConfigSources.open(config).fetch();
      ConfigLoader loader = new ConfigLoader(parser);
      Result<Config> loaded = loader.inspect(text);
      loaded.problems().forEach(this::report);
      if (loaded.hasErrors()) {
        return ExitCode.USAGE;
      }
      boolean isYaml = text.documents().stream().anyMatch(YamlText::isYaml);
      Notation target = to == null ? (isYaml ? Notation.json : Notation.yaml) : to;
      Json.Obj document = Objects.requireNonNull(loader.document(text).value());
      write(
          target == Notation.yaml
              ? YamlWriter.write(document)
              : JsonWriter.pretty(document) + "\n");
      return ExitCode.OK;
    } catch (Unavailable e) {
      report(e.problem());
      return ExitCode.USAGE;
    }
  }

  private void report(Problem problem) {
    spec.commandLine().getErr().println(ProblemLines.line(problem, config));
  }

  private void write(String text) {
    if (output == null) {
      PrintWriter out = spec.commandLine().getOut();
      out.print(text);
      out.flush();
      return;
    }
    try {
      Files.writeString(output, text, StandardCharsets.UTF_8, StandardOpenOption.CREATE_NEW);
    } catch (FileAlreadyExistsException e) {
      throw new CommandException(ExitCode.USAGE, output + " exists already");
    } catch (IOException e) {
      throw new CommandException(
          ExitCode.USAGE, "cannot write " + output + ": " + FileFailures.why(e));
    }
  }
}
