package io.espalier.core.api;

import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The result of validating a job without saving it.
 *
 * @param problems errors and warnings, with positions in the given text
 * @param effective the job with everything inherited made explicit; null when it has errors
 */
public record JobValidation(List<Problem> problems, Json.@Nullable Obj effective) {
  public JobValidation(List<Problem> problems, Json.@Nullable Obj effective) {
    this.problems = List.copyOf(problems);
    this.effective = effective;
  }

  /** Returns true when the job could be saved. */
  public boolean isValid() {
    return problems.stream().noneMatch(Problem::isError);
  }
}
