package io.espalier.core.outcome;

/**
 * The tasks of a job by what matters to its state. Tasks on avoided or disabled nodes count only
 * while they run.
 *
 * @param untried never started
 * @param left were tried and are to be tried again, now or after a back-off
 * @param running of all nodes, also of those that have gone
 * @param failed for good
 */
public record JobCounts(long untried, long left, long running, long done, long failed) {
  public static final JobCounts NONE = new JobCounts(0, 0, 0, 0, 0);

  /** Tasks that have ended for good. */
  public long ended() {
    return done + failed;
  }

  public long total() {
    return untried + left + running + done + failed;
  }

  /** Whether nothing runs or will. */
  public boolean isThrough() {
    return untried + left + running == 0;
  }
}
