package io.espalier.core.scheduling.reservation;

import io.espalier.core.config.Job;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.scheduling.job.Renumbering;
import io.espalier.core.scheduling.job.StatusCodes;
import io.espalier.core.scheduling.util.Ticks;
import io.espalier.core.scheduling.util.TimerHeap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/**
 * Reserves capacity of queues or workers for jobs that lighter jobs would otherwise starve
 * (docs/adr/0035-reservations.md). {@link NodeReservations} does the same for nodes. Here
 * reservations are made per job, because a task does not pass a queue or a worker on its way up the
 * tree.
 *
 * <p>A heavy job begins to wait at the end of a round when it lacks this capacity and lacked
 * nothing else at the beginning or the end of the round. It waits until one of its tasks starts, it
 * becomes inactive, or none of its tasks is ready; lacking something else for a while does not end
 * the wait. Once it has waited for its {@code reserve_after} and lacks nothing else in a round, a
 * place (a queue or a worker) is reserved for it: at most one place per job, and one job per place.
 *
 * <p>Each reservation is rechecked every second. It ends when the job's own limits or an earlier
 * stage block the job, when the place can no longer suffice, or when for {@code reserve_after} the
 * job has always lacked something else as well and no node is reserved for it. It also ends, and
 * the wait restarts, when the job could have started for that long and the policy did not choose
 * it.
 *
 * <p>The cost is a few operations per round and 64 jobs, and the test of one bit per start.
 */
public final class CapacityReservations {
  /** The interval for rechecking reservations, and jobs that found no place. */
  private static final int RECHECK_MILLIS = 1_000;

  private static final long UNKNOWN = Long.MAX_VALUE;
  private static final int[] READY_CODES = readyCodes();

  private final ReservationContext context;
  private final JobTable jobs;
  private final ReservableCapacity room;
  private final int words;
  private final long[] waiting;

  /** The jobs that have lacked nothing else at some time since the last round ended. */
  private final long[] wanted;

  /** The jobs that have waited long enough. */
  private final long[] overdue;

  private final long[] since;
  private final BitSet fresh = new BitSet();

  /** By job: the place reserved for it, or -1. */
  private final int[] placeOf;

  private final long[] keptSince;
  private final long[] seenAt;
  private final long[] idleSince;

  /** The jobs with a reservation. */
  private final BitSet holders = new BitSet();

  private final TimerHeap timers = new TimerHeap(this::isArmed);
  private final long[] armed;
  private int armedCount;
  private final int[] candidates;
  private long now;
  private boolean stale = true;

  CapacityReservations(ReservationContext context, ReservableCapacity room) {
    this.context = context;
    this.room = room;
    jobs = context.jobs();
    words = jobs.words;
    waiting = new long[words];
    wanted = new long[words];
    overdue = new long[words];
    int count = jobs.count();
    since = new long[count];
    placeOf = new int[count];
    Arrays.fill(placeOf, -1);
    keptSince = new long[count];
    seenAt = new long[count];
    idleSince = new long[count];
    armed = new long[count];
    candidates = new int[count];
  }

  private static int[] readyCodes() {
    List<Integer> codes = new ArrayList<>();
    for (int code = 0; code < StatusCodes.COUNT; code++) {
      if (StatusCodes.isReady(code)) {
        codes.add(code);
      }
    }
    return codes.stream().mapToInt(Integer::intValue).toArray();
  }

  private static boolean has(long[] bits, int job) {
    return (bits[job >>> 6] & 1L << job) != 0;
  }

  private static boolean has(long bits, int job) {
    return (bits & 1L << job) != 0;
  }

  // ---- rounds

  /**
   * Begins a round: records the jobs that lack nothing else, because their free slots may be taken
   * when the round ends.
   */
  void roundBegins() {
    for (int w = 0; w < words; w++) {
      long heavy = room.heavy(w);
      if (heavy != 0) {
        wanted[w] |= heavy & lacksNothingElse(w);
      }
    }
  }

  private long lacksNothingElse(int word) {
    return context.index().openAtRoot(word)
        & jobs.active(word)
        & context.caps().open(word)
        & room.before(word);
  }

