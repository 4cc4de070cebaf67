package io.espalier.cli;

import io.espalier.cli.flags.HttpFlags;
import io.espalier.cli.flags.LogFlags;
import io.espalier.cli.flags.MeasuringFlags;
import io.espalier.cli.flags.ProcessFlags;
import io.espalier.cli.flags.RpcFlags;
import io.espalier.cli.flags.TlsFlags;
import io.espalier.cli.flags.ZooKeeperFlags;
import io.espalier.cli.term.DurationConverter;
import io.espalier.core.config.label.Labels;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.server.app.WorkerProcess;
import io.espalier.server.app.options.HostPort;
import io.espalier.server.app.options.TaskLogOptions;
import io.espalier.server.ha.LeaderFinder;
import io.espalier.server.security.HttpSecurityOptions;
import io.espalier.server.zk.ZooKeeperTarget;
import io.espalier.thrift.rpc.PeerOptions;
import io.espalier.webui.WebOptions;
import io.espalier.webui.security.MemoryAuditLog;
import io.espalier.worker.agent.AgentOptions;
import io.espalier.worker.resources.MeasuringOptions;
import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code espalier worker}: runs tasks for a remote scheduler. */
@Command(
    name = "worker",
    mixinStandardHelpOptions = true,
    description = "Run tasks for a scheduler until it is stopped, or drained.",
    footer = {
      "",
      "Its timers come from the scheduler. SIGINT and SIGTERM stop it: nothing new is taken, tasks"
          + " may",
      "run on for --drain-ms, the rest is ended, and the scheduler is told how all of it ended."
          + " Exit",
      "code 0 then, and when an operator has drained it.",
      "",
      "EXAMPLES",
      "  espalier worker --scheduler 127.0.0.1:6789 --shard-id w1",
      "  espalier worker --zookeeper zk1:2181,zk2:2181,zk3:2181/espalier --shard-id w1"
    })
public final class WorkerCommand implements Callable<Integer> {
  private static final Logger LOG = LoggerFactory.getLogger(WorkerCommand.class);

  /** Nothing can be changed over HTTP here; what is refused is still recorded. */
  private static final int AUDIT_ENTRIES = 100;

  @Option(
      names = "--scheduler",
      paramLabel = "HOST:PORT",
      split = ",",
      description =
          "Where the scheduler expects workers; several, to be tried in turn. Or --zookeeper.")
  private List<String> schedulers = List.of();

  @Option(
      names = "--shard-id",
      paramLabel = "NAME",
      description =
          "The name under which it is known, and may be replaced by another process"
              + " (default: this host's name).")
  private @Nullable String shard;

  @Option(
      names = "--host-name",
      paramLabel = "NAME",
      description = "The host as jobs name it for placement (default: this host's name).")
  private @Nullable String hostName;

  @Option(
      names = "--thrift",
      paramLabel = "HOST:PORT",
      description =
          "Listen there too, for schedulers of the release before (default: listen nowhere;"
              + " schedulers call on the connection that the worker opens).")
  private @Nullable String thrift;

  @Option(
      names = "--advertise",
      paramLabel = "HOST:PORT",
      description = "Where a scheduler of the release before finds it, when that is not --thrift.")
  private @Nullable String advertise;

  @Option(
      names = "--data-dir",
      paramLabel = "DIR",
      description =
          "Where logs and working directories are kept; one worker at a time"
              + " (default: .espalier/worker-NAME).")
  private @Nullable String dataDir;

  @Option(
      names = "--worker-command",
      paramLabel = "PATH",
      description = "Program for jobs that have no command of their own.")
  private @Nullable String workerCommand;

  @Option(
      names = "--command-dir",
      paramLabel = "DIR",
      defaultValue = ".",
      description =
          "Where commands with a relative path are looked for (default: the working directory).")
  private String commandDir = ".";

  @Option(
      names = "--label",
      paramLabel = "NAME=VALUE",
      description =
          "What this worker is, for jobs that choose workers by it, such as arch=arm64; may be"
              + " given several times.")
  private List<String> labels = new ArrayList<>();

  @Option(
      names = "--max-tasks",
      paramLabel = "N",
      defaultValue = "0",
      description = "How many tasks at once at most (default 0: as the worker resources say).")
  private int maxTasks;

  @Option(
      names = "--drain-ms",
      paramLabel = "MS",
      converter = DurationConverter.IntMillis.class,
      defaultValue = "0",
      description = "How long a stop waits for running tasks (default ${DEFAULT-VALUE}).")
  private int drainMillis;

  @Option(
      names = "--executor",
      paramLabel = "KIND",
      defaultValue = "process",
      description =
          "process (default), or noop: runs nothing, every task is done at once, for measurements.")
  private String executor = "process";

  @Option(
      names = "--insecure",
      description = "Allow listening without authentication where others can reach it.")
  private boolean insecure;

