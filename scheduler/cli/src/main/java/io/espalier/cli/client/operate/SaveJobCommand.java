package io.espalier.cli.client.operate;

import io.espalier.cli.client.Client;
import io.espalier.cli.client.ClientCommand;
import io.espalier.cli.client.CommandContext;
import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.JsonFields;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Result;
import io.espalier.json.JsonReader;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.webui.v1.ApiV1;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code save-job JOB FILE}: writes a job to the source of the configuration. */
@Command(
    name = "save-job",
    mixinStandardHelpOptions = true,
    description = {
      "Save a job, new or not, where the configuration comes from; all else there stays as it is.",
      "FILE holds the job: the object that stands behind \"bistro_job->JOB\"; - is standard input.",
      "A job with errors is refused. --back-to saves an earlier version again."
    },
    footerHeading = "%nEXAMPLES%n",
    footer = {
      "  espalier save-job backup backup.json --version-id 3",
      "  espalier save-job backup --back-to 2"
    })
public final class SaveJobCommand extends ClientCommand {
  @Parameters(index = "0", paramLabel = "JOB", description = "Name of the job.")
  private String job = "";

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "FILE",
      description = "The job as JSON, comments allowed.")
  private @Nullable String file;

  @Option(
      names = "--version-id",
      paramLabel = "N",
      description = "Only if the job has this version now; 0: only if there is no such job.")
  private @Nullable Long version;

  @Option(
      names = "--back-to",
      paramLabel = "N",
      description = "Save again what the job was in version N, instead of a file.")
  private @Nullable Long backTo;

  @Option(names = "--reason", paramLabel = "TEXT", description = "Why, for the history.")
  private String reason = "";

  public SaveJobCommand(CommandContext clients) {
    super(clients);
  }

  @Override
  public int run(Client client) {
    if ((file == null) == (backTo == null)) {
      throw new CommandException(ExitCode.USAGE, "name either a FILE or --back-to");
    }
    Json.Obj saved =
        backTo == null ? save(client, file == null ? "-" : file) : back(client, backTo);
    if (json()) {
      print(saved);
    } else {
      long number = JsonFields.number(saved, "version");
      out().println(HumanFormat.clean(job + " is saved as version " + number));
    }
    return ExitCode.OK;
  }

  private Json.Obj back(Client client, long to) {
    Json.Obj body =
        Json.object()
            .put("version", to)
            .put("author", DeleteJobCommand.author())
            .put("reason", reason)
            .build();
    return client.call("POST", ApiV1.ROLLBACK, Map.of("job", job), Map.of(), body);
  }

  private Json.Obj save(Client client, String from) {
    return client.call(
        "PUT", ApiV1.JOB, Map.of("job", job), DeleteJobCommand.query(version, reason), read(from));
  }

  static Json.Obj read(String from) {
    byte[] bytes;
    try {
      bytes = from.equals("-") ? System.in.readAllBytes() : Files.readAllBytes(Path.of(from));
    } catch (IOException | java.nio.file.InvalidPathException e) {
      throw new CommandException(ExitCode.USAGE, "cannot read " + from + ": " + e.getMessage(), e);
    }
    Result<Json> read = JsonReader.config().withFile(from).read(bytes);
    if (read.value() instanceof Json.Obj object) {
      return object;
    }
    throw new CommandException(
        ExitCode.USAGE,
        read.problems().isEmpty()
            ? from + " must hold an object"
            : read.problems().get(0).toString());
  }
}
