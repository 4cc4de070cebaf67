package io.espalier.testkit.cluster;

import io.espalier.core.protocol.ClockReading;
import io.espalier.core.protocol.RunId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A worker's machine: its clocks, the task processes, and the lease guard, which is a process of
 * its own and continues while the worker's JVM is stopped. While the machine is suspended nothing
 * on it runs, and its monotonic clock stops.
 */
final class SimulatedHost {
  final int number;
  private final SimulatedCluster cluster;
  private final SimulatedClock clock;
  private long wallJump;
  private long asleepUntil;
  private long asleepSoFar;
  private final Map<RunId, SimulatedTask> tasks = new LinkedHashMap<>();

  /**
   * The instance file of the data directory: which instances used it, and on which host they ran.
   */
  private final List<Entry> journal = new ArrayList<>();

  private final boolean controlGroups;
  private int underWay;
  private long crashes;

  /** True when the worker of the tasks here is dead and no other has a lease yet. */
  private boolean leaderless;

  private boolean guardGone;

  private record Entry(long instance, int host) {}

  private @Nullable ClockReading guardedSince;
  private long killAfter;
  private long guardOrders;

  SimulatedHost(SimulatedCluster cluster, int number, SimulatedClock clock) {
    this.cluster = cluster;
    this.number = number;
    this.clock = clock;
    this.controlGroups = cluster.random.nextBoolean();
  }

  /** Returns whether tasks have control groups here. */
  boolean hasControlGroups() {
    return controlGroups;
  }

  ClockReading now() {
    return at(cluster.now());
  }

  private ClockReading at(long trueTime) {
    long local = clock.local(trueTime);
    return new ClockReading(
        clock.local(trueTime - asleepSoFar), local + 77, local + 1_000_000_000_000L + wallJump);
  }

  SimulatedClock clock() {
    return clock;
  }

  /** Sets the wall clock forward or back. */
  void jump(long millis) {
    wallJump += millis;
    look();
  }

  boolean isAsleep() {
    return cluster.now() < asleepUntil;
  }

  /**
   * Suspends the host, for no longer than the protocol assumes.
   *
   * @param jvm the worker on it
   * @return duration of the suspension
   */
  long suspend(SimulatedProcess jvm, long longest) {
    long millis = longest;
    if (isAsleep()) {
      return 0;
    }
    if (!tasks.isEmpty() || guardedSince != null) {
      ClockReading since = guardedSince;
      if (since == null) {
        return 0;
      }
      millis =
          Math.min(longest, killAfter - now().millisSince(since) + cluster.plan.guardLatency());
    }
    if (millis <= 0) {
      return 0;
    }
    jvm.stop(millis);
    asleepUntil = cluster.now() + millis;
    asleepSoFar += millis;
    return millis;
  }

  /** Runs an action after a delay, or as soon as the host is awake again. */
  void later(long delay, Runnable what) {
    cluster.timeline.after(delay, () -> awake(what));
  }

  private void awake(Runnable what) {
    if (isAsleep()) {
      cluster.timeline.at(asleepUntil, () -> awake(what));
    } else {
      what.run();
    }
  }

  /** A worker process starts using the data directory. */
  void entered(long instance) {
    journal.add(new Entry(instance, number));
    guardGone = false;
  }

  /** Returns the earlier instances whose survivors a search on this host would find. */
  List<Long> vouchedFor() {
    return journal.stream()
        .filter(
            entry -> entry.host() == number || cluster.has(ProtocolBug.COPIED_DIRECTORY_VOUCHES))
        .map(Entry::instance)
        .toList();
  }

  /** An operator copies the data directory of another host to this one. */
  void copyDirectory(SimulatedHost from) {
    journal.addAll(from.journal);
  }

  /**
   * The gate let a start pass: it becomes a process after a while, whatever happens to the worker.
   */
  void startUnderWay(Supplier<SimulatedTask> start) {
    underWay++;
    long before = crashes;
    later(
        1
            + cluster.random.nextInt(
                cluster.random.nextInt(4) == 0 ? Math.min(400, cluster.plan.guardLatency()) : 4),
        () -> {
          if (crashes != before) {
            return;
          }
          underWay--;
          SimulatedTask task = start.get();
          if (!lets() || leaderless) {
            if (leaderless) {
              cluster.coverage.happened(SimulationEvent.STARTED_AFTER_ITS_WORKER_DIED);
            }
            if (!(leaderless && cluster.has(ProtocolBug.GUARD_LEAVES_EARLY)) && !guardGone) {
              task.killByGuard();
            }
          }
        });
  }

  boolean startsAreUnderWay() {
    return underWay > 0;
  }

  /** Kills the guard; the worker replaces it at once. */
  void killGuard() {
    cluster.coverage.happened(SimulationEvent.GUARD_REPLACED);
    guardGone = cluster.has(ProtocolBug.GUARD_NOT_REPLACED);
  }

  Map<RunId, SimulatedTask> tasks() {
    return tasks;
  }

  // ---- the guard

  void guard(ClockReading since, long killAfterMillis) {
    guardedSince = since;
    leaderless = false;
    killAfter = killAfterMillis;
    long order = ++guardOrders;
    wakeGuard(order);
  }

  private void wakeGuard(long order) {
    ClockReading since = guardedSince;
    if (order != guardOrders || since == null) {
      return;
    }
    long left = killAfter - age(since);
    if (left <= 0) {
      look();
      return;
    }
    long at = clock.trueTime(clock.local(cluster.now()) + left);
    later(at - cluster.now(), () -> wakeGuard(order));
  }

  private long age(ClockReading since) {
    ClockReading now = now();
    return cluster.has(ProtocolBug.GUARD_IGNORES_SUSPENSION)
        ? now.monotonicMillis() - since.monotonicMillis()
        : now.millisSince(since);
  }

  private void look() {
    if (!tasks.isEmpty() && !lets()) {
      guardKills();
    }
  }

  /** Returns whether a process may start, as the guard sees it. */
  boolean lets() {
    return guardedSince != null && age(guardedSince) < killAfter;
  }

  /** The pipe to the worker has closed. */
  void workerDied() {
    guardedSince = null;
    leaderless = true;
    guardOrders++;
    if (!tasks.isEmpty()) {
      guardKills();
    }
  }

  private void guardKills() {
    if (guardGone) {
      return;
    }
    cluster.trace(() -> "guard of host " + number + " kills " + tasks.keySet());
    cluster.coverage.happened(SimulationEvent.GUARD_KILLED);
    for (SimulatedTask task : List.copyOf(tasks.values())) {
      later(1 + cluster.random.nextInt(cluster.plan.guardLatency()), task::killByGuard);
    }
  }

  /** The host loses power. */
  void crash() {
    guardedSince = null;
    guardOrders++;
    guardGone = false;
    crashes++;
    underWay = 0;
    asleepUntil = 0;
    List.copyOf(tasks.values()).forEach(SimulatedTask::vanish);
  }
}
