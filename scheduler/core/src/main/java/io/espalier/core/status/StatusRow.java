package io.espalier.core.status;

import io.espalier.core.running.Invocation;

/**
 * What is kept of one task that was tried at least once.
 *
 * @param invocation the last one; (epoch, sequence) is its fencing token
 */
public record StatusRow(String job, String node, TaskStatus status, Invocation invocation) {
  /** The task's name. */
  public TaskKey key() {
    return new TaskKey(job, node);
  }
}
