package io.espalier.core.scheduling;

import io.espalier.core.scheduling.job.JobTable;
import java.util.Arrays;
import java.util.function.IntPredicate;

/**
 * The jobs with batches that leave out rounds, because their tasks wait for others to fill a batch
 * (docs/batches.md). Such a wait begins with the first round that could start a task of the job,
 * and ends when its time is over; then a whole round starts tasks of the job. A job that waits uses
 * no slot and stays open, so it counts as ready.
 */
final class BatchWaits {
  private static final long NONE = Long.MAX_VALUE;

  private final JobTable jobs;

  /** By job: when its wait is over, or was over for the present round. */
  private final long[] until;

  /** A bit for each job that waits. */
  private final long[] waiting;

  private boolean isEmpty = true;
  private boolean isPending;

  BatchWaits(JobTable jobs) {
    this.jobs = jobs;
    until = new long[jobs.count()];
    Arrays.fill(until, NONE);
    waiting = new long[jobs.words];
  }

  /** Begins the waits of jobs that can start a task since the last round has ended. */
  void begin(long nowMillis, IntPredicate isOpen) {
    long[] millis = jobs.batchWaits();
    if (millis == null) {
      return;
    }
    for (int job = 0; job < millis.length; job++) {
      if (millis[job] > 0 && until[job] == NONE && isOpen.test(job)) {
        until[job] = nowMillis + millis[job];
        waiting[job >>> 6] |= 1L << job;
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
        waiting[job >>> 6] &= ~(1L << job);
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
        until[job] = NONE;
      }
    }
  }

  private boolean isWaiting(int job) {
    return (waiting[job >>> 6] & 1L << job) != 0;
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
