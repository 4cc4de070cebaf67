package io.espalier.core.api.view;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Why those tasks of a job that are neither running nor ended do not run. Each task is counted
 * once: by what blocks the whole job, otherwise by its own status and dependencies, otherwise by
 * the topmost blocking node of its path, otherwise by the lack of a worker.
 *
 * @param atMillis time of the counts
 * @param counted number of examined tasks
 * @param total number of all such tasks
 * @param sampled true when not all were examined; the counts cover only the examined ones
 * @param reasons reasons with the most tasks first
 */
public record WaitingReasons(
    String job, long atMillis, long counted, long total, boolean sampled, List<Group> reasons) {
  public WaitingReasons {
    reasons = List.copyOf(reasons);
  }

  /** The kind for tasks that nothing keeps from starting. */
  public static final String STARTABLE = "startable";

  /** All kinds: {@link #STARTABLE}, and {@link Explanation.Kind} in lower case. */
  public static final List<String> KINDS =
      Stream.concat(
              Stream.of(STARTABLE),
              Arrays.stream(Explanation.Kind.values())
                  .map(kind -> kind.name().toLowerCase(Locale.ROOT)))
          .toList();

  /**
   * Tasks with the same reason.
   *
   * @param kind {@link Explanation.Kind} in lower case, or {@link #STARTABLE}
   * @param node the blocking node; null: several, or none
   * @param resource the resource that is exhausted there
   * @param never whether the tasks need more than the limits of the blocking nodes, so that they
   *     can never start while these stay
   * @param untilMillis earliest time at which one of them may continue, if nothing else blocks it;
   *     0: unknown
   * @param samples some of the tasks' nodes
   */
  public record Group(
      String kind,
      @Nullable String node,
      @Nullable String resource,
      long count,
      String message,
      boolean never,
      long untilMillis,
      List<String> samples) {
    public Group {
      samples = List.copyOf(samples);
    }
  }
}
