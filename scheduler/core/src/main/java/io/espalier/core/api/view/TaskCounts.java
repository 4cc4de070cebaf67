package io.espalier.core.api.view;

/**
 * Counts of tasks, without those that filters exclude or whose node is disabled.
 *
 * @param waiting tasks in back-off
 * @param ready as in {@link JobProgress}
 * @param blocked as in {@link JobProgress}
 */
public record TaskCounts(
    long done, long failed, long cancelled, long running, long waiting, long ready, long blocked) {
  public static final TaskCounts NONE = new TaskCounts(0, 0, 0, 0, 0, 0, 0);

  /** The sum of all counts. */
  public long total() {
    return done + failed + cancelled + running + waiting + ready + blocked;
  }
}
