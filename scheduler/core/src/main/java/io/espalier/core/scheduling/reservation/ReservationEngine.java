package io.espalier.core.scheduling.reservation;

import io.espalier.core.config.Job;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.scheduling.job.Renumbering;
import io.espalier.core.scheduling.util.LongQueue;
import io.espalier.core.scheduling.util.Ticks;
import io.espalier.core.scheduling.util.TimerHeap;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The states of waits and reservations (docs/adr/0035-reservations.md): a wait begins, is due after
 * the job's {@code reserve_after}, and gets a reservation, which is rechecked every second until
 * the job uses it, it can be of no more use, or the job has not used it for {@code reserve_after}.
 * The {@link Reservable} decides when a wait begins and ends and what is reserved.
 *
 * <p>A wait has at most one timer. A request later than the current timer is ignored; when the
 * timer fires, the remaining wait is computed again. Only the scheduler's thread uses an engine.
 */
final class ReservationEngine {
  /** The interval for rechecking reservations, and waits that are due but got none. */
  static final int RECHECK_MILLIS = 1_000;

  /** Replaces the tick of a timer: the end of the round. */
  private static final long AT_ROUND_END = -1;

  private final JobTable jobs;
  private final Reservable capacity;
  private final TimerHeap timers = new TimerHeap(this::isArmed);

  /** The waits whose beginning is unknown until the clock is set again; some may have ended. */
  private final LongQueue fresh = new LongQueue();

  private int freshCount;

  /** The timers to handle at the end of the round; some may have been disarmed. */
  private final LongQueue ripe = new LongQueue();

  private int armedCount;
  private final List<Wait> held = new ArrayList<>();
  private long now;

  /** Whether the time may be outdated. */
  private boolean stale = true;

  ReservationEngine(JobTable jobs, Reservable capacity) {
    this.jobs = jobs;
    this.capacity = capacity;
  }

  // ---- time

  long now() {
    return now;
  }

  /**
   * Returns the beginning of a wait that begins now; {@link Wait#UNKNOWN} while the time is
   * outdated.
   */
  long beginning() {
    return stale ? Wait.UNKNOWN : now;
  }

  void clockIs(long nowMillis) {
    now = nowMillis;
    stale = false;
  }

  /**
   * Ends a round: handles the timers that are due. Until the clock is set again, its time may be
   * outdated.
   */
  void roundOver() {
    fireRipe();
    stale = true;
  }

  /**
   * Handles the waits whose beginning is known now and the timers that are due; {@link #clockIs}
   * must come first.
   *
   * @param limit the maximum number of timers to handle
   * @return true when no timer that is due is left
   */
  boolean advance(int limit) {
    while (!fresh.isEmpty()) {
      Wait wait = capacity.find(fresh.poll());
      if (wait != null && wait.since == Wait.UNKNOWN) {
        restart(wait, now);
      }
    }
    // These timers remain when no round followed the last call.
    fireRipe();
    long tick = Ticks.floor(now);
    for (int n = 0; n < limit; n++) {
      long key = timers.pollDue(tick);
      if (key < 0) {
        return true;
      }
      Wait wait = capacity.find(key);
      if (wait != null && wait.armed > 0 && wait.armed <= tick) {
        if (capacity.firesAtRoundEnd()) {
          wait.armed = AT_ROUND_END;
          ripe.add(key);
        } else {
          fire(wait);
        }
      }
    }
    return timers.nextTick() > tick;
  }

  private void fireRipe() {
    while (!ripe.isEmpty()) {
      Wait wait = capacity.find(ripe.poll());
      if (wait != null && wait.armed == AT_ROUND_END) {
        fire(wait);
      }
    }
  }

  private void fire(Wait wait) {
    disarm(wait);
    if (wait.holds()) {
      recheck(wait);
    } else if (isDue(wait)) {
      capacity.due(wait);
    } else {
      arm(wait, due(wait));
    }
  }

  /** Returns the tick of the next timer; {@link Long#MAX_VALUE}: never. */
  long nextTick() {
    if (freshCount > 0 || !ripe.isEmpty()) {
      return soon();
    }
    return armedCount == 0 ? Long.MAX_VALUE : timers.nextTick();
  }

  long soon() {
    return Ticks.floor(now) + 1;
  }

  /** Returns when a wait has lasted long enough. */
  long due(Wait wait) {
    return capacity.countsFrom(wait) + afterMillis(wait.job);
  }

  boolean isDue(Wait wait) {
    return wait.since != Wait.UNKNOWN && due(wait) <= now;
  }

  private long afterMillis(int job) {
    Job configured = jobs.job(job);
    Duration after =
        configured == null ? null : configured.scheduling().reserveAfter().orElse(null);
    return after == null ? 0 : after.toMillis();
  }

  /** Returns how long a reservation may be of no use before it ends. */
  long patienceMillis(int job) {
    return Math.max(RECHECK_MILLIS, afterMillis(job));
  }

