package io.espalier.core.status;

import java.util.Locale;

/**
 * Where a task stands in the six words that other job systems use
 * (docs/design/features.md#phases-of-tasks); a coarser view of the same status, made when somebody
 * looks, and stored nowhere. docs/task-status.md has the moves.
 */
public enum TaskPhase {
  /** Nothing was tried yet, or it is to be done again from the beginning. */
  PENDING,
  RUNNING,
  /** It was tried and did not end for good: it is tried again. */
  INCOMPLETE,
  SUCCEEDED,
  /** Until somebody forgives it or runs it again. */
  FAILED,
  /**
   * It has not ended, and nothing starts it any more unless somebody acts: its job's filters
   * exclude it, or its job is at its end.
   */
  CANCELLED;

  /** The word, lower case. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Whether it stays so unless somebody acts. */
  public boolean isEnd() {
    return this == SUCCEEDED || this == FAILED || this == CANCELLED;
  }

  /**
   * The phase of a task.
   *
   * @param bits as in docs/design/bistro.md#status-bits, those of views included
   * @param attempts starts that came to something since it was last forgiven, or ever
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
    if (jobIsOver || (bits & TaskStatus.AVOIDED) != 0) {
      return CANCELLED;
    }
    // A disabled node may be enabled again: what lies below the bit counts.
    StatusLabel label = StatusLabel.of(bits & ~TaskStatus.DISABLED);
    return switch (label) {
      case UNSTARTED -> PENDING;
      // Where a start came to nothing it is as it was before.
      case NEVER_STARTED -> attempts > 0 ? INCOMPLETE : PENDING;
      default -> INCOMPLETE;
    };
  }
}
