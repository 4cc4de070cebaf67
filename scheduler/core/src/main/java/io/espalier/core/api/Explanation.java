package io.espalier.core.api;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Why a task is not running: every condition that fails, decided by the same code that starts
 * tasks.
 *
 * @param startable nothing stands in its way; it starts in the next round that reaches it
 * @param status the task's status as a label, such as {@code unstarted} or {@code error_backoff}
 * @param reasons empty if and only if {@code startable}
 */
public record Explanation(
    String job, String node, boolean startable, String status, List<Reason> reasons) {
  public Explanation {
    reasons = List.copyOf(reasons);
  }

  /** What can stand in a task's way. */
  public enum Kind {
    JOB_DISABLED,
    JOB_INVALID,
    JOB_PAUSED,
    /** The job's {@code complete_by} is over. */
    DEADLINE,
    SCHEDULER_DISABLED,
    ALREADY_RUNNING,
    DONE,
    FAILED,
    BACKOFF,
    DEPENDENCY,
    /** Whole jobs must be done first. */
    JOB_DEPENDENCY,
    NODE_DISABLED,
    FILTERED,
    RESOURCE,
    NO_WORKER
  }

  /**
   * One failing condition.
   *
   * @param node where on the path it fails; absent when it is not about a node
   * @param resource for {@code RESOURCE}: which one
   * @param need slots the job needs
   * @param free slots left, negative when over-committed
   * @param limit slots in all
   * @param untilMillis when it is known to end by itself; 0: unknown
   * @param message a sentence for people
   */
  public record Reason(
      Kind kind,
      @Nullable String node,
      @Nullable String resource,
      int need,
      int free,
      int limit,
      long untilMillis,
      String message) {}
}