  /** Ends a round: begins waits and makes due reservations. */
  void roundOver() {
    roundBegins();
    int due = 0;
    for (int w = 0; w < words; w++) {
      long heavy = room.heavy(w);
      if ((heavy | waiting[w]) != 0) {
        long lacking = wanted[w] & heavy & ~room.open(w);
        for (long bits = lacking & ~waiting[w]; bits != 0; bits &= bits - 1) {
          begin((w << 6) + Long.numberOfTrailingZeros(bits), stale ? UNKNOWN : now);
        }
        for (long bits = waiting[w] & ~wanted[w]; bits != 0; bits &= bits - 1) {
          forgetIfNothingIsLeft((w << 6) + Long.numberOfTrailingZeros(bits));
        }
        for (long bits = lacking & overdue[w]; bits != 0; bits &= bits - 1) {
          candidates[due++] = (w << 6) + Long.numberOfTrailingZeros(bits);
        }
      }
    }
    noteHolders();
    Arrays.fill(wanted, 0);
    for (int i = 0; i < due; i++) {
      keepFor(candidates, i, due);
    }
  }

  /** Marks the time as outdated until the clock is set again. */
  void clockRuns() {
    stale = true;
  }

  private void noteHolders() {
    for (int job = holders.nextSetBit(0); job >= 0; job = holders.nextSetBit(job + 1)) {
      if (has(wanted, job)) {
        seenAt[job] = now;
      }
      if (!has(context.openJobs(job >>> 6), job)) {
        idleSince[job] = now;
      }
    }
  }

  /** Reserves a place for the job that has waited longest; among equals, for the first by name. */
  private void keepFor(int[] due, int from, int to) {
    int best = from;
    for (int i = from + 1; i < to; i++) {
      if (since[due[i]] < since[due[best]]) {
        best = i;
      }
    }
    int job = due[best];
    // The other jobs stay in name order.
    System.arraycopy(due, from, due, from + 1, best - from);
    due[from] = job;
    int place = room.placeFor(job);
    setOverdue(job, false);
    if (place >= 0) {
      keep(place, job, now, now, now);
    } else {
      arm(job, now + RECHECK_MILLIS);
    }
  }

  private void keep(int place, int job, long from, long seen, long idle) {
    placeOf[job] = place;
    keptSince[job] = from;
    seenAt[job] = seen;
    idleSince[job] = idle;
    holders.set(job);
    room.keep(place, job);
    arm(job, now + RECHECK_MILLIS);
  }

  private void end(int job) {
    int place = placeOf[job];
    placeOf[job] = -1;
    holders.clear(job);
    room.free(place, job);
  }

  // ---- waits

  private void begin(int job, long from) {
    waiting[job >>> 6] |= 1L << job;
    since[job] = from;
    if (from == UNKNOWN) {
      fresh.set(job);
    } else {
      arm(job, due(job));
    }
  }

  private void forgetIfNothingIsLeft(int job) {
    if (!hasReadyTasks(job)) {
      forget(job);
    }
  }

  private boolean hasReadyTasks(int job) {
    for (int code : READY_CODES) {
      if (context.tasks().count(job, code) > 0) {
        return true;
      }
    }
    return false;
  }

  private void forget(int job) {
    if (placeOf[job] >= 0) {
      end(job);
    }
    waiting[job >>> 6] &= ~(1L << job);
    setOverdue(job, false);
    fresh.clear(job);
    disarm(job);
  }

  private void setOverdue(int job, boolean on) {
    long bit = 1L << job;
    overdue[job >>> 6] = on ? overdue[job >>> 6] | bit : overdue[job >>> 6] & ~bit;
  }

  /** Handles a start of a job: the wait restarts for its next task. */
  void started(int job) {
    if (has(waiting, job)) {
      forget(job);
    }
  }

  /** Handles a job that has become inactive. */
  void stopped(int job) {
    started(job);
  }

  /** Handles an update after which other jobs may be heavy. */
  void changed() {
    for (int w = 0; w < words; w++) {
      for (long bits = waiting[w] & ~room.heavy(w); bits != 0; bits &= bits - 1) {
        forget((w << 6) + Long.numberOfTrailingZeros(bits));
      }
    }
  }

  // ---- time

  void clockIs(long nowMillis) {
    now = nowMillis;
    stale = false;
  }

  /**
   * Finds the waits that are over, for the end of the next round; {@link #clockIs} must come first.
   *
   * @return true when no timer that is due is left
   */
  boolean advance(int limit) {
    for (int job = fresh.nextSetBit(0); job >= 0; job = fresh.nextSetBit(job + 1)) {
      since[job] = now;
      arm(job, due(job));
    }
    fresh.clear();
    long tick = Ticks.floor(now);
    for (int n = 0; n < limit; n++) {
      long job = timers.pollDue(tick);
      if (job < 0) {
        return true;
      }
      if (armed[(int) job] > 0 && armed[(int) job] <= tick) {
        fire((int) job);
      }
    }
    return timers.nextTick() > tick;
  }

