package io.espalier.core.scheduling;

/** Receives each start that a round decides, in order. */
@FunctionalInterface
public interface PlacementListener {
  /**
   * Receives a start. The task is already charged and counts as running. The call is made within
   * the round: it may read the core, set the running status of this task and close gates, which
   * take effect before the next start, but it must not end tasks, set the status of other tasks or
   * change the configuration.
   *
   * @param run the running task, for the accessors of {@link SchedulingCore}
   */
  void placed(long run);

  /**
   * Receives a start as {@link #placed(long)}, with its batch.
   *
   * @param batch the number of the batch that one process may run, which is the same for
   *     consecutive starts of it; 0: the job has no batches
   */
  default void placed(long run, long batch) {
    placed(run);
  }

  /** A listener that wants to know the batches. */
  @FunctionalInterface
  interface OfBatches extends PlacementListener {
    @Override
    void placed(long run, long batch);

    @Override
    default void placed(long run) {
      placed(run, 0);
    }
  }
}
