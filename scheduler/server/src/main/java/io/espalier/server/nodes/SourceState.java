package io.espalier.server.nodes;

import io.espalier.core.problem.Problem;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The state of one node source.
 *
 * @param path of its entry in the configuration
 * @param source name of its kind
 * @param computed whether the source is computed, without external fetches, and so is never
 *     outdated
 * @param goodAt when the source last confirmed its nodes that are in force; null before the first
 *     time
 * @param nodes the number of its nodes in force
 * @param held the mark of the answer that the change guard quarantined; null if there is none
 * @param problems why the latest answer is not in force; empty if it is
 */
public record SourceState(
    String path,
    String source,
    boolean computed,
    @Nullable Instant goodAt,
    long nodes,
    @Nullable String held,
    List<Problem> problems) {
  public SourceState {
    problems = List.copyOf(problems);
  }

  /** Returns true when the nodes of the source are getting outdated. */
  public boolean failing() {
    return !problems.isEmpty();
  }
}