  private void fire(int job) {
    disarm(job);
    if (placeOf[job] >= 0) {
      recheck(job);
    } else {
      setOverdue(job, true);
    }
  }

  private void recheck(int job) {
    long patience = Math.max(RECHECK_MILLIS, afterMillis(job));
    boolean mayHold =
        room.suits(placeOf[job], job)
            && has(context.caps().open(job >>> 6) & room.before(job >>> 6), job)
            && hasReadyTasks(job)
            && (now - seenAt[job] < patience || context.holdsNodes(job));
    if (!mayHold) {
      end(job);
    } else if (now - idleSince[job] >= patience) {
      forget(job);
      return;
    }
    arm(job, now + RECHECK_MILLIS);
  }

  private long afterMillis(int job) {
    Job configured = jobs.job(job);
    return configured == null
        ? 0
        : configured.scheduling().reserveAfter().map(d -> d.toMillis()).orElse(0L);
  }

  private long due(int job) {
    return since[job] + afterMillis(job);
  }

  private boolean isArmed(long job, long tick) {
    return armed[(int) job] == tick;
  }

  private void arm(int job, long millis) {
    disarm(job);
    long soon = Ticks.floor(now) + 1;
    armed[job] = Math.max(soon, Ticks.ceil(millis));
    armedCount++;
    timers.add(job, armed[job]);
  }

  private void disarm(int job) {
    armedCount -= armed[job] != 0 ? 1 : 0;
    armed[job] = 0;
  }

  /** Returns the tick of the next timer; {@link Long#MAX_VALUE}: never. */
  long nextTick() {
    if (!fresh.isEmpty()) {
      return Ticks.floor(now) + 1;
    }
    return armedCount == 0 ? Long.MAX_VALUE : timers.nextTick();
  }

  /** Takes over the waits and reservations of the previous state. */
  void takeOver(CapacityReservations old, Renumbering numbers) {
    now = old.now;
    for (int w = 0; w < old.words; w++) {
      for (long bits = old.waiting[w]; bits != 0; bits &= bits - 1) {
        int before = (w << 6) + Long.numberOfTrailingZeros(bits);
        int job = numbers.newJob(before);
        if (job >= 0 && jobs.isActive(job) && has(room.heavy(job >>> 6), job)) {
          begin(job, old.since[before]);
          int was = old.placeOf[before];
          int place = was < 0 ? -1 : room.again(old.room.name(was), job);
          if (place >= 0) {
            keep(place, job, old.keptSince[before], old.seenAt[before], old.idleSince[before]);
          }
        }
      }
    }
  }

  // ---- queries

  /** Returns whether a waiting job has a reservation or may get one after waiting long enough. */
  public boolean hopes(int job) {
    return has(waiting, job)
        && (placeOf[job] >= 0 || since[job] == UNKNOWN || now < due(job) + RECHECK_MILLIS);
  }

  /** Returns since when a job has had its reservation; it must have one. */
  public long keptSince(int job) {
    return keptSince[job];
  }

  /** Returns the reservations in the order of the jobs. */
  List<CapacityReservation> kept(CapacityReservation.Kind kind) {
    List<CapacityReservation> all = new ArrayList<>();
    for (int job = holders.nextSetBit(0); job >= 0; job = holders.nextSetBit(job + 1)) {
      if (room.isKept(placeOf[job], job)) {
        all.add(
            new CapacityReservation(
                kind, room.name(placeOf[job]), jobs.name(job), keptSince[job], since[job]));
      }
    }
    return all;
  }

  /**
   * Checks the consistency of waits, timers and reservations.
   *
   * @throws IllegalStateException with the first difference
   */
  void check() {
    int timersArmed = 0;
    for (int job = 0; job < jobs.count(); job++) {
      timersArmed += armed[job] != 0 ? 1 : 0;
      boolean waits = has(waiting, job);
      boolean lookedAfter = armed[job] != 0 || has(overdue, job) || fresh.get(job);
      if (waits != lookedAfter
          || (placeOf[job] >= 0) != holders.get(job)
          || (holders.get(job) && !waits)
          || (waits && !jobs.isActive(job))) {
        throw new IllegalStateException("the waits for shared room are wrong: job " + job);
      }
    }
    if (timersArmed != armedCount) {
      throw new IllegalStateException("the count of waits for shared room is wrong");
    }
  }
}
