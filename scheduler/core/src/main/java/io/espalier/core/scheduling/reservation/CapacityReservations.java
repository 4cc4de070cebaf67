package io.espalier.core.scheduling.reservation;

import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.scheduling.job.Renumbering;
import io.espalier.core.scheduling.job.StatusCodes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Reserves the capacity of queues or workers for jobs that lighter jobs would otherwise starve
 * (docs/adr/0035-reservations.md). {@link NodeReservations} does the same for nodes. Here
 * reservations are made per job, because a task does not pass a queue or a worker on its way up the
 * tree. Each queue and each worker is a place, which can be reserved for one job.
 *
 * <p>A heavy job begins to wait at the end of a round when it lacks this capacity and lacked
 * nothing else at the beginning or the end of the round. It waits until one of its tasks starts, it
 * becomes inactive, or none of its tasks is ready; lacking something else for a while does not end
 * the wait. Once it has waited for its {@code reserve_after} and lacks nothing else in a round, a
 * place is reserved for it: at most one place per job.
 *
 * <p>A reservation ends when the job's own limits or an earlier stage block the job, when the place
 * can no longer suffice, or when for {@code reserve_after} the job has always lacked something else
 * as well and no node is reserved for it. It also ends, and the wait restarts, when the job could
 * have started for that long and the policy did not choose it.
 *
 * <p>The cost is a few operations per round and 64 jobs, and the test of one bit per start.
 */
public abstract class CapacityReservations implements Reservable {
  private static final int[] READY_CODES =
      IntStream.range(0, StatusCodes.COUNT).filter(StatusCodes::isReady).toArray();

  private final ReservationContext context;
  private final CapacityReservation.Kind kind;
  private final JobTable jobs;
  private final int words;

  /** The bits of the jobs that others can starve here and that have reservations enabled. */
  final long[] heavy;

  private final ReservationEngine engine;
  private final @Nullable Wait[] waits;
  private final long[] waiting;

  /** The jobs that have lacked nothing else at some time since the last round ended. */
  private final long[] wanted;

  CapacityReservations(ReservationContext context, CapacityReservation.Kind kind) {
    this.context = context;
    this.kind = kind;
    jobs = context.jobs();
    words = jobs.words;
    engine = new ReservationEngine(jobs, this);
    heavy = new long[words];
    waits = new @Nullable Wait[jobs.count()];
    waiting = new long[words];
    wanted = new long[words];
  }

  // ---- the capacity

  /** Returns the bits of the jobs that fit now. */
  abstract long open(int word);

  /** Returns the bits of the jobs that the preceding stages let start. */
  abstract long before(int word);

  /** Returns a number that is larger than that of any place. */
  abstract int places();

  abstract String name(int place);

  /** Returns the job that a place is reserved for, or -1; the place may have disappeared. */
  abstract int holder(int place);

  /** Reserves what a job needs of a place; -1: ends the reservation. */
  abstract void keepFor(int place, int job);

  /** Returns whether a place exists and could suffice for a job if it were empty. */
  abstract boolean isEnough(int place, int job);

  /** Returns the best place to reserve for a job; -1: no suitable place is unreserved. */
  abstract int placeFor(int job);

  // ---- rounds

  private static boolean has(long[] bits, int job) {
    return has(bits[job >>> 6], job);
  }

  private static boolean has(long bits, int job) {
    return (bits & 1L << job) != 0;
  }

  /**
   * Begins a round: records the jobs that lack nothing else, because their free slots may be taken
   * when the round ends.
   */
  final void roundBegins() {
    for (int w = 0; w < words; w++) {
      if (heavy[w] != 0) {
        wanted[w] |=
            heavy[w]
                & context.index().openAtRoot(w)
                & jobs.active(w)
                & context.caps().open(w)
                & before(w);
      }
    }
  }

  /** Ends a round: begins waits and makes due reservations. */
  final void roundOver() {
    roundBegins();
    List<Wait> due = new ArrayList<>(0);
    for (int w = 0; w < words; w++) {
      if ((heavy[w] | waiting[w]) != 0) {
        long lacking = wanted[w] & heavy[w] & ~open(w);
        for (long bits = waiting[w] & ~wanted[w]; bits != 0; bits &= bits - 1) {
          int job = (w << 6) + Long.numberOfTrailingZeros(bits);
          if (!hasReadyTasks(job)) {
            end(waitOf(job));
          }
        }
        for (long bits = lacking; bits != 0; bits &= bits - 1) {
          int job = (w << 6) + Long.numberOfTrailingZeros(bits);
          if (!has(waiting, job)) {
            begin(job, engine.beginning());
          } else if (waitOf(job).ready) {
            due.add(waitOf(job));
          }
        }
      }
    }
    for (Wait wait : engine.held()) {
      if (has(wanted, wait.job)) {
        wait.seenAt = engine.now();
      }
      if (!has(context.openJobs(wait.job >>> 6), wait.job)) {
        wait.idleSince = engine.now();
      }
    }
    Arrays.fill(wanted, 0);
    // The job that has waited longest comes first; among equals, the first by name.
    due.sort(Comparator.comparingLong(wait -> wait.since));
    due.forEach(this::reserveBest);
  }

