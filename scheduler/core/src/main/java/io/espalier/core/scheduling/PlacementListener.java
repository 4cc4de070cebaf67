package io.espalier.core.scheduling;

/** Receives each start that a round decides, in order. */
@FunctionalInterface
public interface PlacementListener {
  /**
   * Receives a start. The task is already charged and counts as running. The call is made within
   * the round: it may read the core and set the running status of this task, but it must not end
   * tasks, set the status of other tasks or change the configuration.
   *
   * @param run the running task, for the accessors of {@link SchedulingCore}
   */
  void placed(long run);
}
