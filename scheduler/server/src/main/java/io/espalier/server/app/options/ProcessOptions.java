package io.espalier.server.app.options;

import io.espalier.core.config.Partition;
import io.espalier.core.protocol.ProtocolTimers;
import io.espalier.server.config.ConfigSources;
import io.espalier.server.security.HttpSecurityOptions;
import io.espalier.server.store.jdbc.mysql.MySqlAddress;
import io.espalier.thrift.rpc.PeerOptions;
import io.espalier.worker.resources.MeasuringOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The complete and checked options of one scheduler process; printed at start.
 *
 * @param configUri file, directory or URI of the configuration
 * @param shard the partition of the nodes that the process schedules
 * @param statusesFrom stores of schedulers that partitioned the nodes differently
 * @param configDirectory the directory against which relative paths in the configuration are
 *     resolved
 * @param dataDir the directory for everything the process keeps
 * @param store the kind of the status store
 * @param fresh whether all statuses are deleted first
 * @param frozen whether the process starts no task and only answers queries about stored data
 * @param oneRun whether the process ends when there is nothing left to do; it then refuses a
 *     command that cannot be started right away
 * @param workerCommand argv prefix of jobs without a command; empty: none
 * @param http listener; empty: none
 * @param maxAttempts the number of attempts after which a task fails for good; 0: no limit
 * @param nodesUpdate period of node refreshes
 * @param nodesRetry pause after a failed refresh
 * @param logs how much task output is kept
 * @param measuring how running tasks and the host are measured
 * @param seed of every random choice
 * @param remote options of the remote runner; empty with any other runner
 * @param mysql address of the status store in MySQL; empty with any other store
 * @param events how long events are kept
 * @param access who may call over HTTP
 * @param owning how the process acquires a status store in MySQL
 * @param record where all inputs of the scheduling core are recorded; empty: nowhere
 */
