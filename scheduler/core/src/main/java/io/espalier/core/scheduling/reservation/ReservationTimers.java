package io.espalier.core.scheduling.reservation;

import io.espalier.core.scheduling.task.TaskTable;
import io.espalier.core.scheduling.util.LongMap;
import io.espalier.core.scheduling.util.LongQueue;
import io.espalier.core.scheduling.util.Ticks;
import io.espalier.core.scheduling.util.TimerHeap;

/**
 * When to look at those who wait at nodes. Everybody has one timer at most, at a tick or at the end
 * of the round; what is asked for later than the one that is set is left to that one, which looks
 * how long there still is to wait.
 */
final class ReservationTimers {
  /**
   * In the place of a tick: at the end of the round. Between an end and the round after it slots
   * are free that nobody leaves to the heavy job.
   */
  private static final long AFTER_ROUND = -1;

  private final LongMap<NodeWaiters> nodes;
  private final TimerHeap timers = new TimerHeap(this::isArmed);

  /** Waits that began at an instant which is known only at the next look at the clock. */
  private final LongQueue fresh = new LongQueue();

  /** What is to be looked at when the round is over. */
  private final LongQueue ripe = new LongQueue();

  private int armedCount;
  private long now;

  /** Time has gone on since it was told. */
  private boolean stale = true;

  /** Looks at the i-th who waits at a node. */
  interface Look {
    void at(NodeWaiters at, int i);
  }

  /**
   * @param nodes all that anybody waits at
   */
  ReservationTimers(LongMap<NodeWaiters> nodes) {
    this.nodes = nodes;
  }

  // ---- the clock

  long now() {
    return now;
  }

  /** When something begins that begins now: {@link NodeWaiters#UNKNOWN} before the next look. */
  long beginning() {
    return stale ? NodeWaiters.UNKNOWN : now;
  }

  void clockIs(long nowMillis) {
    now = nowMillis;
    stale = false;
  }

  /** From now on it may be later than was told. */
  void clockRuns() {
    stale = true;
  }

  /** As of another world. */
  void goOnAfter(ReservationTimers before) {
    now = before.now;
  }

  // ---- setting

  /** The beginning of a wait is told with the next look at the clock. */
  void addFresh(NodeWaiters at, int i) {
    disarm(at, i);
    fresh.add(TaskTable.key(at.jobs[i], at.node));
  }

  void arm(NodeWaiters at, int i, long millis) {
    long tick = Math.max(soon(), Ticks.ceil(millis));
    if (at.armed[i] != 0 && at.armed[i] <= tick) {
      // It comes up earlier, and looks then how long it still has to wait.
      return;
    }
    disarm(at, i);
    armedCount++;
    at.armed[i] = tick;
    timers.add(TaskTable.key(at.jobs[i], at.node), tick);
  }

  /** At the end of the round. */
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

  // ---- looking

  /** Shows all waits of which the beginning is known now. */
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

  /** Shows what was to be looked at when the round is over. */
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
   * Leaves what is due to the end of the round.
   *
   * @param limit how many timers to look at
   * @return whether that was all
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
   * {@link Long#MAX_VALUE}: never.
   *
   * @param hurry whether there is something else to look at
   */
  long nextTick(boolean hurry) {
    if (hurry || !fresh.isEmpty() || !ripe.isEmpty()) {
      return soon();
    }
    return armedCount == 0 ? Long.MAX_VALUE : timers.nextTick();
  }

  /** How many timers are set. */
  int armedCount() {
    return armedCount;
  }
}
