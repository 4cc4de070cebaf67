package io.espalier.testkit.cluster;

import io.espalier.core.protocol.Instants;
import io.espalier.core.protocol.RunId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A machine of a worker: its clocks, the processes of tasks, and the lease guard, which is a
 * process of its own and goes on when the worker's JVM is stopped.
 */
final class SimulatedHost {
  private static final int GUARD_LATENCY = 1_500;

  final int number;
  private final SimulatedCluster cluster;
  private final SimulatedClock clock;
  private long wallJump;
  private final Map<RunId, SimulatedTask> tasks = new LinkedHashMap<>();

  /** Instances whose tasks may have been left here. */
  private final List<Long> journal = new ArrayList<>();

  private @Nullable Instants guardedSince;
  private long killAfter;
  private long guardOrders;

  SimulatedHost(SimulatedCluster cluster, int number, SimulatedClock clock) {
    this.cluster = cluster;
    this.number = number;
    this.clock = clock;
  }

  Instants now() {
    return at(cluster.now());
  }

  private Instants at(long trueTime) {
    long local = clock.local(trueTime);
    return new Instants(local, local + 77, local + 1_000_000_000_000L + wallJump);
  }

  SimulatedClock clock() {
    return clock;
  }

  /** Somebody sets the wall clock. */
  void jump(long millis) {
    wallJump += millis;
    look();
  }

  List<Long> journal() {
    return journal;
  }

  Map<RunId, SimulatedTask> tasks() {
    return tasks;
  }

  // ---- the guard

  void guard(Instants since, long killAfterMillis) {
    guardedSince = since;
    killAfter = killAfterMillis;
    long order = ++guardOrders;
    long left = killAfterMillis - now().millisSince(since);
    cluster.timeline.at(
        clock.trueTime(clock.local(cluster.now()) + Math.max(0, left)),
        () -> {
          if (order == guardOrders) {
            look();
          }
        });
  }

  private void look() {
    if (!tasks.isEmpty() && !lets()) {
      guardKills();
    }
  }

  /** Whether a process may start, as the guard sees it. */
  boolean lets() {
    return guardedSince != null && now().millisSince(guardedSince) < killAfter;
  }

  /** The pipe to the worker has closed. */
  void workerDied() {
    guardedSince = null;
    guardOrders++;
    if (!tasks.isEmpty()) {
      guardKills();
    }
  }

  private void guardKills() {
    cluster.trace(() -> "guard of host " + number + " kills " + tasks.keySet());
    for (SimulatedTask task : List.copyOf(tasks.values())) {
      cluster.timeline.after(1 + cluster.random.nextInt(GUARD_LATENCY), task::kill);
    }
  }

  /** The power goes off. */
  void crash() {
    guardedSince = null;
    guardOrders++;
    List.copyOf(tasks.values()).forEach(SimulatedTask::vanish);
  }
}
