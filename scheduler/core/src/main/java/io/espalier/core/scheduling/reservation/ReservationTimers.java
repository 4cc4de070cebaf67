package io.espalier.core.scheduling.reservation;

import io.espalier.core.scheduling.task.TaskTable;
import io.espalier.core.scheduling.util.LongMap;
import io.espalier.core.scheduling.util.LongQueue;
import io.espalier.core.scheduling.util.Ticks;
import io.espalier.core.scheduling.util.TimerHeap;

/**
 * The timers of jobs that wait at nodes. Each job has at most one timer per node, at a tick or at
 * the end of the round. A request later than the current timer is ignored; when the timer fires,
 * the remaining wait is computed again.
 */
final class ReservationTimers {
  /**
   * Replaces a tick: the end of the round. Between the end of a task and the following round, slots
   * are free that other jobs will take before the heavy job can use them.
   */
  private static final long AFTER_ROUND = -1;

  private final LongMap<NodeWaiters> nodes;
  private final TimerHeap timers = new TimerHeap(this::isArmed);

  /** Waits whose beginning is unknown until the clock is set again. */
  private final LongQueue fresh = new LongQueue();

  /** Timers to handle at the end of the round. */
  private final LongQueue ripe = new LongQueue();

  private int armedCount;
  private long now;

  /** Whether the time may be outdated. */
  private boolean stale = true;

  /** Handles the timer of the i-th job that waits at a node. */
  interface Look {
    void at(NodeWaiters at, int i);
  }

  /**
   * @param nodes all nodes with waiting jobs
   */
  ReservationTimers(LongMap<NodeWaiters> nodes) {
    this.nodes = nodes;
  }

  // ---- the clock

  long now() {
    return now;
  }

  /**
   * Returns the beginning of a wait that begins now; {@link NodeWaiters#UNKNOWN} while the time is
   * outdated.
   */
  long beginning() {
    return stale ? NodeWaiters.UNKNOWN : now;
  }

  void clockIs(long nowMillis) {
    now = nowMillis;
    stale = false;
  }

  /** Marks the time as outdated until the clock is set again. */
  void clockRuns() {
    stale = true;
  }

  /** Takes over the time of the previous state. */
  void goOnAfter(ReservationTimers before) {
    now = before.now;
  }

  // ---- setting

  /** Adds a wait whose beginning will be known when the clock is set again. */
  void addFresh(NodeWaiters at, int i) {
    disarm(at, i);
    fresh.add(TaskTable.key(at.jobs[i], at.node));
  }

  void arm(NodeWaiters at, int i, long millis) {
    long tick = Math.max(soon(), Ticks.ceil(millis));
    if (at.armed[i] != 0 && at.armed[i] <= tick) {
      // The current timer fires earlier and then computes the remaining wait.
      return;
    }
    disarm(at, i);
    armedCount++;
    at.armed[i] = tick;
    timers.add(TaskTable.key(at.jobs[i], at.node), tick);
  }

  /** Sets a timer for the end of the round. */
  void armForRound(NodeWaiters at, int i) {
    armedCount++;
    at.armed[i] = AFTER_ROUND;
    ripe.add(TaskTable.key(at.jobs[i], at.node));
  }

  void disarm(NodeWaiters at, int i) {
    armedCount -= at.armed[i] != 0 ? 1 : 0;
    at.armed[i] = 0;
  }

  private long soon() {
    return Ticks.floor(now) + 1;
  }

  private boolean isArmed(long key, long tick) {
    NodeWaiters at = nodes.get(TaskTable.node(key));
    int i = at == null ? -1 : at.find(TaskTable.job(key));
    return at != null && i >= 0 && at.armed[i] == tick;
  }

  // ---- firing

  /** Handles all waits whose beginning is known now. */
  void takeFresh(Look look) {
    while (!fresh.isEmpty()) {
      long key = fresh.poll();
      NodeWaiters at = nodes.get(TaskTable.node(key));
      int i = at == null ? -1 : at.find(TaskTable.job(key));
      if (at != null && i >= 0 && at.since[i] == NodeWaiters.UNKNOWN) {
        look.at(at, i);
      }
    }
  }

  /** Handles the timers for the end of the round. */
  void takeRipe(Look look) {
    while (!ripe.isEmpty()) {
      long key = ripe.poll();
      NodeWaiters at = nodes.get(TaskTable.node(key));
      int i = at == null ? -1 : at.find(TaskTable.job(key));
      if (at != null && i >= 0 && at.armed[i] == AFTER_ROUND) {
        disarm(at, i);
        look.at(at, i);
      }
    }
  }

  /**
   * Moves the timers that are due to the end of the round.
   *
   * @param limit the maximum number of timers to handle
   * @return true when no timer that is due is left
   */
  boolean ripen(int limit) {
    long tick = Ticks.floor(now);
    for (int n = 0; n < limit; n++) {
      long key = timers.pollDue(tick);
      if (key < 0) {
        return true;
      }
      NodeWaiters at = nodes.get(TaskTable.node(key));
      int i = at == null ? -1 : at.find(TaskTable.job(key));
      if (at != null && i >= 0 && at.armed[i] > 0 && at.armed[i] <= tick) {
        at.armed[i] = AFTER_ROUND;
        ripe.add(key);
      }
    }
    return timers.nextTick() > tick;
  }

  /**
   * Returns the tick of the next timer; {@link Long#MAX_VALUE}: never.
   *
   * @param hurry whether other work is pending
   */
  long nextTick(boolean hurry) {
    if (hurry || !fresh.isEmpty() || !ripe.isEmpty()) {
      return soon();
    }
    return armedCount == 0 ? Long.MAX_VALUE : timers.nextTick();
  }

  /** Returns the number of timers that are set. */
  int armedCount() {
    return armedCount;
  }
}
