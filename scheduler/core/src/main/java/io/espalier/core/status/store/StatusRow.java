package io.espalier.core.status.store;

import io.espalier.core.running.Invocation;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;

/**
 * The stored row of a task that was tried at least once.
 *
 * @param invocation the last invocation; (epoch, sequence) is its fencing token
 * @param worker worker to which that invocation was sent
 */
public record StatusRow(
    String job, String node, TaskStatus status, Invocation invocation, WorkerRef worker) {
  /** Creates the row of a task that ran on the scheduler's own host. */
  public StatusRow(String job, String node, TaskStatus status, Invocation invocation) {
    this(job, node, status, invocation, WorkerRef.LOCAL);
  }

  /** The key of the task. */
  public TaskKey key() {
    return new TaskKey(job, node);
  }
}
