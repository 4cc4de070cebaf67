package io.espalier.core.api;

import java.util.List;
import java.util.Map;

/**
 * How far a job is on each level of the tree.
 *
 * @param levels from the instance to the level of its tasks
 */
public record JobLevels(String job, long atMillis, List<Level> levels) {
  /** The states, in the order in which they are shown. */
  public static final List<String> STATES =
      List.of("done", "failed", "running", "waiting", "ready", "blocked", "avoided", "disabled");

  public JobLevels {
    levels = List.copyOf(levels);
  }

  /**
   * One level.
   *
   * @param nodes of that level
   * @param states by name of the state: on the job's own level tasks, each in one state; above it
   *     nodes with at least one such task below, so that a node may count in several
   * @param samples node names by state
   */
  public record Level(
      String level, long nodes, Map<String, Long> states, Map<String, List<String>> samples) {}
}
