package io.espalier.core.running;

import java.util.List;

/** Learns from a runner what happens to tasks. Called on any thread; must not block. */
@FunctionalInterface
public interface TaskListener {
  /** An invocation has ended: exactly once for each that was started or resumed. */
  void ended(TaskResult end);

  /**
   * How an invocation ended of which {@link #ended} was told that it is lost; at most once, and for
   * its history only. {@link TaskRunner#recorded} answers it.
   */
  default void late(TaskResult end) {}

  /** A live invocation said how far it is. */
  default void progress(String job, String node, Invocation invocation, Progress progress) {}

  /** What a live invocation has used so far; a sample, now and then. */
  default void usage(String job, String node, Invocation invocation, ResourceUsage usage) {}

  /** The whole pool, after every change that placement must know; never called by local runners. */
  default void workers(List<WorkerInfo> workers) {}
}
