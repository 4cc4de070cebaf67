package io.espalier.server.nodes;

import io.espalier.core.problem.Problem;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How one node source is doing.
 *
 * @param path of its entry in the configuration
 * @param source name of its kind
 * @param computed whether it asks nothing outside, and so is never old
 * @param goodAt when it last confirmed the nodes of it that are in force; null before the first
 * @param nodes how many these are
 * @param held the mark of an answer that the change guard holds; null if there is none
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

  /** Whether its nodes grow old. */
  public boolean failing() {
    return !problems.isEmpty();
  }
}
