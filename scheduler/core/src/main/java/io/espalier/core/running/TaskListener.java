package io.espalier.core.running;

import java.util.List;

/** Receives notifications from a runner about tasks. Called on any thread; must not block. */
@FunctionalInterface
public interface TaskListener {
  /** An invocation has ended; called exactly once for each that was started or resumed. */
  void ended(TaskResult end);

  /**
   * The real end of an invocation that {@link #ended} reported as lost; called at most once, for
   * its history only. {@link TaskRunner#recorded} acknowledges it.
   */
  default void late(TaskResult end) {}

  /**
   * An invocation was started: its process runs, its service has answered, or its worker has
   * accepted it. Called at most once, and only after {@link TaskRunner#confirmStarts}.
   */
  default void started(String job, String node, Invocation invocation) {}

  /**
   * The recall of these invocations is in force: each has begun before, or never will and ends as
   * {@link TaskResult.Kind#NOT_STARTED}.
   */
  default void recalled(List<Invocation> invocations) {}

  /** A live invocation reported its progress. */
  default void progress(String job, String node, Invocation invocation, Progress progress) {}

  /** A sample of what a live invocation has used so far; sent occasionally. */
  default void usage(String job, String node, Invocation invocation, ResourceUsage usage) {}

  /**
   * The whole pool, after every change that matters for placement; never called by local runners.
   */
  default void workers(List<WorkerInfo> workers) {}
}
