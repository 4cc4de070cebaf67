package io.espalier.worker.agent;

import io.espalier.core.protocol.ClockReading;
import io.espalier.core.running.LaunchSpec;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds back what is to be done to tasks until the guard knows the lease that they live by. Of the
 * agent's thread.
 */
final class LeaseBarrier {
  private static final Logger log = LoggerFactory.getLogger(LeaseBarrier.class);
  private static final long NEARLY_OUT_MILLIS = 1_000;

  private final Deque<Waiting> waiting = new ArrayDeque<>();
  private boolean inForce;
  private @Nullable ClockReading since;
  private long leaseMillis;

  /**
   * What is to be done to a task.
   *
   * @param start of the task; null: something else
   */
  private record Waiting(@Nullable LaunchSpec start, Runnable action) {}

  /** Starts a task once the lease is in force, at once if it is. */
  void start(LaunchSpec launch, Runnable action) {
    pass(new Waiting(launch, action));
  }

  /** Does something else to a task, after what was to be done before. */
  void then(Runnable action) {
    pass(new Waiting(null, action));
  }

  private void pass(Waiting next) {
    if (inForce && waiting.isEmpty()) {
      next.action().run();
    } else {
      waiting.add(next);
    }
  }

  /**
   * There is a new lease.
   *
   * @param begin from when it counts
   * @return whether the guard is to be asked for its word: it may have closed the gate already, or
   *     be about to. It is asked anew with each lease until it answers: what it was asked may be
   *     lost
   */
  boolean renewed(ClockReading begin, long millis, ClockReading now) {
    ClockReading before = since;
    boolean mayBeOut =
        !inForce || before == null || now.millisSince(before) > leaseMillis - NEARLY_OUT_MILLIS;
    since = begin;
    leaseMillis = millis;
    if (mayBeOut) {
      inForce = false;
    }
    return mayBeOut;
  }

  /** The guard knows the lease: all that waits is done. */
  void open() {
    inForce = true;
    for (Waiting next = waiting.poll(); next != null; next = waiting.poll()) {
      try {
        next.action().run();
      } catch (RuntimeException e) {
        // A mistake in one must not take those behind it with it.
        log.error("while doing what had waited for the lease", e);
      }
    }
  }

  /** The lease that they waited for is over: forgets all, and answers what was to be started. */
  List<LaunchSpec> giveUp() {
    List<LaunchSpec> starts = new ArrayList<>();
    for (Waiting next = waiting.poll(); next != null; next = waiting.poll()) {
      if (next.start() != null) {
        starts.add(next.start());
      }
    }
    return starts;
  }
}
