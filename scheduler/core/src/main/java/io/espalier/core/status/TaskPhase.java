package io.espalier.core.status;

import java.util.Locale;

/**
 * The phase of a task in the six terms common to other job systems
 * (docs/design/features.md#phases-of-tasks): a coarser view of its status, computed on demand and
 * not stored. docs/task-status.md lists the transitions.
 */
public enum TaskPhase {
  /** Not tried yet, or reset to run again from the beginning. */
  PENDING,
  RUNNING,
  /** Tried without a final result: it will be tried again. */
  INCOMPLETE,
  SUCCEEDED,
  /** Final until an operator forgives it or reruns it. */
  FAILED,
  /**
   * It has no final result, but is not started any more unless an operator acts: an operator has
   * cancelled it, its job's filters exclude it, or its job has ended.
   */
  CANCELLED;

  /** The name, in lower case. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The phase of a task.
   *
   * @param bits bits as in docs/design/bistro.md#status-bits, including those of views
   * @param attempts number of attempts since it was last forgiven, or ever
   * @param jobIsOver whether its job as a whole was stopped, has failed or has succeeded
   */
  public static TaskPhase of(int bits, int attempts, boolean jobIsOver) {
    if ((bits & TaskStatus.Main.RUNNING.bit()) != 0) {
      return RUNNING;
    }
    if ((bits & TaskStatus.Main.DONE.bit()) != 0) {
      return SUCCEEDED;
    }
    if ((bits & TaskStatus.Main.FAILED.bit()) != 0) {
      return FAILED;
    }
    int noStart = TaskStatus.Main.CANCELLED.bit() | TaskStatus.AVOIDED;
    if (jobIsOver || (bits & noStart) != 0) {
      return CANCELLED;
    }
    // A disabled node may be enabled again: the other bits count.
    StatusLabel label = StatusLabel.of(bits & ~TaskStatus.DISABLED);
    return switch (label) {
      case UNSTARTED -> PENDING;
      // A task that could not be started is as it was before.
      case NEVER_STARTED -> attempts > 0 ? INCOMPLETE : PENDING;
      default -> INCOMPLETE;
    };
  }
}