  @Mixin private final RpcFlags rpc = new RpcFlags();
  @Mixin private final TlsFlags tls = new TlsFlags();
  @Mixin private final HttpFlags http = new HttpFlags();
  @Mixin private final LogFlags logs = new LogFlags();
  @Mixin private final MeasuringFlags measuring = new MeasuringFlags();
  @Mixin private final ZooKeeperFlags zookeeper = new ZooKeeperFlags();

  @Override
  public Integer call() throws InterruptedException {
    Optional<ZooKeeperTarget> group = zookeeper.target();
    if (group.isPresent() != schedulers.isEmpty()) {
      throw new CommandException(
          ExitCode.USAGE,
          "say where the scheduler is: --scheduler HOST:PORT, or --zookeeper HOSTS/PATH when"
              + " several elect one; not both");
    }
    try (WorkerProcess worker = WorkerProcess.startUntilSignal(options())) {
      System.err.println(
          "espalier: worker "
              + worker.name()
              + (worker.address().isEmpty()
                  ? " connects to its scheduler"
                  : " takes calls at " + worker.address()));
      if (!worker.webAddress().isEmpty()) {
        System.err.println("espalier: listening on " + worker.webAddress());
      }
      if (group.isEmpty()) {
        worker.awaitEnd();
        return ExitCode.OK;
      }
      try (LeaderFinder finder = LeaderFinder.follow(group.get(), worker::schedulers)) {
        LOG.debug("following {}", finder);
        worker.awaitEnd();
        return ExitCode.OK;
      } catch (IOException e) {
        throw new CommandException(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
      }
    }
  }

  private WorkerProcess.Options options() {
    List<String> problems = new ArrayList<>();
    List<AgentOptions.Address> known = new ArrayList<>();
    for (String scheduler : schedulers) {
      AgentOptions.Address address = address("--scheduler", scheduler, problems);
      if (address.port() == 0) {
        problems.add("--scheduler " + scheduler + ": the port is missing");
      }
      known.add(address);
    }
    Optional<AgentOptions.Address> listen =
        Optional.ofNullable(thrift).map(given -> address("--thrift", given, problems));
    if (advertise != null) {
      AgentOptions.Address unused = address("--advertise", advertise, problems);
    }
    PeerOptions peer =
        rpc.peer(listen.map(AgentOptions.Address::host).orElse(null), tls, insecure, problems);
    String name = shard == null ? ProcessFlags.hostName() : shard;
    if (name.isBlank() || name.length() > 200 || name.chars().anyMatch(c -> c < ' ')) {
      problems.add("--shard-id must be 1 to 200 printable characters");
    }
    List<String> odd = new ArrayList<>();
    Map<String, String> labelled = Labels.parse(labels, odd);
    odd.forEach(problem -> problems.add("--label " + problem));
    if (maxTasks < 0 || drainMillis < 0) {
      problems.add("--max-tasks and --drain-ms must be 0 or more");
    }
    if (!executor.equals("process") && !executor.equals("noop")) {
      problems.add("--executor " + executor + " is none of process, noop");
    }
    Path data = Path.of("");
    Path commands = Path.of("");
    try {
      data =
          dataDir == null
              ? Path.of(".espalier", "worker-" + name.replaceAll("[^A-Za-z0-9._-]", "_"))
              : Path.of(dataDir);
      commands = Path.of(commandDir).toAbsolutePath();
    } catch (InvalidPathException e) {
      problems.add("not a path: " + e.getInput());
    }
    TaskLogOptions keeping = logs.keeping(problems);
    MeasuringOptions measured = measuring.measuring(problems);
    Optional<HostPort> watched = http.listener(null, insecure, problems);
    HttpSecurityOptions access =
        watched.isEmpty() ? HttpSecurityOptions.OPEN : http.access(tls.forBoth(), problems);
    if (!problems.isEmpty()) {
      throw new CommandException(ExitCode.USAGE, String.join("\nespalier: ", problems));
    }
    return new WorkerProcess.Options(
        new AgentOptions(
            name,
            hostName == null ? ProcessFlags.hostName() : hostName,
            listen,
            advertise == null ? "" : advertise,
            known,
            peer,
            labelled,
            maxTasks,
            data,
            Duration.ofMillis(drainMillis)),
        workerCommand == null ? List.of() : List.of(workerCommand),
        commands,
        keeping,
        measured,
        executor.equals("noop"),
        watched.map(
            at ->
                WebOptions.at(at.host(), at.port())
                    .withAllowedHosts(access.names(Set.of()))
                    .withSecurity(access.open(new MemoryAuditLog(AUDIT_ENTRIES)))));
  }

  private static AgentOptions.Address address(String flag, String text, List<String> problems) {
    try {
      HostPort parsed = HostPort.parse(text);
      return new AgentOptions.Address(parsed.host(), parsed.port());
    } catch (IllegalArgumentException e) {
      problems.add(flag + " " + text + ": " + e.getMessage());
      return new AgentOptions.Address("127.0.0.1", 1);
    }
  }
}
