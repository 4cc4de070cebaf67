package io.espalier.core.api.view;

import org.jspecify.annotations.Nullable;

/**
 * When a job is expected to end.
 *
 * @param atMillis the time of this estimate, epoch milliseconds
 * @param left tasks that are not over
 * @param never tasks among them that never end as things are: they need more than the limits of
 *     their nodes leave, their job may not start tasks, or its windows are too short for them
 * @param p50Seconds time until the others are over, in one of two cases; -1: nothing is known about
 *     how long its tasks take
 * @param p90Seconds the same, in nine of ten cases
 * @param bottleneck what makes the others wait or, when no task may start, what keeps most of them
 *     from it; null: nothing, or nothing is left
 */
public record JobEta(
    String job,
    long atMillis,
    long left,
    long never,
    double p50Seconds,
    double p90Seconds,
    @Nullable Bottleneck bottleneck) {
  /** The estimate for a job without tasks that are left. */
  public static JobEta ended(String job, long atMillis) {
    return new JobEta(job, atMillis, 0, 0, 0, 0, null);
  }

  /** What limits a job most. */
  public enum Kind {
    /** A resource of a node. */
    RESOURCE,
    /** A resource of all workers together. */
    WORKERS,
    /** How many tasks of the job may run at once. */
    MAX_CONCURRENT,
    /** How often tasks of the job may start. */
    START_RATE,
    /** What the tasks of the job's queue may have together. */
    QUEUE,
    /** How often tasks may start below a node. */
    LEVEL_START_RATE,
    /** How many members of a redundancy group may be busy at once. */
    GROUP,
    /** A node that an operator has braked to a standstill or quarantined; if no task may start. */
    BRAKE
  }

  /**
   * The narrowest place on the way of a job.
   *
   * @param level the level of the node, or of the members of the group; empty: it is neither
   * @param node empty: it is no node
   * @param resource empty: it is no resource; of a queue, its running tasks are limited then
   * @param name the queue, the kind of the group and its name, such as {@code replset rs-3}, or
   *     {@code quarantine} where that closes the node and not a brake; empty: it is none of them
   * @param limit the limit in effect; of workers, of all together; of rates, starts per second
   * @param gainSeconds how much sooner the job ends with a limit there that is higher by one; -1:
   *     no task may start, so it does not end at all
   * @param gainOfLevelSeconds the same with such limits on all nodes of the level, or of all groups
   */
  public record Bottleneck(
      Kind kind,
      String level,
      String node,
      String resource,
      String name,
      double limit,
      double gainSeconds,
      double gainOfLevelSeconds) {}
}
