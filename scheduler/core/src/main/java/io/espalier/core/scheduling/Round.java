package io.espalier.core.scheduling;

/**
 * What a policy may do: look at the jobs that have a task which may start now, and start one of
 * such a job. Jobs are small numbers, valid within the round. Starts only ever close jobs, so one
 * pass over {@link #openJobs} is enough.
 */
@SuppressWarnings("DoNotCallSuggester") // the bodies come next
public final class Round {
  Round() {}

  /** Nothing more may be started, or not in this slice. */
  public boolean isOver() {
    throw new UnsupportedOperationException();
  }

  /** Whether some task of the job may start now. */
  public boolean isOpen(int job) {
    throw new UnsupportedOperationException();
  }

  /** The open jobs in a seeded random order; a new array. */
  public int[] openJobs() {
    throw new UnsupportedOperationException();
  }

  /**
   * The open job whose turn it is, or -1: jobs take turns in the order of their names, over slices
   * and rounds.
   */
  public int nextInTurn() {
    throw new UnsupportedOperationException();
  }

  public String name(int job) {
    throw new UnsupportedOperationException();
  }

  public double priority(int job) {
    throw new UnsupportedOperationException();
  }

  /** All tasks that are neither done, failed, avoided nor disabled; running ones included. */
  public long remaining(int job) {
    throw new UnsupportedOperationException();
  }

  /**
   * Starts one task of the job: which one is decided by the node order.
   *
   * @return false, and nothing changed, when the job is not open or the round is over
   */
  public boolean placeOne(int job) {
    throw new UnsupportedOperationException();
  }

  /** The seeded randomness of the core. */
  public Randomness random() {
    throw new UnsupportedOperationException();
  }
}
