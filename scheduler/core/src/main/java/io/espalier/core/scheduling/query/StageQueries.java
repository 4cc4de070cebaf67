package io.espalier.core.scheduling.query;

import io.espalier.core.scheduling.state.SchedulingState;
import io.espalier.core.scheduling.task.StagedTasks;
import java.util.function.Supplier;

/**
 * Questions to the core about the tasks of jobs with stages: how many are left, and which are set
 * apart.
 *
 * <p>{@code SchedulingCore.staged} returns it; use it on the thread of the core.
 */
public final class StageQueries {
  private final Supplier<SchedulingState> current;

  public StageQueries(Supplier<SchedulingState> current) {
    this.current = current;
  }

  private StagedTasks staged() {
    return current.get().statuses.staged();
  }

  /** Returns whether every task waits for the stage of a roll-out that it is to wait for. */
  public boolean areInEffect() {
    return staged().isDone();
  }

  /**
   * Returns how many tasks of the open stages of a job have not ended, without those below nodes
   * that are set apart; -1: that is not known yet.
   *
   * @param job the number of a job
   */
  public long left(int job) {
    return staged().left(job);
  }

  /** Returns how many of those below nodes that are set apart have not ended. */
  public long leftApart(int job) {
    return staged().leftApart(job);
  }

  /** Returns how many tasks of the stage opened last are set apart, and are left or have failed. */
  public long apartOfOpen(int job) {
    return staged().apartOfOpen(job);
  }

  /**
   * Returns whether a task of a job with stages is below a node that is set apart.
   *
   * @param job the number of a job; -1 gives false
   */
  public boolean isApart(int job, String node) {
    SchedulingState state = current.get();
    int level = job < 0 ? -1 : state.jobs.levels[job];
    int number = level < 0 ? -1 : state.topology.find(level, node);
    return number >= 0 && staged().isApart(job, number);
  }

  /** Returns how many tasks were looked at so far because of stages. */
  public long visited() {
    return staged().visited();
  }
}
