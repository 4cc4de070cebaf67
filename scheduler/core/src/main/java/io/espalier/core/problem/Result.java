package io.espalier.core.problem;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A value together with all problems found while producing it.
 *
 * @param value absent when errors left nothing usable
 * @param problems errors and warnings, in document order
 */
public record Result<T>(@Nullable T value, List<Problem> problems) {
  public Result {
    problems = List.copyOf(problems);
  }

  public boolean hasErrors() {
    return problems.stream().anyMatch(Problem::isError);
  }
}
