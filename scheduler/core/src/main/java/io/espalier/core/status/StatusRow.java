package io.espalier.core.status;

import io.espalier.core.running.Invocation;
import io.espalier.core.running.WorkerRef;

/**
 * What is kept of one task that was tried at least once.
 *
 * @param invocation the last one; (epoch, sequence) is its fencing token
 * @param worker where that one was sent
 */
public record StatusRow(
    String job, String node, TaskStatus status, Invocation invocation, WorkerRef worker) {
  /** A row of a task that ran on the scheduler's own host. */
  public StatusRow(String job, String node, TaskStatus status, Invocation invocation) {
    this(job, node, status, invocation, WorkerRef.LOCAL);
  }

  /** The task's name. */
  public TaskKey key() {
    return new TaskKey(job, node);
  }
}
