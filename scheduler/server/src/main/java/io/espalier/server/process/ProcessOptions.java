package io.espalier.server.process;

import io.espalier.core.config.Partition;
import io.espalier.core.protocol.ProtocolTimers;
import io.espalier.server.config.ConfigSources;
import io.espalier.server.store.mysql.MySqlAddress;
import io.espalier.thrift.rpc.PeerOptions;
import io.espalier.worker.resources.MeasuringOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * What one scheduler process is started with, checked and complete; printed at start.
 *
 * @param configUri file, directory or URI of the configuration
 * @param shard the part of the nodes that it works on
 * @param statusesFrom stores of schedulers that had divided the nodes in another way
 * @param configDirectory what relative paths in it are relative to
 * @param dataDir everything the process keeps
 * @param store where statuses live
 * @param fresh forget all statuses first
 * @param frozen start nothing: only answer questions about what is stored
 * @param oneRun until nothing is left to do: a command that cannot be started is refused at once
 * @param workerCommand argv prefix of jobs that have no command; empty: none
 * @param http listener; empty: none
 * @param maxAttempts a task fails for good after so many; 0: no bound
 * @param nodesUpdate period of node refreshes
 * @param nodesRetry pause after a failed refresh
 * @param logs what is kept of the output of tasks
 * @param measuring how live tasks are measured, and the host
 * @param seed of every random choice
 * @param remote of the remote runner; empty with any other
 * @param mysql of the status store in MySQL; empty with any other
 * @param events how long they are kept
 * @param access who may call over HTTP
 * @param owning how a status store in MySQL is taken
 * @param record where everything that is done to the scheduling core is written; empty: nowhere
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

  /** All of them, as one line of flags; without passwords. */
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
   * How long its tasks may live once it has no right to them any more, margin included. Local ones
   * end with it; only a store that is elsewhere can be another's while they do.
   */
  public long leaseMillis() {
    return remote
        .map(with -> with.timers().lostMillis())
        .orElse(runner == Runner.LOCAL && store == Store.MYSQL ? LOCAL_END_MILLIS : 0L);
  }

  /** What its data belong to. */
  public String source() {
    return new DataDirectoryOwner(configUri, shard).toString();
  }

  /** For questions about a data directory whose scheduler has ended. */
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
   * How a status store in MySQL is taken.
   *
   * @param takeOver also from another owner that has not ended in order
   * @param chosenProof for how long each proof that the store is this scheduler's counts; empty: as
   *     long as is good for how it is elected
   */
  public record Owning(boolean takeOver, Optional<Duration> chosenProof) {
    /** From nobody else. */
    public static final Owning DEFAULT = new Owning(false, Optional.empty());

    /** For how long a proof counts unless the store itself elects. */
    public Duration proof() {
      return chosenProof.orElse(StoreOwnership.DEFAULT_PROOF);
    }
  }

  /** A scheduler without proof stops its local tasks: TERM, KILL, and a slow machine. */
  private static final long LOCAL_END_MILLIS = 60_000;

  /** {@code --runner}. */
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

  /** {@code --status-store}. */
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
   * For the simulated runner (docs/design/bistro.md#ways-to-run-tasks).
   *
   * @param meanMillis tasks take up to twice as long
   * @param failureRate share of tasks that end with error_backoff
   */
  public record Simulation(int meanMillis, double failureRate) {}

  /**
   * For the remote runner.
   *
   * @param thrift where workers find it
   * @param peer how both ends know each other, and how long calls take
   * @param timers of the protocol, checked
   * @param safeWait start nothing until no task of an earlier scheduler can be alive, whatever the
   *     store says
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

  /** Where a listener binds. */
  public record HostPort(String host, int port) {
    /**
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
        // Said below, together with the other ways to get it wrong.
      }
      throw new IllegalArgumentException("expected HOST:PORT, such as 127.0.0.1:8080");
    }

    @Override
    public String toString() {
      return host.contains(":") ? "[" + host + "]:" + port : host + ":" + port;
    }
  }
}
