package io.espalier.cli;

import io.espalier.cli.term.Printable;
import io.espalier.core.json.Position;
import io.espalier.core.problem.Problem;
import io.espalier.server.config.ConfigSources;

/** Prints problems in the form of compilers. */
final class ProblemLines {
  private ProblemLines() {}

  /**
   * Returns {@code FILE:LINE:COLUMN: error: PATH: message (value: ...); hint}.
   *
   * @param config URI of the configuration, for problems without a file
   */
  static String line(Problem problem, String config) {
    StringBuilder out = new StringBuilder();
    Position at = problem.at();
    // A problem without a file belongs to the whole configuration.
    out.append(at.file().isEmpty() ? ConfigSources.shown(config) + prefixed(at) : at.toString());
    out.append(problem.isError() ? ": error: " : ": warning: ");
    if (!problem.path().isEmpty()) {
      out.append(problem.shownPath()).append(": ");
    }
    out.append(problem.message());
    if (problem.value() != null) {
      out.append(" (value: ").append(problem.value()).append(')');
    }
    if (problem.hint() != null) {
      out.append("; ").append(problem.hint());
    }
    return Printable.text(out.toString());
  }

  private static String prefixed(Position at) {
    return at.line() == 0 ? "" : ":" + at;
  }
}
