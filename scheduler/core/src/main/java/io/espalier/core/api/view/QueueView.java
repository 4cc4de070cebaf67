package io.espalier.core.api.view;

import java.util.List;
import java.util.OptionalDouble;

/**
 * The current state of one queue (docs/design/features.md#queues).
 *
 * @param priorityFactor configured priority factor
 * @param weight configured weight, 1 if only other queues have one; empty: the priority factors
 *     apply
 * @param running number of running tasks
 * @param jobs number of jobs in the queue
 * @param waitingJobs number of them with tasks to start that are not blocked as a whole, as by a
 *     pause, or by another job that must be done first
 * @param waitingTasks number of those tasks, in back-off or not, without running ones
 * @param use dominant share: the largest fraction of any resource that its running tasks use
 * @param currentPriority decayed usage, which follows {@code use} with the half-life
 * @param effectivePriority effective priority; the lower it is, the more the queue is entitled to
 * @param share fraction of all starts that the policy {@code fair_share} gives it while all queues
 *     with remaining tasks compete for the same slots; 0: it has none left
 * @param resources resources that it uses or whose use is capped
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
   * @param held slots used by the queue's running tasks; may exceed the cap
   * @param cap -1: none
   * @param total slots in the tree, or on all workers
   */
  public record Held(String resource, long held, long cap, long total) {}
}
