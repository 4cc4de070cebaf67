package io.espalier.cli;

import io.espalier.cli.flags.ProcessFlags;
import io.espalier.cli.flags.RemoteFlags;
import io.espalier.cli.flags.ZooKeeperFlags;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.server.app.SchedulerProcess;
import io.espalier.server.app.options.ProcessOptions;
import io.espalier.server.app.ownership.StoreSetBackException;
import io.espalier.server.ha.HaOptions;
import io.espalier.server.ha.HaScheduler;
import io.espalier.server.zk.ZooKeeperTarget;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code espalier scheduler}: the daemon. */
@Command(
    name = "scheduler",
    mixinStandardHelpOptions = true,
    description = "Run the scheduler until it is stopped, following its configuration.",
    footer = {
      "",
      "SIGINT and SIGTERM stop it cleanly: statuses are kept, local tasks are ended; those of"
          + " remote",
      "workers go on, and the next start takes them over.",
      "",
      "EXAMPLES",
      "  espalier scheduler --config config-examples/quickstart.json --runner local",
      "  espalier scheduler --config config-examples/remote.json --thrift 127.0.0.1:6789",
      "",
      "With --zookeeper or --ha store it is one of several: it stands by until it is elected. See",
      "docs/high-availability.md."
    })
final class SchedulerCommand implements Callable<Integer> {
  @Option(
      names = "--config",
      paramLabel = "URI",
      required = true,
      description = "File, directory or URL of the configuration; changes are followed.")
  private String config = "";

  @Mixin private final ProcessFlags flags = new ProcessFlags();
  @Mixin private final RemoteFlags remote = new RemoteFlags();
  @Mixin private final ZooKeeperFlags zookeeper = new ZooKeeperFlags();

  @Option(
      names = "--advertise",
      paramLabel = "HOST",
      description =
          "With --zookeeper or --ha: the host by which workers, clients and other schedulers reach"
              + " this one (default: the one it listens on).")
  private @Nullable String advertise;

  @Option(
      names = "--ha",
      paramLabel = "HOW",
      description =
          "store: one of several schedulers with one status store in MySQL, which elects the one"
              + " that leads; without ZooKeeper.")
  private @Nullable String ha;

  @Option(
      names = "--paused",
      description =
          "Start no task before a person releases the brake: espalier release. Tasks that still run"
              + " on workers go on.")
  private boolean paused;

  @Override
  public Integer call() throws InterruptedException {
    ProcessOptions options = flags.options(config, false, false, paused, 0, remote);
    Optional<ZooKeeperTarget> group = zookeeper.target();
    if (ha != null && !ha.equals("store")) {
      throw new CommandException(ExitCode.USAGE, "--ha " + ha + " is not known; there is: store");
    }
    if (ha != null && group.isPresent()) {
      throw new CommandException(ExitCode.USAGE, "--ha store and --zookeeper: keep one of them");
    }
    if (ha != null || group.isPresent()) {
      return elected(options, group);
    }
    while (true) {
      try {
        return alone(options);
      } catch (CommandException e) {
        if (!(e.getCause() instanceof StoreSetBackException)) {
          throw e;
        }
        System.err.println("espalier: " + e.getCause().getMessage() + "; starting again");
      }
    }
  }

  private static int alone(ProcessOptions options) throws InterruptedException {
    try (SchedulerProcess process = SchedulerProcess.startUntilSignal(options, true)) {
      process.problems().forEach(problem -> System.err.println("espalier: " + problem));
      process
          .thriftAddress()
          .ifPresent(address -> System.err.println("espalier: workers are expected at " + address));
      process.httpUri().ifPresent(uri -> System.err.println("espalier: listening on " + uri));
      process.awaitEnd();
      return ExitCode.OK;
    }
  }

  private int elected(ProcessOptions options, Optional<ZooKeeperTarget> zookeepers)
      throws InterruptedException {
    HaOptions group =
        new HaOptions(zookeepers, Optional.ofNullable(advertise), ProcessFlags.hostName());
    List<String> problems = group.problems(options);
    if (!problems.isEmpty()) {
      throw new CommandException(ExitCode.USAGE, String.join("\nespalier: ", problems));
    }
    return HaScheduler.run(options, group, line -> System.err.println("espalier: " + line));
  }
}
