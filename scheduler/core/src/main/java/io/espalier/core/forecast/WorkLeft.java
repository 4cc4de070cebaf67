package io.espalier.core.forecast;

import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.QueueSpec;
import io.espalier.core.config.Resource;
import io.espalier.core.scheduling.capacity.RunningCap;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.scheduling.group.GroupMembers;
import io.espalier.core.topology.Topology;
import java.util.Collection;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The tasks that are left, and what limits them: in a scheduler, or as a plan would leave them. */
public interface WorkLeft {
  Config config();

  Topology topology();

  /** Returns a number that is another one when jobs and nodes have been numbered again. */
  long number();

  int jobCount();

  /** Returns a job; null: it was removed. */
  @Nullable Job job(int job);

  /** Returns whether tasks of a job may start, apart from their own statuses and nodes. */
  boolean mayStart(int job);

  /** Returns the same once everything that keeps the job for a time is over. */
  boolean mayStartLater(int job);

  /** Returns whether somebody or the end of the job keeps it; what only has to wait is not held. */
  boolean isHeld(int job);

  /** Returns the number of tasks of a job that are not over. */
  long left(int job);

  /** Returns the number of tasks of a job that run. */
  long running(int job);

  /** Returns the first node of a job's level. */
  int firstNode(int job);

  /** Returns the node after the last one of a job's level. */
  int endNode(int job);

  /** Returns whether the task of a job on a node runs or is still to run. */
  boolean isLeft(int job, int node);

  boolean isRunning(int job, int node);

  /** Returns the limit in effect of a resource on a node of its level. */
  int limit(int node, int resource);

  /** Returns how many slots of a resource of workers all of them have together. */
  double ofWorkers(Resource resource);

  /** Returns how many slots of a resource all nodes of its level, or all workers, have together. */
  long slots(Resource resource);

  /** Returns the caps on running tasks of jobs and queues. */
  Collection<RunningCap> caps();

  /**
   * Returns the nodes that operators keep closed to a job until somebody opens them, each with the
   * kind of the gate: a brake to a standstill or a quarantine without trials.
   */
  Map<Integer, GateKind> closedNodes(Job job);

  /** Returns which nodes are in which redundancy groups; null: none are configured. */
  @Nullable GroupMembers groups();

  /** Returns how many members of a group may be busy at once; 0: the group is closed. */
  int groupLimit(int group);

  /** Returns how many tasks of a job may run at once; 0: any number. */
  default int mostRunning(int job) {
    Job config = job(job);
    int own = config == null ? 0 : config.scheduling().maxConcurrent();
    int most = config == null ? Integer.MAX_VALUE : mostRunning(Scope.job(config.name()), caps());
    most = own == 0 ? most : Math.min(own, most);
    return most == Integer.MAX_VALUE ? 0 : most;
  }

  private static int mostRunning(Scope scope, Collection<RunningCap> caps) {
    int most = Integer.MAX_VALUE;
    for (RunningCap cap : caps) {
      most = cap.scope().equals(scope) ? Math.min(most, cap.most()) : most;
    }
    return most;
  }

  /**
   * Returns how many slots of a resource the running tasks of a queue may have together.
   *
   * @param resource null: how many tasks may run
   * @return infinite: any number
   */
  default double ofQueue(String queue, @Nullable Resource resource) {
    if (resource == null) {
      int most = mostRunning(Scope.queue(queue), caps());
      return most == Integer.MAX_VALUE ? Double.POSITIVE_INFINITY : most;
    }
    boolean isOfWorkers = resource.level() >= topology().levels().worker();
    if (isOfWorkers && ofWorkers(resource) <= 0) {
      return Double.POSITIVE_INFINITY; // Without workers, their resources limit nothing.
    }
    for (QueueSpec spec : config().settings().rules().queues()) {
      if (spec.name().equals(queue) && spec.limits(resource.index())) {
        return spec.slots(resource.index(), slots(resource));
      }
    }
    return Double.POSITIVE_INFINITY;
  }
}