  private void reserveBest(Wait wait) {
    int place = placeFor(wait.job);
    wait.ready = false;
    if (place >= 0) {
      engine.hold(wait, place);
    } else {
      engine.arm(wait, engine.now() + ReservationEngine.RECHECK_MILLIS);
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

  // ---- waits

  private void begin(int job, long since) {
    Wait wait = new Wait(job, 0);
    waits[job] = wait;
    waiting[job >>> 6] |= 1L << job;
    engine.restart(wait, since);
  }

  private Wait waitOf(int job) {
    return Objects.requireNonNull(waits[job]);
  }

  private void end(Wait wait) {
    engine.end(wait);
    waits[wait.job] = null;
    waiting[wait.job >>> 6] &= ~(1L << wait.job);
  }

  /** Handles a start of a job, after which its next task waits again, or a job that is inactive. */
  final void ended(int job) {
    if (has(waiting, job)) {
      end(waitOf(job));
    }
  }

  /** Ends the waits of the jobs that are not heavy any more. */
  final void dropLight() {
    for (int w = 0; w < words; w++) {
      for (long bits = waiting[w] & ~heavy[w]; bits != 0; bits &= bits - 1) {
        end(waitOf((w << 6) + Long.numberOfTrailingZeros(bits)));
      }
    }
  }

  final ReservationEngine engine() {
    return engine;
  }

  /** Takes over the waits and reservations of the previous state. */
  final void takeOver(CapacityReservations old, Renumbering numbers) {
    engine.resumeFrom(old.engine);
    for (Wait from : old.waits) {
      int job = from == null ? -1 : numbers.newJob(from.job);
      if (from != null && job >= 0 && jobs.isActive(job) && has(heavy, job)) {
        begin(job, from.since);
      }
    }
    engine.takeOver(old.engine, numbers);
  }

  // ---- Reservable

  @Override
  public final long key(Wait wait) {
    return wait.job;
  }

  @Override
  public final @Nullable Wait find(long key) {
    return waits[(int) key];
  }

  @Override
  public final @Nullable Wait find(Wait before, Renumbering numbers) {
    int job = numbers.newJob(before.job);
    return job < 0 ? null : waits[job];
  }

  @Override
  public final boolean firesAtRoundEnd() {
    return false;
  }

  @Override
  public final long countsFrom(Wait wait) {
    return wait.since;
  }

  @Override
  public final void began(Wait wait) {
    engine.arm(wait, engine.due(wait));
  }

  @Override
  public final void due(Wait wait) {
    wait.ready = true;
  }

  @Override
  public final boolean mayKeep(Wait wait) {
    int word = wait.job >>> 6;
    return holder(wait.place) == wait.job
        && isEnough(wait.place, wait.job)
        && has(context.caps().open(word) & before(word), wait.job)
        && hasReadyTasks(wait.job)
        && (engine.now() - wait.seenAt < engine.patienceMillis(wait.job)
            || context.holdsNodes(wait.job));
  }

  /** Returns false, because {@link #roundOver} records at which rounds the job cannot start. */
  @Override
  public final boolean lacksCapacity(Wait wait) {
    return false;
  }

  @Override
  public final void unused(Wait wait) {
    end(wait);
  }

  @Override
  public final void reserve(Wait wait) {
    keepFor(wait.place, wait.job);
  }

  @Override
  public final void free(Wait wait, int place) {
    if (holder(place) == wait.job) {
      keepFor(place, -1);
    }
  }

  @Override
  public final void refresh(Wait wait) {
    // The bits of open jobs are up to date already.
  }

  @Override
  public final String name(Wait wait) {
    return name(wait.place);
  }

  @Override
  public final int again(Wait wait, String name) {
    for (int place = 0; place < places(); place++) {
      if (name(place).equals(name) && holder(place) < 0 && isEnough(place, wait.job)) {
        return place;
      }
    }
    return -1;
  }

  // ---- queries

  /** Returns whether a waiting job has a reservation or may get one after waiting long enough. */
  final boolean hopes(int job) {
    Wait wait = waits[job];
    return wait != null
        && (wait.holds()
            || wait.since == Wait.UNKNOWN
            || engine.now() < engine.due(wait) + ReservationEngine.RECHECK_MILLIS);
  }

  /** Returns since when a job has had its reservation; it must have one. */
  public final long keptSince(int job) {
    return waitOf(job).heldSince;
  }

  /** Returns the reservations in the order of the jobs. */
  final List<CapacityReservation> kept() {
    return engine.held().stream()
        .filter(wait -> holder(wait.place) == wait.job)
        .sorted(Comparator.comparingInt(wait -> wait.job))
        .map(
            wait ->
                new CapacityReservation(
                    kind, name(wait.place), jobs.name(wait.job), wait.heldSince, wait.since))
        .toList();
  }

  /**
   * Checks the consistency of waits, timers and reservations.
   *
   * @throws IllegalStateException with the first difference
   */
  final void check() {
    engine.check(Arrays.stream(waits).filter(Objects::nonNull).toList());
    for (int job = 0; job < waits.length; job++) {
      Wait wait = waits[job];
      if ((wait != null) != has(waiting, job)
          || (wait != null && (!wait.isTended() || !jobs.isActive(job)))) {
        throw new IllegalStateException("the wait for a " + kind + " is wrong: job " + job);
      }
    }
  }
}
