package io.espalier.server.app.options;

import io.espalier.server.config.ConfigSources;
import io.espalier.server.security.HttpSecurityOptions;
import io.espalier.server.store.jdbc.mysql.MySqlAddress;
import io.espalier.worker.resources.MeasuringOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The complete and checked options of one scheduler process; printed at start.
 *
 * @param logs how much task output is kept
 * @param frozen whether the process starts no task and only answers queries about stored data
 * @param oneRun whether the process ends when there is nothing left to do; it then refuses a
 *     command that cannot be started right away
 * @param paused whether it starts with a brake on everything, which a person has to release
 * @param seed of every random choice
 * @param record where all inputs of the scheduling core are recorded; empty: nowhere
 */
public record ProcessOptions(
    SourceOptions source,
    StoreOptions store,
    RunnerOptions runner,
    ListenerOptions http,
    TaskLogOptions logs,
    boolean frozen,
    boolean oneRun,
    boolean paused,
    long seed,
    Optional<Path> record) {
  /**
   * The time a scheduler without a proof needs to stop its local tasks: TERM, KILL, and a slow
   * machine.
   */
  private static final long LOCAL_END_MILLIS = 60_000;

  /**
   * How long after the last proof that the store is this scheduler's a guard ends its local tasks.
   * The rest of the time for which another scheduler waits is the guard's.
   */
  public static final long LOCAL_KILL_MILLIS = LOCAL_END_MILLIS - 15_000;

  /** Returns all options as one line of command-line flags, without passwords. */
  public String shown() {
    return String.join(
        " ",
        "--config=" + ConfigSources.shown(source.configUri()),
        "--shard=" + source.shard(),
        "--statuses-from="
            + String.join(",", store.statusesFrom().stream().map(ImportSource::toString).toList()),
        "--data-dir=" + store.dataDir(),
        "--runner=" + runner.kind().label(),
        "--status-store="
            + store
                .mysql()
                .map(at -> at + " (TLS " + at.tls().label() + ")")
                .orElse(store.kind().label()),
        "--subtree-owners=" + store.subtreeOwners().map(MySqlAddress::toString).orElse("none"),
        "--worker-command=" + String.join(" ", runner.workerCommand()),
        "--instance-node-name=" + source.instanceNodeName(),
        "--http=" + http.address().map(HostPort::toString).orElse("none"),
        http.access().shown(),
        "--max-attempts=" + runner.maxAttempts(),
        "--nodes-update-ms=" + source.nodesUpdate().toMillis(),
        "--nodes-retry-ms=" + source.nodesRetry().toMillis(),
        "--test-task-duration=" + runner.simulation().meanMillis(),
        "--test-failure-rate=" + runner.simulation().failureRate(),
        logs.shown(),
        store.events().shown(),
        "--keep-finished-days=" + store.keepFinished().toDays(),
        runner.measuring().shown(),
        "--seed=" + seed,
        "--fresh=" + store.fresh(),
        "--store-proof-ms=" + store.owning().proof().toMillis(),
        "--take-over=" + store.owning().takeOver(),
        "--paused=" + paused,
        record.map(file -> "--record=" + file + " ").orElse("")
            + runner.remote().map(RunnerOptions.Remote::shown).orElse(""));
  }

  /**
   * Returns how long tasks of this scheduler may live after it has lost its right to them, margin
   * included, in milliseconds. Local tasks end with the scheduler; they matter only when the store
   * is elsewhere, because another scheduler can own it meanwhile.
   */
  public long leaseMillis() {
    boolean local = runner.kind().endsWithScheduler() && store.kind() == StoreOptions.Kind.MYSQL;
    return runner
        .remote()
        .map(with -> with.timers().lostMillis())
        .orElse(local ? LOCAL_END_MILLIS : 0L);
  }

  /** Returns the configuration and partition to which the data belong. */
  public DataDirectoryOwner owner() {
    return new DataDirectoryOwner(source.configUri(), source.shard());
  }

  /** Creates the options for queries about a data directory whose scheduler has ended. */
  public static ProcessOptions frozen(
      DataDirectoryOwner owner, String configDirectory, Path dataDir, String instanceNodeName) {
    return new ProcessOptions(
        new SourceOptions(
            owner.configUri(),
            configDirectory,
            owner.shard(),
            instanceNodeName,
            instanceNodeName,
            Duration.ofDays(1),
            Duration.ofDays(1)),
        new StoreOptions(
            dataDir,
            StoreOptions.Kind.SQLITE,
            Optional.empty(),
            Optional.empty(),
            StoreOptions.Owning.DEFAULT,
            false,
            List.of(),
            EventRetentionOptions.DEFAULT,
            Duration.ZERO),
        new RunnerOptions(
            RunnerOptions.Kind.DRY_RUN,
            RunnerOptions.Kind.DRY_RUN.label(),
            List.of(),
            0,
            MeasuringOptions.OFF,
            new RunnerOptions.Simulation(0, 0),
            Optional.empty()),
        new ListenerOptions(Optional.empty(), HttpSecurityOptions.OPEN),
        new TaskLogOptions(0, 0, false, Optional.empty()),
        true,
        false,
        false,
        0,
        Optional.empty());
  }
}
