package io.espalier.core.api.view;

import java.util.List;
import java.util.Map;

/**
 * The progress of a job on each level of the tree.
 *
 * @param levels levels from the instance to the level of its tasks
 */
public record JobLevels(String job, long atMillis, List<Level> levels) {
  /** The states, in display order. */
  public static final List<String> STATES =
      List.of(
          "done",
          "failed",
          "cancelled",
          "running",
          "waiting",
          "ready",
          "blocked",
          "avoided",
          "disabled");

  public JobLevels {
    levels = List.copyOf(levels);
  }

  /**
   * One level.
   *
   * @param nodes number of nodes on that level
   * @param states counts by name of the state: on the job's own level tasks, each in one state;
   *     above it nodes with at least one such task below, so that a node may count in several
   *     states
   * @param samples node names by state
   */
  public record Level(
      String level, long nodes, Map<String, Long> states, Map<String, List<String>> samples) {}
}
