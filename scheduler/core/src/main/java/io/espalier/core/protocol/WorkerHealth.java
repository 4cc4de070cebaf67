package io.espalier.core.protocol;

import io.espalier.core.config.task.SubprocessOptions;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Set;

/** Determines the state of each worker from its heartbeats, calls, health checks and the time. */
final class WorkerHealth {
  /** How long a lost worker is still listed. */
  private static final long SHOW_LOST_MILLIS = 15 * 60_000;

  /** The number of failed calls after which a worker gets no more tasks. */
  private static final int FAILED_CALLS = 2;

  private final long epoch;
  private final ProtocolTimers timers;
  private final WorkerRegistry pool;
  private final TrackedRuns runs;
  private SubprocessOptions checkOptions = SubprocessOptions.DEFAULT;
  private Set<String> drained = Set.of();
  private boolean safe;
  private long safeAtMillis;
  private long checks;

  /**
   * @param safe whether workers may get tasks before {@link #safe()} is called
   */
  WorkerHealth(
      long epoch, ProtocolTimers timers, boolean safe, WorkerRegistry pool, TrackedRuns runs) {
    this.epoch = epoch;
    this.timers = timers;
    this.safe = safe;
    this.pool = pool;
    this.runs = runs;
  }

  void checkOptions(SubprocessOptions options) {
    checkOptions = options;
  }

  /** Sets the shards that are draining. */
  void drained(Set<String> shards) {
    drained = shards;
  }

  boolean drains(RemoteWorker worker) {
    return drained.contains(worker.ref.shard());
  }

  /**
   * Begins the safe wait: no worker gets tasks until {@link #safe} is called.
   *
   * @param millis expected end of the wait, for messages
   */
  void unsafeUntil(long millis) {
    safe = false;
    safeAtMillis = millis;
  }

  /** Ends the safe wait. */
  void safe() {
    safe = true;
  }

  /** The next time at which the worker's state may change without an input. */
  long nextFor(RemoteWorker worker, long nowMillis) {
    if (worker.isLost()) {
      return worker.since + SHOW_LOST_MILLIS;
    }
    long next = worker.lostAt;
    if (worker.retired) {
      return next;
    }
    if (nowMillis < worker.lastSeen + timers.unhealthyMillis()) {
      next = Math.min(next, worker.lastSeen + timers.unhealthyMillis());
    }
    if (worker.lastGood != Long.MIN_VALUE
        && nowMillis < worker.lastGood + timers.healthGapMillis()) {
      next = Math.min(next, worker.lastGood + timers.healthGapMillis());
    }
    if (worker.check != null) {
      next = Math.min(next, worker.checkedAt + timers.healthCheckTimeoutMillis());
    }
    if (worker.underWay == null) {
      if (worker.check == null) {
        next = Math.min(next, Math.max(worker.retryAt, worker.nextCheck));
      }
      if (worker.hasWork(nowMillis)) {
        next = Math.min(next, worker.retryAt);
      } else if (!worker.unsure.isEmpty()) {
        next = Math.min(next, Math.max(worker.retryAt, worker.unsure.first().askAt));
      }
    }
    return next;
  }

  /** Updates a worker's state, and has this step attend to it. */
  void review(RemoteWorker worker, long nowMillis) {
    pool.dirty(worker);
    if (worker.isLost()) {
      if (nowMillis >= worker.since + SHOW_LOST_MILLIS) {
        pool.remove(worker);
      }
      return;
    }
    if (nowMillis >= worker.lostAt) {
      long silent = worker.lostAt - worker.lastSeen;
      lose(worker, "nothing was heard of it for " + seconds(silent), nowMillis);
      return;
    }
    if (worker.hasSession()) {
      check(worker, nowMillis);
    }
    String wrong = wrongWith(worker, nowMillis);
    if (worker.draining || drains(worker)) {
      set(worker, WorkerInfo.State.DRAINING, wrong, nowMillis);
    } else if (worker.retired) {
      set(worker, WorkerInfo.State.UNHEALTHY, "replaced by another process", nowMillis);
    } else if (worker.lastGood == Long.MIN_VALUE || !safe) {
      String waits =
          safe
              ? "waits for its first health check"
              : "safe wait until "
                  + Instant.ofEpochMilli(safeAtMillis)
                  + ": tasks of an earlier scheduler may be alive";
      set(worker, WorkerInfo.State.NEW, wrong.isEmpty() ? waits : wrong, nowMillis);
    } else {
      set(
          worker,
          wrong.isEmpty() ? WorkerInfo.State.HEALTHY : WorkerInfo.State.UNHEALTHY,
          wrong,
          nowMillis);
    }
  }

