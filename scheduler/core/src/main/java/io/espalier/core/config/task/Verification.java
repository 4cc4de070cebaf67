package io.espalier.core.config.task;

/**
 * How tasks that are done are verified, once all tasks of their job are.
 *
 * @param step what verifies one task
 * @param percent how many percent of the tasks are verified, at least one; 0: {@link #count} says
 * @param count how many tasks are verified; 0: {@link #percent} says
 * @param retries how often a verification that fails is tried again before its task has failed it
 */
public record Verification(Step step, double percent, int count, int retries) {
  /** Returns the size of the sample out of a number of tasks. */
  public long size(long tasks) {
    long wanted = count > 0 ? count : (long) Math.ceil(tasks * percent / 100);
    return Math.min(tasks, wanted);
  }
}