public record ProcessOptions(
    String configUri,
    Partition shard,
    List<ImportSource> statusesFrom,
    String configDirectory,
    Path dataDir,
    Runner runner,
    Store store,
    boolean fresh,
    boolean frozen,
    boolean oneRun,
    List<String> workerCommand,
    String instanceNodeName,
    Optional<HostPort> http,
    int maxAttempts,
    Duration nodesUpdate,
    Duration nodesRetry,
    Simulation simulation,
    LogRetentionOptions logs,
    MeasuringOptions measuring,
    long seed,
    Optional<Remote> remote,
    Optional<MySqlAddress> mysql,
    EventRetentionOptions events,
    HttpSecurityOptions access,
    Owning owning,
    Optional<Path> record) {

  /** Returns all options as one line of command-line flags, without passwords. */
  public String shown() {
    return String.join(
        " ",
        "--config=" + ConfigSources.shown(configUri),
        "--shard=" + shard,
        "--statuses-from="
            + String.join(",", statusesFrom.stream().map(ImportSource::toString).toList()),
        "--data-dir=" + dataDir,
        "--runner=" + runner.label(),
        "--status-store="
            + mysql.map(at -> at + " (TLS " + at.tls().label() + ")").orElse(store.label()),
        "--worker-command=" + String.join(" ", workerCommand),
        "--instance-node-name=" + instanceNodeName,
        "--http=" + http.map(HostPort::toString).orElse("none"),
        access.shown(),
        "--max-attempts=" + maxAttempts,
        "--nodes-update-ms=" + nodesUpdate.toMillis(),
        "--nodes-retry-ms=" + nodesRetry.toMillis(),
        "--test-task-duration=" + simulation.meanMillis(),
        "--test-failure-rate=" + simulation.failureRate(),
        logs.shown(),
        events.shown(),
        measuring.shown(),
        "--seed=" + seed,
        "--fresh=" + fresh,
        "--store-proof-ms=" + owning.proof().toMillis(),
        "--take-over=" + owning.takeOver(),
        record.map(file -> "--record=" + file + " ").orElse("")
            + remote.map(Remote::shown).orElse(""));
  }

  /**
   * Returns how long tasks of this scheduler may live after it has lost its right to them, margin
   * included, in milliseconds. Local tasks end with the scheduler; they matter only when the store
   * is elsewhere, because another scheduler can own it meanwhile.
   */
  public long leaseMillis() {
    return remote
        .map(with -> with.timers().lostMillis())
        .orElse(runner == Runner.LOCAL && store == Store.MYSQL ? LOCAL_END_MILLIS : 0L);
  }

  /** Returns the identity of the source to which the data belong. */
  public String source() {
    return new DataDirectoryOwner(configUri, shard).toString();
  }

  /** Creates the options for queries about a data directory whose scheduler has ended. */
  public static ProcessOptions frozen(
      DataDirectoryOwner owner, String configDirectory, Path dataDir, String instanceNodeName) {
    return new ProcessOptions(
        owner.configUri(),
        owner.shard(),
        List.of(),
        configDirectory,
        dataDir,
        Runner.DRY_RUN,
        Store.SQLITE,
        false,
        true,
        false,
        List.of(),
        instanceNodeName,
        Optional.empty(),
        0,
        Duration.ofDays(1),
        Duration.ofDays(1),
        new Simulation(0, 0),
        new LogRetentionOptions(0, 0, false),
        MeasuringOptions.OFF,
        0,
        Optional.empty(),
        Optional.empty(),
        EventRetentionOptions.DEFAULT,
        HttpSecurityOptions.OPEN,
        Owning.DEFAULT,
        Optional.empty());
  }

  /**
   * Configures how the process acquires a status store in MySQL.
   *
   * @param takeOver whether to take it also from another owner that did not end cleanly
   * @param chosenProof for how long each proof of ownership is valid; empty: the default for the
   *     kind of election
   */
  public record Owning(boolean takeOver, Optional<Duration> chosenProof) {
    /** The minimum validity of a proof. */
    public static final Duration LEAST_PROOF = Duration.ofSeconds(3);

    /** The default validity of a proof: short outages of the store end no task. */
    private static final Duration DEFAULT_PROOF = Duration.ofMinutes(10);

    /** Takes the store from no other owner. */
    public static final Owning DEFAULT = new Owning(false, Optional.empty());

    /** Returns for how long a proof is valid unless the store itself elects. */
    public Duration proof() {
      return chosenProof.orElse(DEFAULT_PROOF);
    }
  }

  /**
   * The time a scheduler without a proof needs to stop its local tasks: TERM, KILL, and a slow
   * machine.
   */
  private static final long LOCAL_END_MILLIS = 60_000;

  /** The values of {@code --runner}. */
  public enum Runner {
    LOCAL("local"),
    REMOTE("remote"),
    DRY_RUN("dry-run"),
    SIMULATED("simulated");

    private final String label;

    Runner(String label) {
      this.label = label;
    }

    public String label() {
      return label;
    }
  }

  /** The values of {@code --status-store}. */
  public enum Store {
    MEMORY("memory"),
    SQLITE("sqlite"),
    MYSQL("mysql");

    private final String label;

    Store(String label) {
      this.label = label;
    }

    public String label() {
      return label;
    }
  }

  /**
   * Configures the simulated runner (docs/design/bistro.md#ways-to-run-tasks).
   *
   * @param meanMillis mean duration; tasks take up to twice as long
   * @param failureRate share of tasks that end with error_backoff
   */
  public record Simulation(int meanMillis, double failureRate) {}

  /**
   * Configures the remote runner.
   *
   * @param thrift the address on which workers reach the scheduler
   * @param peer how both ends authenticate, and how long calls may take
   * @param timers of the protocol, checked
   * @param safeWait whether the scheduler starts nothing until no task of an earlier scheduler can
   *     be alive, whatever the store says
   */
  public record Remote(HostPort thrift, PeerOptions peer, ProtocolTimers timers, boolean safeWait) {
    String shown() {
      StringBuilder text =
          new StringBuilder("--thrift=" + thrift + " (" + peer.security() + ") timers in ms:");
      timers
          .values()
          .forEach((name, millis) -> text.append(' ').append(name).append('=').append(millis));
      return text.append(", a silent worker is lost after ").append(timers.lostMillis()).toString();
    }
  }

  /** The address to which a listener binds. */
  public record HostPort(String host, int port) {
    /**
     * Parses an address.
     *
     * @throws IllegalArgumentException for anything but {@code HOST:PORT} or {@code [IPv6]:PORT}
     */
    public static HostPort parse(String text) {
      int colon = text.lastIndexOf(':');
      try {
        int port = Integer.parseInt(text.substring(colon + 1));
        String host = colon < 0 ? "" : text.substring(0, colon);
        if (host.startsWith("[") && host.endsWith("]")) {
          host = host.substring(1, host.length() - 1);
        }
        if (!host.isEmpty() && port >= 0 && port <= 65535) {
          return new HostPort(host, port);
        }
      } catch (NumberFormatException e) {
        // Reported below, together with the other invalid forms.
      }
      throw new IllegalArgumentException("expected HOST:PORT, such as 127.0.0.1:8080");
    }

    @Override
    public String toString() {
      return host.contains(":") ? "[" + host + "]:" + port : host + ":" + port;
    }
  }
}
