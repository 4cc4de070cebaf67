package io.espalier.core.api;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Why the tasks of a job that are neither running nor ended are not running, each counted once: by
 * what stands in the way of the whole job, else by its own status and what it depends on, else by
 * the topmost node of its path that blocks it, else by the lack of a worker.
 *
 * @param atMillis when they were counted
 * @param counted tasks that were looked at
 * @param total tasks that there are
 * @param sampled not all were looked at; the counts are of those that were
 * @param reasons most tasks first
 */
public record WaitingReasons(
    String job, long atMillis, long counted, long total, boolean sampled, List<Group> reasons) {
  public WaitingReasons {
    reasons = List.copyOf(reasons);
  }

  /** Nothing stands in the way of tasks of this kind. */
  public static final String STARTABLE = "startable";

  /**
   * Tasks with one reason.
   *
   * @param kind {@link Explanation.Kind} in lower case, or {@link #STARTABLE}
   * @param node the one that blocks; null: several, or none does
   * @param resource what is short there
   * @param untilMillis when the first of them may go on, if nothing else is in the way; 0: unknown
   * @param samples some of the tasks' nodes
   */
  public record Group(
      String kind,
      @Nullable String node,
      @Nullable String resource,
      long count,
      String message,
      long untilMillis,
      List<String> samples) {
    public Group {
      samples = List.copyOf(samples);
    }
  }
}
