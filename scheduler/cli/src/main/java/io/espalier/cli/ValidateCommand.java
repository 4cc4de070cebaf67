package io.espalier.cli;

import io.espalier.cli.flags.ShardFlags;
import io.espalier.cli.term.Printable;
import io.espalier.core.config.Config;
import io.espalier.core.config.NodeSourceSpec;
import io.espalier.core.config.read.ConfigParser;
import io.espalier.core.config.source.ConfigSource;
import io.espalier.core.config.source.ConfigSource.Unavailable;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.json.Position;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Problems;
import io.espalier.core.problem.Result;
import io.espalier.core.topology.NodeSourceContext;
import io.espalier.core.topology.NodeSourceType;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.server.app.CommandCheck;
import io.espalier.server.app.Plugins;
import io.espalier.server.app.options.RunnerOptions;
import io.espalier.server.config.ConfigLoader;
import io.espalier.server.config.ConfigSources;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * Prints every problem of a configuration, one per line in the form of compilers: {@code
 * FILE:LINE:COLUMN: error: PATH: message (value: ...); hint}.
 */
@Command(
    name = "validate",
    description = "Checks a configuration and prints every problem with its place.",
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:there is no error (warnings are allowed without --strict)",
      "2:there is an error, or the configuration cannot be read"
    },
    footerHeading = "%nEXAMPLES%n",
    footer = {
      "  espalier validate config-examples/quickstart.json",
      "  espalier validate site.json --runner remote"
    })
final class ValidateCommand implements Callable<Integer> {
  private final ConfigParser parser;
  private final Collection<NodeSourceType> nodeSourceTypes;

  @Spec private @Nullable CommandSpec spec;

  @Parameters(
      paramLabel = "CONFIG",
      description = "A file, a directory with *.json and *.yaml files, or a URL.")
  private String config = "";

  @Option(names = "--strict", description = "Take warnings for errors.")
  private boolean strict;

  @Option(
      names = "--runner",
      paramLabel = "KIND",
      defaultValue = "local",
      description =
          "What is to run the tasks. With local (the default) the programs of all commands must be"
              + " on this host; with another one they are not looked for.")
  private String runner = "local";

  @Option(
      names = "--worker-command",
      paramLabel = "PATH",
      description = "Program for jobs that have no command of their own, to be looked for.")
  private @Nullable String workerCommand;

  @Mixin private final ShardFlags shards = new ShardFlags();

  @Option(names = "--json", description = "Print one JSON object instead of lines.")
  private boolean json;

  /**
   * Creates a command that knows the plug-ins.
   *
   * @param nodeSourceTypes check the preferences of their sources; do no I/O
   */
  ValidateCommand(ConfigParser parser, Collection<NodeSourceType> nodeSourceTypes) {
    this.parser = parser;
    this.nodeSourceTypes = List.copyOf(nodeSourceTypes);
  }

  @Override
  public Integer call() throws InterruptedException {
    String complaint =
        RunnerOptions.Kind.of(runner) == RunnerOptions.Kind.PLUG_IN
            ? Plugins.load().complaintAboutRunner(runner)
            : null;
    if (complaint != null) {
      throw new CommandException(ExitCode.USAGE, complaint);
    }
    Result<Config> result = check();
    List<Problem> problems = Problems.sorted(result.problems());
    int errors = (int) problems.stream().filter(Problem::isError).count();
    int warnings = problems.size() - errors;
    Config found = result.value();
    int jobs = found == null ? 0 : found.jobs().size();
    PrintWriter out = out();
    boolean good = errors == 0 && !(strict && warnings > 0);
    if (json) {
      out.println(JsonWriter.pretty(asJson(problems, errors, warnings, jobs, good)));
    } else {
      problems.forEach(problem -> out.println(ProblemLines.line(problem, config)));
      out.println(
          Printable.text(ConfigSources.shown(config))
              + ": "
              + counted(errors, "error")
              + ", "
              + counted(warnings, "warning")
              + (found == null ? "" : ", " + counted(jobs, "job")));
    }
    out.flush();
    return good ? ExitCode.OK : ExitCode.USAGE;
  }

  private Result<Config> check() throws InterruptedException {
    try {
      ConfigSource source = ConfigSources.open(config);
      ConfigSource.Text text = source.fetch();
      ConfigLoader loader = new ConfigLoader(parser.inShard(shards.shard()));
      Result<Config> loaded = loader.inspect(text);
      Config value = loaded.value();
      if (value == null) {
        return loaded;
      }
      List<Problem> problems = new ArrayList<>();
      for (NodeSourceSpec spec : value.settings().nodeSources()) {
        problems.addAll(problemsOf(spec, value, source.directory()));
      }
      if (runner.equals(RunnerOptions.Kind.LOCAL.label())) {
        problems.addAll(commands(source.directory()).problems(value));
      }
      List<Problem> all = new ArrayList<>(loaded.problems());
      all.addAll(loader.told(text, problems));
      return new Result<>(value, all);
    } catch (Unavailable e) {
      return ConfigLoader.failed(e.problem());
    }
  }

  private CommandCheck commands(String directory) {
    return new CommandCheck(
        Path.of(directory),
        System.getenv(),
        workerCommand == null ? List.of() : List.of(workerCommand),
        "if only the hosts of workers have it: --runner remote");
  }

  private List<Problem> problemsOf(NodeSourceSpec spec, Config value, String directory) {
    return nodeSourceTypes.stream()
        .filter(type -> type.name().equals(spec.source()))
        .findFirst()
        .map(
            type ->
                type.create(spec, value.settings().levels(), new NodeSourceContext(directory, ""))
                    .problems())
        .orElse(List.of());
  }

  private PrintWriter out() {
    return spec == null
        ? new PrintWriter(System.out, true, StandardCharsets.UTF_8)
        : spec.commandLine().getOut();
  }

  private static String counted(int count, String what) {
    return count + " " + what + (count == 1 ? "" : "s");
  }

  private Json asJson(List<Problem> problems, int errors, int warnings, int jobs, boolean good) {
    List<Json> items = new ArrayList<>();
    for (Problem problem : problems) {
      Position at = problem.at();
      Json.Builder item =
          Json.object()
              .put("severity", problem.isError() ? "error" : "warning")
              .put("file", at.file().isEmpty() ? ConfigSources.shown(config) : at.file());
      if (at.line() > 0) {
        item.put("line", at.line()).put("column", at.column());
      }
      item.put("path", problem.path()).put("message", problem.message());
      item.putIfPresent("value", textOrNull(problem.value()));
      item.putIfPresent("hint", textOrNull(problem.hint()));
      items.add(item.build());
    }
    return Json.object()
        .put("config", ConfigSources.shown(config))
        .put("ok", good)
        .put("errors", errors)
        .put("warnings", warnings)
        .put("jobs", jobs)
        .put("problems", new Json.Arr(items))
        .build();
  }

  private static @Nullable Json textOrNull(@Nullable String text) {
    return text == null ? null : Json.of(text);
  }
}
