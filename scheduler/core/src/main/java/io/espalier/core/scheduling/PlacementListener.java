package io.espalier.core.scheduling;

/** Learns of each start that a round decided, in order. */
@FunctionalInterface
public interface PlacementListener {
  /**
   * The task is charged and counts as running from now on. Called inside of the round: it may read
   * the core and may give the task its running status, but must not end tasks, change statuses of
   * others or change the configuration.
   *
   * @param run the running task, for the accessors of {@link SchedulingCore}
   */
  void placed(long run);
}