  // ---- timers

  private boolean isArmed(long key, long tick) {
    Wait wait = capacity.find(key);
    return wait != null && wait.armed == tick;
  }

  void arm(Wait wait, long millis) {
    long tick = Math.max(soon(), Ticks.ceil(millis));
    if (wait.since == Wait.UNKNOWN || (wait.armed != 0 && wait.armed <= tick)) {
      // The current timer fires earlier and then computes the remaining wait.
      return;
    }
    disarm(wait);
    armedCount++;
    wait.armed = tick;
    timers.add(capacity.key(wait), tick);
  }

  /** Sets a timer for the end of the round; the wait must have none. */
  void armForRound(Wait wait) {
    armedCount++;
    wait.armed = AT_ROUND_END;
    ripe.add(capacity.key(wait));
  }

  void disarm(Wait wait) {
    armedCount -= wait.armed != 0 ? 1 : 0;
    wait.armed = 0;
  }

  // ---- waits

  /** Begins a wait, or restarts it. */
  void restart(Wait wait, long since) {
    setSince(wait, since);
    if (since == Wait.UNKNOWN) {
      disarm(wait);
      fresh.add(capacity.key(wait));
    } else {
      capacity.began(wait);
    }
  }

  /** Sets the beginning of a wait without a change of its timer. */
  void setSince(Wait wait, long since) {
    freshCount += since == Wait.UNKNOWN ? 1 : 0;
    freshCount -= wait.since == Wait.UNKNOWN ? 1 : 0;
    wait.since = since;
  }

  /** Ends a wait, and its reservation. */
  void end(Wait wait) {
    if (wait.holds()) {
      release(wait);
    }
    disarm(wait);
    setSince(wait, 0);
  }

  // ---- reservations

  /** Returns the waits with a reservation, unordered. */
  List<Wait> held() {
    return held;
  }

  /** Reserves a place for the job of a wait. */
  void hold(Wait wait, int place) {
    wait.place = place;
    wait.heldAt = held.size();
    held.add(wait);
    wait.ready = false;
    wait.heldSince = now;
    wait.seenAt = now;
    wait.idleSince = now;
    disarm(wait);
    arm(wait, now + RECHECK_MILLIS);
    capacity.reserve(wait);
  }

  /** Ends a reservation; the wait goes on. */
  void release(Wait wait) {
    int place = wait.place;
    wait.place = -1;
    Wait last = held.remove(held.size() - 1);
    if (last != wait) {
      held.set(wait.heldAt, last);
      last.heldAt = wait.heldAt;
    }
    capacity.free(wait, place);
  }

  private void recheck(Wait wait) {
    if (!capacity.mayKeep(wait)) {
      release(wait);
      if (wait.armed == 0) {
        arm(wait, now + RECHECK_MILLIS);
      }
      capacity.refresh(wait);
      return;
    }
    if (capacity.lacksCapacity(wait)) {
      wait.idleSince = now;
    } else if (now - wait.idleSince >= patienceMillis(wait.job)) {
      capacity.unused(wait);
      return;
    }
    arm(wait, now + RECHECK_MILLIS);
  }

  // ---- migration

  /** Takes over the time of the previous state. */
  void resumeFrom(ReservationEngine before) {
    now = before.now;
  }

  /** Takes over the reservations of the previous state, whose waits have been carried over. */
  void takeOver(ReservationEngine before, Renumbering numbers) {
    for (Wait from : before.held) {
      Wait wait = capacity.find(from, numbers);
      int place =
          wait == null || wait.holds() ? -1 : capacity.again(wait, before.capacity.name(from));
      if (wait != null && place >= 0) {
        // The wait may have restarted in this state, but a reservation without a timer would never
        // be rechecked.
        setSince(wait, from.since);
        hold(wait, place);
        wait.heldSince = from.heldSince;
        wait.seenAt = from.seenAt;
        wait.idleSince = from.idleSince;
      }
    }
  }

  /**
   * Checks the consistency of timers and reservations.
   *
   * @param all all waits
   * @throws IllegalStateException with the first difference
   */
  void check(List<Wait> all) {
    int timersArmed = 0;
    int unknown = 0;
    int holding = 0;
    for (Wait wait : all) {
      timersArmed += wait.armed != 0 ? 1 : 0;
      unknown += wait.since == Wait.UNKNOWN ? 1 : 0;
      holding += wait.holds() ? 1 : 0;
      if (capacity.find(capacity.key(wait)) != wait
          || (wait.holds() && (held.get(wait.heldAt) != wait || !jobs.isActive(wait.job)))) {
        throw new IllegalStateException(
            "the wait of job " + wait.job + " at " + wait.site + " is wrong");
      }
    }
    if (timersArmed != armedCount || unknown != freshCount || holding != held.size()) {
      throw new IllegalStateException(
          "the counts of waits are wrong: "
              + List.of(timersArmed, armedCount, unknown, freshCount, holding, held.size()));
    }
  }
}
