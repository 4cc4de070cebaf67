package io.espalier.core.forecast;

import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.Resource;
import io.espalier.core.topology.Topology;
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

  /** Returns how many tasks of a job may run at once; 0: any number. */
  int mostRunning(int job);
}
