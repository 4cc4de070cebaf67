package io.espalier.cli.flags;

import io.espalier.cli.term.DurationConverter;
import io.espalier.core.config.Partition;
import io.espalier.server.CommandException;
import io.espalier.server.ExitCode;
import io.espalier.server.app.Plugins;
import io.espalier.server.app.options.EventRetentionOptions;
import io.espalier.server.app.options.HostPort;
import io.espalier.server.app.options.ImportSource;
import io.espalier.server.app.options.ListenerOptions;
import io.espalier.server.app.options.ProcessOptions;
import io.espalier.server.app.options.RunnerOptions;
import io.espalier.server.app.options.RunnerOptions.Remote;
import io.espalier.server.app.options.RunnerOptions.Simulation;
import io.espalier.server.app.options.SourceOptions;
import io.espalier.server.app.options.StoreOptions;
import io.espalier.server.app.options.TaskLogOptions;
import io.espalier.server.security.HttpSecurityOptions;
import io.espalier.server.store.jdbc.mysql.MySqlAddress;
import io.espalier.worker.resources.MeasuringOptions;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The flags that {@code run} and {@code scheduler} share. All their problems are reported at once.
 */
public final class ProcessFlags {
  private static final Pattern ENDING = Pattern.compile("(.)\\.(json|ya?ml)\\z");

  @Option(
      names = "--data-dir",
      paramLabel = "DIR",
      description =
          "Where statuses, logs and working directories are kept"
              + " (default: .espalier/NAME of the configuration, with --shard NAME-I-of-N).")
  private @Nullable String dataDir;

  @Option(
      names = "--runner",
      paramLabel = "KIND",
      description =
          "local, remote, dry-run, simulated, or that of a plug-in. Default: local for run and with"
              + " --worker-command, otherwise remote.")
  private @Nullable String runner;

  @Option(
      names = "--worker-command",
      paramLabel = "PATH",
      description = "Program for jobs that have no command of their own.")
  private @Nullable String workerCommand;

  @Mixin private StoreFlags statusStore = new StoreFlags();

  @Option(
      names = "--instance-node-name",
      paramLabel = "NAME",
      description = "Name of the root node (default: this host's name).")
  private @Nullable String instanceNodeName;

  @Mixin private ShardFlags shards = new ShardFlags();

  @Option(
      names = "--subtree-owners",
      paramLabel = "mysql://USER@HOST:PORT/SCHEMA",
      description =
          "With --shard: a schema that all schedulers of the configuration name, through which"
              + " subtrees move between them when their tags do (shard_tags).")
  private @Nullable String subtreeOwners;

  @Option(
      names = "--statuses-from",
      paramLabel = "STORES",
      split = ",",
      description =
          "With another number of schedulers: data directories or mysql://USER@HOST:PORT/SCHEMA,"
              + " separated by commas, of all those that ran before; what is done there is done"
              + " here, and nobody goes on there. After Bistro: bistro:FILE, its statuses.sql3. Of"
              + " a job that expired: archive:FILE.")
  private List<String> statusesFrom = List.of();

  @Mixin private HttpFlags http = new HttpFlags();
  @Mixin private TlsFlags tls = new TlsFlags();

  @Option(
      names = "--insecure",
      description = "Allow listening without authentication where others can reach it.")
  private boolean insecure;

  @Option(
      names = "--nodes-update-ms",
      paramLabel = "MS",
      converter = DurationConverter.IntMillis.class,
      defaultValue = "300000",
      description = "Period of node refreshes (default ${DEFAULT-VALUE}).")
  private int nodesUpdateMillis;

  @Option(
      names = "--nodes-retry-ms",
      paramLabel = "MS",
      converter = DurationConverter.IntMillis.class,
      defaultValue = "30000",
      description = "Pause after a failed node refresh (default ${DEFAULT-VALUE}).")
  private int nodesRetryMillis;

  @Option(
      names = "--test-task-duration",
      paramLabel = "MS",
      converter = DurationConverter.IntMillis.class,
      defaultValue = "5000",
      description = "Mean task duration of the simulated runner (default ${DEFAULT-VALUE}).")
  private int testTaskDuration;

