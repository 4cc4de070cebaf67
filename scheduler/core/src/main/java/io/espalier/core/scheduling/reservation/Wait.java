package io.espalier.core.scheduling.reservation;

/**
 * The wait of a heavy job for capacity, and what is reserved for it. A job waits at each node by
 * itself, but only once for queues and once for workers.
 */
final class Wait {
  /** A value of {@link #since}: unknown until the clock is set again. */
  static final long UNKNOWN = Long.MAX_VALUE;

  final int job;

  /** The node; 0 for queues and workers. */
  final int site;

  /** Since when the job has waited, in ms. */
  long since;

  /** The tick of the timer; 0: none. */
  long armed;

  /** Whether the job has waited long enough and waits for its turn, without a timer. */
  boolean ready;

  /** What is reserved: the number of the node, queue or worker; -1: nothing. */
  int place = -1;

  /** The index in the list of reservations. */
  int heldAt;

  long heldSince;

  /** When the job with the reservation last lacked nothing outside this capacity. */
  long seenAt;

  /** Since when nothing but the policy or a worker has kept the job from starting. */
  long idleSince;

  Wait(int job, int site) {
    this.job = job;
    this.site = site;
  }

  boolean holds() {
    return place >= 0;
  }

  /** Returns whether a timer, the clock or a round will handle this wait again by itself. */
  boolean isTended() {
    return armed != 0 || ready || holds() || since == UNKNOWN;
  }
}
