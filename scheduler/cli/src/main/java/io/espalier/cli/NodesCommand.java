package io.espalier.cli;

import io.espalier.cli.flags.ProcessFlags;
import io.espalier.cli.flags.ShardFlags;
import io.espalier.core.config.Config;
import io.espalier.core.config.Settings;
import io.espalier.core.config.source.ConfigSource;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.core.topology.NodeSourceContext;
import io.espalier.core.topology.NodeSourceType;
import io.espalier.core.topology.Topology;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.server.app.Plugins;
import io.espalier.server.config.ConfigLoader;
import io.espalier.server.config.ConfigSources;
import io.espalier.server.nodes.NodeFetcher;
import java.io.BufferedWriter;
import java.io.PrintWriter;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code espalier nodes}: prints the node tree of a configuration. */
@Command(
    name = "nodes",
    mixinStandardHelpOptions = true,
    description = "Show the node tree that a configuration yields.",
    footer = {
      "",
      "The tree goes to standard output, problems and totals to standard error.",
      "Exit codes: 0 the tree is complete; 1 a node source failed; 2 the configuration is invalid.",
      "",
      "EXAMPLES",
      "  espalier nodes config-examples/quickstart.json --json"
    })
final class NodesCommand implements Callable<Integer> {
  private static final int OUTPUT_BUFFER = 1 << 16;

  private final SettingsLoader loader;
  private final Supplier<Map<String, NodeSourceType>> types;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(paramLabel = "CONFIG", description = "File, directory or URL of the configuration.")
  private String config = "";

  @Option(
      names = "--at",
      paramLabel = "EPOCH_SECONDS",
      description = "The instant the nodes are wanted for (default: now).")
  private @Nullable Long at;

  @Option(names = "--json", description = "Print one JSON array of nodes.")
  private boolean json;

  @Mixin private final ShardFlags shards = new ShardFlags();

  @Option(
      names = "--instance-node-name",
      paramLabel = "NAME",
      description = "Name of the root node (default: this host's name).")
  private @Nullable String instanceNodeName;

  /**
   * Creates a command that reads configurations from files, with the plug-ins on the class path.
   */
  NodesCommand() {
    this(NodesCommand::loadFile, () -> Plugins.load().nodeSources());
  }

  /**
   * @param types node source types by name; called only when the command runs
   */
  NodesCommand(SettingsLoader loader, Supplier<Map<String, NodeSourceType>> types) {
    this.loader = loader;
    this.types = types;
  }

  /** Loads settings. */
  interface SettingsLoader {
    /**
     * @return no value if the settings have an error
     */
    Result<LoadedSettings> load(String configUri) throws InterruptedException;
  }

  /**
   * The settings of a configuration.
   *
   * @param directory the directory against which relative paths in it are resolved
   */
  record LoadedSettings(Settings settings, String directory) {}

  @Override
  public Integer call() throws InterruptedException {
    Result<LoadedSettings> loaded = loader.load(config);
    LoadedSettings found = loaded.value();
    if (found == null) {
      report(loaded.problems());
      return ExitCode.USAGE;
    }
    String name = instanceNodeName == null ? ProcessFlags.hostName() : instanceNodeName;
    NodeFetcher fetcher =
        new NodeFetcher(
            types.get(), name, new NodeSourceContext(found.directory(), ""), shards.shard());
    Instant now = instant();
    report(loaded.problems());
    List<Problem> preferences = fetcher.check(found.settings());
    if (preferences.stream().anyMatch(Problem::isError)) {
      report(preferences);
      return ExitCode.USAGE;
    }
    Result<Topology> fetched = fetcher.fetch(found.settings(), now);
    report(fetched.problems());
    Topology topology = fetched.value();
    if (topology == null) {
      return ExitCode.FAILED;
    }
    PrintWriter out =
        new PrintWriter(new BufferedWriter(spec.commandLine().getOut(), OUTPUT_BUFFER));
    NodeListing listing = new NodeListing(topology, out);
    if (json) {
      listing.json();
    } else {
      listing.tree();
      out.flush();
      spec.commandLine().getErr().println(listing.totals());
    }
    out.flush();
    return ExitCode.OK;
  }

  private Instant instant() {
    try {
      return at == null ? Instant.now() : Instant.ofEpochSecond(at);
    } catch (DateTimeException e) {
      throw new CommandException(ExitCode.USAGE, "--at " + at + " is too far from now");
    }
  }

  private void report(List<Problem> problems) {
    problems.forEach(problem -> spec.commandLine().getErr().println("espalier: " + problem));
  }

  private static Result<LoadedSettings> loadFile(String uri) throws InterruptedException {
    try {
      Plugins plugins = Plugins.load();
      ConfigSource source = ConfigSources.open(uri);
      Result<Config> result = new ConfigLoader(plugins.configParser()).load(source.fetch());
      Config config = result.value();
      // Problems of jobs are reported by validate: nodes do not depend on them.
      return config == null
          ? new Result<>(null, result.problems())
          : new Result<>(new LoadedSettings(config.settings(), source.directory()), List.of());
    } catch (ConfigSource.Unavailable e) {
      return new Result<>(null, List.of(e.problem()));
    }
  }
}
