package io.espalier.core.api;

import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.problem.Problem;
import java.util.HashMap;
import java.util.Map;

/**
 * The start times of the current problems. Immutable.
 *
 * @param errors epoch milliseconds by source of the error
 * @param problems epoch milliseconds by text of a configuration problem, without its line
 */
public record ProblemAges(Map<String, Long> errors, Map<String, Long> problems) {
  public static final ProblemAges NONE = new ProblemAges(Map.of(), Map.of());

  public ProblemAges {
    errors = Map.copyOf(errors);
    problems = Map.copyOf(problems);
  }

  /**
   * The ages as of a newer view: new problems start with it, resolved ones are removed. An error
   * retains its age when only its message changes, a problem when only its line does.
   */
  public ProblemAges next(SchedulerView view) {
    if (view.errors().isEmpty() && view.configProblems().isEmpty()) {
      return NONE;
    }
    long now = view.publishedAtMillis();
    Map<String, Long> nextErrors = new HashMap<>();
    view.errors()
        .keySet()
        .forEach(source -> nextErrors.put(source, errors.getOrDefault(source, now)));
    Map<String, Long> nextProblems = new HashMap<>();
    for (Problem problem : view.configProblems()) {
      String key = key(problem);
      nextProblems.put(key, problems.getOrDefault(key, now));
    }
    return nextErrors.equals(errors) && nextProblems.equals(problems)
        ? this
        : new ProblemAges(nextErrors, nextProblems);
  }

  /** Epoch milliseconds; 0 when unknown. */
  public long ofError(String source) {
    return errors.getOrDefault(source, 0L);
  }

  /** Epoch milliseconds; 0 when unknown. */
  public long of(Problem problem) {
    return problems.getOrDefault(key(problem), 0L);
  }

  private static String key(Problem problem) {
    return problem.severity() + " " + problem.path() + " " + problem.message();
  }
}
