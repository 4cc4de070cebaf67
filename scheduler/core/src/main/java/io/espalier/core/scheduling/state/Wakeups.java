package io.espalier.core.scheduling.state;

import io.espalier.core.scheduling.index.NodeRateLimiter;
import io.espalier.core.scheduling.index.StartableIndex;
import io.espalier.core.scheduling.reservation.NodeReservations;
import io.espalier.core.scheduling.reservation.ReservationStages;
import io.espalier.core.scheduling.task.JobThrottle;
import io.espalier.core.scheduling.task.TaskStatuses;
import io.espalier.core.scheduling.util.Ticks;
import org.jspecify.annotations.Nullable;

/**
 * Handles everything in one state that waits for time: tasks for the end of a back-off, jobs and
 * nodes for a token, heavy jobs for a reservation.
 */
public final class Wakeups {
  private final JobThrottle caps;
  private final NodeRateLimiter rates;
  private final StartableIndex index;
  private final TaskStatuses statuses;

  /** Null: no job can be starved by lighter ones. */
  private final @Nullable NodeReservations reservations;

  private final ReservationStages rooms;

  Wakeups(
      JobThrottle caps,
      NodeRateLimiter rates,
      StartableIndex index,
      TaskStatuses statuses,
      @Nullable NodeReservations reservations,
      ReservationStages rooms) {
    this.caps = caps;
    this.rates = rates;
    this.index = index;
    this.statuses = statuses;
    this.reservations = reservations;
    this.rooms = rooms;
  }

  /**
   * Ends the waits that are over.
   *
   * @param limit about how many timers to handle
   * @return true when all waits that are over have been ended
   */
  public boolean advance(long nowMillis, int limit) {
    int left = limit - caps.advance(limit);
    left -= rates.advance(left, index);
    if (reservations != null) {
      reservations.clockIs(nowMillis);
    }
    rooms.clockIs(nowMillis);
    long tick = Ticks.floor(nowMillis);
    boolean isDone = statuses.endBackoffs(tick, left);
    if (isDone && reservations != null) {
      isDone = reservations.advance(left);
    }
    isDone &= rooms.advance(left);
    return isDone && !caps.isDue() && !rates.isDue();
  }

  /** Returns the next instant at which {@link #advance} has work to do. */
  public long nextMillis() {
    long tick = Math.min(statuses.nextTick(), rooms.nextTick());
    if (reservations != null) {
      tick = Math.min(tick, reservations.nextTick());
    }
    long millis = tick == Long.MAX_VALUE ? tick : tick * Ticks.MILLIS;
    return Math.min(millis, Math.min(caps.nextMillis(), rates.nextMillis()));
  }
}
