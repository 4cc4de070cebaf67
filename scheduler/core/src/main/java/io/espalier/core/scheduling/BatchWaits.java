package io.espalier.core.scheduling;

import io.espalier.core.config.Job;
import io.espalier.core.config.task.BatchSpec;
import io.espalier.core.scheduling.job.JobTable;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The jobs with batches that leave out rounds, because their tasks wait for others to fill a batch
 * (docs/batches.md). Such a wait begins with the first round that could start a task of the job,
 * and ends when its time is over, or as many tasks of the job have ended as fill its batches; then
 * a whole round starts tasks of the job. A job that waits uses no slot and stays open, so it counts
 * as ready. A job that starts nothing in that round, because others have taken what was free, does
 * not wait the next time: otherwise a job without batches would take each slot before it.
 */
final class BatchWaits {
  private static final long NONE = Long.MAX_VALUE;

  private final JobTable jobs;

  /** By job: when its wait is over, or was over for the present round. */
  private final long[] until;

  /** A bit for each job that waits. */
  private final long[] waiting;

  /** A bit for each job that has started a task since its latest wait began. */
  private final long[] started;

  /** A bit for each job that has waited in vain, and does not wait the next time. */
  private final long[] owed;

  /** By job: what has ended since the last round that could start tasks of the job. */
  private final @Nullable Ends[] ends;

  private boolean isEmpty = true;
  private boolean isPending;

  /** The ends of tasks of a job, whose slots may be those of its next batches. */
  private static final class Ends {
    final BatchSpec batch;
    final Set<Long> places = new HashSet<>();
    int tasks;

    Ends(BatchSpec batch) {
      this.batch = batch;
    }

    /** Returns whether they fill a batch at each place where a task has ended, on average. */
    boolean areFull() {
      return tasks >= (long) batch.max() * places.size();
    }
  }

  BatchWaits(JobTable jobs) {
    this.jobs = jobs;
    until = new long[jobs.count()];
    Arrays.fill(until, NONE);
    waiting = new long[jobs.words];
    started = new long[jobs.words];
    owed = new long[jobs.words];
    ends = new @Nullable Ends[jobs.count()];
  }

  /** Returns which batches a job has whose tasks wait for others; null: none. */
  @Nullable BatchSpec awaited(int job) {
    long[] millis = jobs.batchWaits();
    Job configured = millis == null || job < 0 || millis[job] == 0 ? null : jobs.job(job);
    return configured == null ? null : configured.scheduling().batch().orElse(null);
  }

  /**
   * Counts the end of a task, and ends the wait of its job if that fills its batches.
   *
   * @param batch what {@link #awaited} has returned
   * @param node the node under which the batches of its path lie
   * @param worker where it has run
   */
  void ended(int job, BatchSpec batch, int node, int worker) {
    Ends counted = ends[job];
    if (counted == null || !counted.batch.equals(batch)) {
      counted = new Ends(batch);
      ends[job] = counted;
    }
    counted.tasks++;
    counted.places.add(((long) node << Integer.SIZE) | (worker & 0xffff_ffffL));
    if (isWaiting(job) && counted.areFull()) {
      clear(waiting, job);
      isEmpty = Arrays.stream(waiting).allMatch(word -> word == 0);
    }
  }

  /** Handles the start of a task of a job with batches. */
  void started(int job) {
    set(started, job);
    clear(owed, job);
  }

  /** Begins the waits of jobs that can start a task since the last round has ended. */
  void begin(long nowMillis, IntPredicate isOpen) {
    long[] millis = jobs.batchWaits();
    if (millis == null) {
      return;
    }
    for (int job = 0; job < millis.length; job++) {
      if (millis[job] == 0 || until[job] != NONE) {
        continue;
      }
      Ends counted = ends[job];
      if (!isOpen.test(job)) {
        ends[job] = null;
      } else if (has(owed, job) || (counted != null && counted.areFull())) {
        until[job] = nowMillis;
        isPending = true;
      } else {
        until[job] = nowMillis + millis[job];
        set(waiting, job);
        isEmpty = false;
        isPending = true;
      }
    }
  }

  /** Ends the waits that are over. */
  void advance(long nowMillis) {
    if (isEmpty) {
      return;
    }
    isEmpty = true;
    for (int job = 0; job < until.length; job++) {
      if (!isWaiting(job)) {
        continue;
      }
      if (until[job] <= nowMillis) {
        clear(waiting, job);
      } else {
        isEmpty = false;
      }
    }
  }

  /** Ends a whole round: jobs that took part in it wait again before the next one. */
  void end() {
    if (!isPending) {
      return;
    }
    isPending = !isEmpty;
    for (int job = 0; job < until.length; job++) {
      if (!isWaiting(job)) {
        if (until[job] != NONE && !has(started, job)) {
          set(owed, job);
        }
        until[job] = NONE;
        ends[job] = null;
        clear(started, job);
      }
    }
  }

  private boolean isWaiting(int job) {
    return has(waiting, job);
  }

  private static boolean has(long[] bits, int job) {
    return (bits[job >>> 6] & 1L << job) != 0;
  }

  private static void set(long[] bits, int job) {
    bits[job >>> 6] |= 1L << job;
  }

  private static void clear(long[] bits, int job) {
    bits[job >>> 6] &= ~(1L << job);
  }

  /** Returns until when a job waits; 0: it does not. */
  long until(int job) {
    return isWaiting(job) ? until[job] : 0;
  }

  /** Returns the jobs of a word that wait. */
  long word(int word) {
    return waiting[word];
  }

  /**
   * Returns whether a job waits, or has waited and the round in which it takes part is not over.
   */
  boolean isPending() {
    return isPending;
  }

  /** Returns when the first wait is over; {@link Long#MAX_VALUE}: no job waits. */
  long nextMillis() {
    long next = Long.MAX_VALUE;
    for (int job = 0; job < until.length && !isEmpty; job++) {
      next = isWaiting(job) ? Math.min(next, until[job]) : next;
    }
    return next;
  }
}
