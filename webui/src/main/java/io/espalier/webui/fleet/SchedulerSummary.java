package io.espalier.webui.fleet;

import java.util.List;

/**
 * What one scheduler says of itself. Times are epoch milliseconds of its own clock.
 *
 * @param process two addresses that give the same are one scheduler
 * @param shard the part of its nodes, such as {@code 0/3}; empty where the scheduler does not say
 * @param cut whether there was more than is kept
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
   * One job there.
   *
   * @param configHash of its effective settings
   * @param problem first error, or empty
   * @param state of the job; empty where the scheduler does not say
   * @param stateReason why; may be empty
   * @param ratePerSecond tasks that ended over the last minute; negative: unknown
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
      double ratePerSecond,
      Counts counts) {}

  /**
   * Something that is wrong there.
   *
   * @param source of the error, or the path in the configuration
   */
  public record Trouble(boolean error, String source, String message) {}

  /** A task that runs there. */
  public record Running(String job, String node, long startedAtMillis) {}
}
