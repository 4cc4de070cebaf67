package io.espalier.worker.agent;

import io.espalier.core.protocol.ClockReading;
import io.espalier.core.protocol.RunId;
import io.espalier.core.running.LaunchSpec;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delays actions on tasks until the guard has confirmed the lease under which they live. Confined
 * to the agent's thread.
 */
final class LeaseBarrier {
  private static final Logger log = LoggerFactory.getLogger(LeaseBarrier.class);
  private static final long NEARLY_OUT_MILLIS = 1_000;

  private final Deque<Waiting> waiting = new ArrayDeque<>();
  private boolean inForce;
  private @Nullable ClockReading since;
  private long leaseMillis;

  /**
   * An action that waits for the lease.
   *
   * @param starts the tasks that the action starts
   */
  private record Waiting(List<LaunchSpec> starts, Consumer<List<LaunchSpec>> action) {
    void run() {
      action.accept(starts);
    }
  }

  /** Starts tasks once the lease is in force, or at once if it already is. */
  void start(List<LaunchSpec> launches, Consumer<List<LaunchSpec>> action) {
    pass(new Waiting(launches, action));
  }

  /** Runs another action on a task, after all actions queued before it. */
  void then(Runnable action) {
    pass(new Waiting(List.of(), none -> action.run()));
  }

  /** Takes back the start of a task; returns false when it does not wait here. */
  boolean recall(RunId run) {
    boolean found = false;
    for (int i = waiting.size(); i > 0; i--) {
      Waiting next = waiting.remove();
      List<LaunchSpec> rest =
          next.starts().stream().filter(launch -> !RunId.of(launch).equals(run)).toList();
      boolean without = rest.size() < next.starts().size();
      found |= without;
      if (!without) {
        waiting.add(next);
      } else if (!rest.isEmpty()) {
        waiting.add(new Waiting(rest, next.action()));
      }
    }
    return found;
  }

  private void pass(Waiting next) {
    if (inForce && waiting.isEmpty()) {
      next.run();
    } else {
      waiting.add(next);
    }
  }

  /**
   * Notes a renewed lease.
   *
   * @param begin the instant from which it counts
   * @return true when the guard must be asked for a confirmation, because it may have closed the
   *     gate already or be about to. Each renewal asks again until the guard answers, since an
   *     earlier request may have been lost
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

  /** The guard has confirmed the lease: runs all waiting actions. */
  void open() {
    inForce = true;
    for (Waiting next = waiting.poll(); next != null; next = waiting.poll()) {
      try {
        next.run();
      } catch (RuntimeException e) {
        // A bug in one action must not prevent the actions behind it.
        log.error("while doing what had waited for the lease", e);
      }
    }
  }

  /** The lease has expired: drops all waiting actions and returns the starts among them. */
  List<LaunchSpec> giveUp() {
    List<LaunchSpec> starts = new ArrayList<>();
    for (Waiting next = waiting.poll(); next != null; next = waiting.poll()) {
      starts.addAll(next.starts());
    }
    return starts;
  }
}