  private String wrongWith(RemoteWorker worker, long nowMillis) {
    if (!worker.healthy) {
      return worker.ownNote.isEmpty() ? "says that it is not healthy" : worker.ownNote;
    }
    if (nowMillis >= worker.lastSeen + timers.unhealthyMillis()) {
      return "nothing was heard of it for " + seconds(timers.unhealthyMillis());
    }
    if (worker.failedCalls >= FAILED_CALLS) {
      return worker.callNote;
    }
    if (!worker.checkNote.isEmpty()) {
      return worker.checkNote;
    }
    if (worker.lastGood != Long.MIN_VALUE
        && nowMillis >= worker.lastGood + timers.healthGapMillis()) {
      return "no good health check for " + seconds(timers.healthGapMillis());
    }
    return "";
  }

  private void check(RemoteWorker worker, long nowMillis) {
    if (worker.check != null && nowMillis >= worker.checkedAt + timers.healthCheckTimeoutMillis()) {
      worker.unqueue(worker.check);
      worker.check = null;
      worker.checkNote =
          "health check did not end within " + seconds(timers.healthCheckTimeoutMillis());
      worker.nextCheck = nowMillis;
    }
    if (worker.check == null
        && worker.underWay == null
        && nowMillis >= worker.nextCheck
        && nowMillis >= worker.retryAt) {
      LaunchSpec launch =
          HealthCheck.launch(
              worker.ref,
              new Invocation(epoch, ++checks, nowMillis),
              checkOptions,
              timers.healthCheckTimeoutMillis());
      worker.check = runs.unfollowed(launch);
      worker.checkedAt = nowMillis;
      worker.queue(worker.check);
    }
  }

  /** Handles the end of a health check. */
  void checked(WorkerRef ref, TaskResult end, long nowMillis) {
    RemoteWorker worker = pool.get(ref);
    if (worker == null || worker.check == null || !worker.check.id.equals(RunId.of(end))) {
      return;
    }
    if (HealthCheck.isGood(end)) {
      worker.lastGood = nowMillis;
      worker.checkNote = "";
    } else {
      worker.checkNote = "health check failed: " + (end.message() == null ? end : end.message());
    }
    worker.check = null;
    worker.nextCheck = worker.checkedAt + timers.healthCheckMillis();
    review(worker, nowMillis);
  }

  /** Declares a worker lost and all its tasks dead. */
  void lose(RemoteWorker worker, String why, long nowMillis) {
    worker.endSession();
    set(worker, WorkerInfo.State.LOST, why, nowMillis);
    for (TrackedRun run : List.copyOf(worker.runs)) {
      worker.unqueue(run);
      worker.forget(run);
      if (run.state == TrackedRun.State.QUEUED) {
        runs.notStarted(run, "its worker was lost: " + why, 0);
      } else {
        runs.lost(run, why, nowMillis);
      }
    }
    if (worker.retired) {
      pool.remove(worker);
    }
  }

  void set(RemoteWorker worker, WorkerInfo.State state, String note, long nowMillis) {
    if (worker.state != state || worker.since == 0) {
      worker.state = state;
      worker.since = nowMillis;
      pool.changed();
    }
    if (!worker.note.equals(note)) {
      pool.changed();
    }
    worker.note = note;
  }

  private static String seconds(long millis) {
    return BigDecimal.valueOf(millis, 3).stripTrailingZeros().toPlainString() + " s";
  }
}
