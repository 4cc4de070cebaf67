package io.espalier.core.topology;

import io.espalier.core.problem.Problem;
import java.util.List;

/** Thrown when a node source could not deliver its nodes; the last good nodes stay in force. */
public final class NodeSourceException extends Exception {
  private static final long serialVersionUID = 1L;

  private final transient List<Problem> problems;

  public NodeSourceException(List<Problem> problems) {
    super(problems.isEmpty() ? "no reason given" : problems.get(0).message());
    this.problems = List.copyOf(problems);
  }

  public List<Problem> problems() {
    return problems;
  }
}
