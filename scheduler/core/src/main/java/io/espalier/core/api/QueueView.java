package io.espalier.core.api;

import java.util.List;
import java.util.OptionalDouble;

/**
 * One queue as it is now (docs/design/features.md#queues).
 *
 * @param priorityFactor as configured
 * @param weight as configured, 1 where another queue has one and this has not; empty: factors
 *     decide
 * @param running tasks
 * @param jobs how many jobs name it
 * @param waitingJobs those of them with tasks to start that nothing keeps as a whole, as a pause
 *     does, or another job that must be done first
 * @param waitingTasks how many tasks those are, in back-off or not; what runs does not count
 * @param use the largest part of any resource that its running tasks hold: its dominant share
 * @param currentPriority what it has used lately: follows {@code use} with the half-life
 * @param effectivePriority the lower, the more is due to it
 * @param share the part of all starts that the policy {@code fair_share} gives it while all queues
 *     that have tasks left compete for the same slots; 0: it has none left
 * @param resources those of which it holds slots or has a cap
 */
public record QueueView(
    String name,
    double priorityFactor,
    OptionalDouble weight,
    int running,
    int jobs,
    int waitingJobs,
    long waitingTasks,
    double use,
    double currentPriority,
    double effectivePriority,
    double share,
    List<Held> resources) {
  public QueueView {
    resources = List.copyOf(resources);
  }

  /**
   * Slots of one resource.
   *
   * @param held by the queue's running tasks; may exceed the cap
   * @param cap -1: none
   * @param total in the tree, or on all workers
   */
  public record Held(String resource, long held, long cap, long total) {}
}