  @Option(
      names = "--test-failure-rate",
      paramLabel = "SHARE",
      defaultValue = "0",
      description = "Share of failing tasks of the simulated runner, 0 to 1.")
  private double testFailureRate;

  @Mixin private LogFlags logs = new LogFlags();
  @Mixin private MeasuringFlags measuring = new MeasuringFlags();

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "Seed of every random choice, to repeat a run's decisions.")
  private @Nullable Long seed;

  @Option(
      names = "--record",
      paramLabel = "FILE",
      description =
          "Write every event and placement there, for espalier replay. To hunt defects; grows with"
              + " each task that starts or ends.")
  private @Nullable Path record;

  /**
   * @param oneRun for {@code run}: local by default, no listener by default
   * @throws CommandException naming every invalid flag
   */
  public ProcessOptions options(String config, boolean oneRun, boolean fresh, int maxAttempts) {
    return options(config, oneRun, fresh, false, maxAttempts, null);
  }

  /**
   * @param remoteFlags of commands that support the remote runner
   */
  public ProcessOptions options(
      String config,
      boolean oneRun,
      boolean fresh,
      boolean paused,
      int maxAttempts,
      @Nullable RemoteFlags remoteFlags) {
    List<String> problems = new ArrayList<>();
    RunnerOptions.Kind kind = runner(oneRun, problems);
    Optional<Remote> remote =
        kind == RunnerOptions.Kind.REMOTE && remoteFlags != null
            ? Optional.of(remoteFlags.remote(tls, insecure, problems))
            : Optional.empty();
    if (remote.isEmpty() && remoteFlags != null) {
      remoteFlags.check(problems);
    }
    StoreFlags.Choice store =
        statusStore.choice(
            subtreeOwners != null || statusesFrom.stream().anyMatch(StoreFlags::isMySql), problems);
    Optional<HostPort> listener =
        http.listener(oneRun ? null : "127.0.0.1:8080", insecure, problems);
    HttpSecurityOptions access =
        http.access(remote.isPresent() ? tls.forBoth() : tls.forHttp(problems), problems);
    if (nodesUpdateMillis < 1 || nodesRetryMillis < 1) {
      problems.add("--nodes-update-ms and --nodes-retry-ms must be 1 or more");
    }
    if (testTaskDuration < 0) {
      problems.add("--test-task-duration must be 0 or more");
    }
    if (!(testFailureRate >= 0 && testFailureRate <= 1)) {
      problems.add("--test-failure-rate must be between 0 and 1");
    }
    if (fresh && !statusesFrom.isEmpty()) {
      problems.add("--fresh forgets all statuses and --statuses-from takes some: give one of them");
    }
    TaskLogOptions keeping = logs.keeping(problems);
    StoreOptions.Owning owning = statusStore.owning(problems);
    EventRetentionOptions events = statusStore.events(problems);
    Duration kept = statusStore.keepFinished(problems);
    MeasuringOptions measured = measuring.measuring(problems);
    Partition shard = shards.shard(problems);
    Optional<MySqlAddress> owners = owners(shard, problems);
    Path directory = directory(config, shard, problems);
    List<ImportSource> others = earlierStores(problems);
    if (kind == RunnerOptions.Kind.REMOTE
        && store.kind() == StoreOptions.Kind.MEMORY
        && dataDir == null) {
      problems.add(
          "--runner remote with --status-store memory needs --data-dir: workers of an earlier start"
              + " are told apart by a number that is kept there");
    }
    if (!problems.isEmpty()) {
      throw new CommandException(ExitCode.USAGE, String.join("\nespalier: ", problems));
    }
    return new ProcessOptions(
        new SourceOptions(
            source(config),
            configDirectory(config),
            shard,
            instanceNodeName == null ? hostName() : instanceNodeName,
            hostName(),
            Duration.ofMillis(nodesUpdateMillis),
            Duration.ofMillis(nodesRetryMillis)),
        new StoreOptions(
            directory, store.kind(), store.mysql(), owners, owning, fresh, others, events, kept),
        new RunnerOptions(
            kind,
            kind == RunnerOptions.Kind.PLUG_IN && runner != null ? runner : kind.label(),
            workerCommand == null ? List.of() : List.of(workerCommand),
            maxAttempts,
            measured,
            new Simulation(testTaskDuration, testFailureRate),
            remote),
        new ListenerOptions(listener, access),
        keeping,
        false,
        oneRun,
        paused,
        seed == null ? System.nanoTime() : seed,
        Optional.ofNullable(record));
  }

  private RunnerOptions.Kind runner(boolean oneRun, List<String> problems) {
    if (runner == null) {
      return oneRun || workerCommand != null ? RunnerOptions.Kind.LOCAL : RunnerOptions.Kind.REMOTE;
    }
    if (oneRun && runner.equals("remote")) {
      problems.add("--runner remote is for the daemon: espalier scheduler");
      return RunnerOptions.Kind.LOCAL;
    }
    RunnerOptions.Kind kind = RunnerOptions.Kind.of(runner);
    String complaint =
        kind == RunnerOptions.Kind.PLUG_IN ? Plugins.load().complaintAboutRunner(runner) : null;
    if (complaint != null) {
      problems.add(complaint);
    }
    return kind;
  }

  private List<ImportSource> earlierStores(List<String> problems) {
    List<ImportSource> others = new ArrayList<>();
    for (String other : statusesFrom) {
      try {
        if (StoreFlags.isMySql(other)) {
          statusStore
              .mysql("--statuses-from", other, problems)
              .map(ImportSource::of)
              .ifPresent(others::add);
        } else if (other.startsWith(ImportSource.BISTRO)) {
          others.add(ImportSource.ofBistro(Path.of(other.substring(ImportSource.BISTRO.length()))));
        } else if (other.startsWith(ImportSource.ARCHIVE)) {
          others.add(
              ImportSource.ofArchive(Path.of(other.substring(ImportSource.ARCHIVE.length()))));
        } else {
          others.add(ImportSource.of(Path.of(other)));
        }
      } catch (InvalidPathException e) {
        problems.add("--statuses-from " + other + ": " + e.getReason());
      }
    }
    return others;
  }

  private Optional<MySqlAddress> owners(Partition shard, List<String> problems) {
    if (subtreeOwners == null) {
      return Optional.empty();
    }
    if (shard.isWhole()) {
      problems.add("--subtree-owners is for several schedulers: give --shard I/N, too");
    }
    return statusStore.mysql("--subtree-owners", subtreeOwners, problems);
  }

  private Path directory(String config, Partition shard, List<String> problems) {
    String own = shard.isWhole() ? "" : "-" + shard.index() + "-of-" + shard.count();
    try {
      return dataDir == null ? Path.of(".espalier", name(config) + own) : Path.of(dataDir);
    } catch (InvalidPathException e) {
      problems.add("--data-dir " + dataDir + ": " + e.getReason());
      return Path.of("");
    }
  }

  /**
   * Returns the file's base name without .json or .yaml, or a hash of the URI
   * (docs/design/design.md#data-directories).
   */
  static String name(String config) {
    if (config.contains("://")) {
      return HexFormat.of().formatHex(sha256(config), 0, 8);
    }
    Path file = Path.of(config).toAbsolutePath().normalize().getFileName();
    String name = file == null ? "root" : file.toString();
    return ENDING.matcher(name).replaceFirst("$1");
  }

  /**
   * Returns the same text from every working directory: files and directories by their absolute
   * path.
   */
  static String source(String config) {
    return config.contains("://") || config.isBlank()
        ? config
        : Path.of(config).toAbsolutePath().normalize().toString();
  }

  /** Returns the directory of a file, or the directory itself. */
  public static String configDirectory(String config) {
    // A source outside the file system has no directory of its own.
    Path path = Path.of(config.contains("://") ? "" : config).toAbsolutePath();
    Path parent = path.getParent();
    return (Files.isDirectory(path) || parent == null ? path : parent).toString();
  }

  private static byte[] sha256(String text) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  public static String hostName() {
    try {
      return InetAddress.getLocalHost().getCanonicalHostName();
    } catch (UnknownHostException e) {
      return Arrays.stream(new String[] {System.getenv("HOSTNAME"), "localhost"})
          .filter(h -> h != null && !h.isEmpty())
          .findFirst()
          .orElse("localhost");
    }
  }
}
