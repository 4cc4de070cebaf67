package io.espalier.webui.fleet.poll;

import java.util.List;

/**
 * The summary of one scheduler. Times are epoch milliseconds of its own clock.
 *
 * @param process two addresses with the same value belong to one scheduler
 * @param shard its partition, such as {@code 0/3}; empty where the scheduler does not report it
 * @param cut whether the summary was truncated
 */
public record SchedulerSummary(
    String process,
    String version,
    String runner,
    String shard,
    long atMillis,
    long publishedAtMillis,
    boolean configInForce,
    long nodes,
    long nodesAtMillis,
    List<Job> jobs,
    List<Trouble> troubles,
    long runningTotal,
    List<Running> running,
    boolean cut) {
  public SchedulerSummary {
    jobs = List.copyOf(jobs);
    troubles = List.copyOf(troubles);
    running = List.copyOf(running);
  }

  /**
   * One job of the scheduler.
   *
   * @param configHash of its effective settings
   * @param problem first error, or empty
   * @param state of the job; empty where the scheduler does not report it
   * @param stateReason reason for the state; may be empty
   * @param tasksNever tasks that can never start as the limits are; 0 where the scheduler does not
   *     report it
   * @param neverReason reason for that, or empty
   * @param ratePerSecond tasks that ended per second over the last minute; negative: unknown
   */
  public record Job(
      String name,
      String owner,
      String level,
      String priority,
      boolean enabled,
      boolean valid,
      boolean paused,
      String pauseReason,
      String configHash,
      String problem,
      boolean pastDeadline,
      String state,
      String stateReason,
      long tasksNever,
      String neverReason,
      double ratePerSecond,
      Counts counts) {
    public boolean isStuck() {
      return state.equals("stuck");
    }

    /** Returns whether tasks of it cannot start unless somebody acts or nodes come. */
    public boolean isHindered() {
      return isStuck() || tasksNever > 0;
    }

    /** Returns the number of those tasks: all that are left, if the job is stuck. */
    public long hindered() {
      return isStuck() ? counts.ready() + counts.waiting() + counts.blocked() : tasksNever;
    }
  }

  /**
   * A problem of the scheduler.
   *
   * @param source of the error, or the path in the configuration
   */
  public record Trouble(boolean error, String source, String message) {}

  /** A running task of the scheduler. */
  public record Running(String job, String node, long startedAtMillis) {}
}
