package io.espalier.core.outcome;

/**
 * Counts of a job's tasks that determine its state. Tasks on avoided or disabled nodes count only
 * while they run.
 *
 * @param untried tasks never started
 * @param left tasks that were tried and will be tried again, now or after a back-off
 * @param running running tasks on all nodes, including removed ones
 * @param failed permanently failed tasks
 * @param cancelled tasks that an operator has cancelled: no rule counts them
 */
public record JobCounts(
    long untried, long left, long running, long done, long failed, long cancelled) {
  public static final JobCounts NONE = new JobCounts(0, 0, 0, 0, 0, 0);

  /** The number of tasks with a final result. */
  public long ended() {
    return done + failed;
  }

  /** The number of tasks that the rules count: all but the cancelled ones. */
  public long total() {
    return untried + left + running + done + failed;
  }

  /** Returns true when no task runs or will run. */
  public boolean isThrough() {
    return untried + left + running == 0;
  }
}
