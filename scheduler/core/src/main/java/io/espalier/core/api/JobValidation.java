package io.espalier.core.api;

import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What would be said of a job if it were saved.
 *
 * @param problems errors and warnings; places are those of the text that was given
 * @param effective the job with everything inherited made concrete; null when it has errors
 */
public record JobValidation(List<Problem> problems, Json.@Nullable Obj effective) {
  public JobValidation(List<Problem> problems, Json.@Nullable Obj effective) {
    this.problems = List.copyOf(problems);
    this.effective = effective;
  }

  /** Whether it could be saved. */
  public boolean isValid() {
    return problems.stream().noneMatch(Problem::isError);
  }
}
