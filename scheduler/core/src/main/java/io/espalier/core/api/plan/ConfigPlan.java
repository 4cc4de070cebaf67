package io.espalier.core.api.plan;

import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What would happen if a configuration were applied. Nothing has changed.
 *
 * @param version of the configuration at its source, on which the plan is based
 * @param problems of the configuration that would result; with an error it cannot be applied
 * @param settings differences of the settings from those in force
 * @param jobs jobs that are added, changed or removed, by name
 * @param impact what it does to tasks and nodes; null: this cannot be told, see {@code uncounted}
 * @param forecast when jobs end and what they use; null where there is no impact
 * @param uncounted why there is no impact; empty: there is one
 * @param consents what must be consented to for applying it, with the numbers of this plan
 * @param token proof of this plan for applying it; empty: it cannot be applied
 * @param untilMillis until when the token is good, epoch milliseconds; 0 without one
 */
public record ConfigPlan(
    String version,
    List<Problem> problems,
    List<Difference> settings,
    List<JobChange> jobs,
    @Nullable UpdateImpact impact,
    @Nullable PlanForecast forecast,
    String uncounted,
    Map<String, Long> consents,
    String token,
    long untilMillis) {
  public ConfigPlan {
    problems = List.copyOf(problems);
    settings = List.copyOf(settings);
    jobs = List.copyOf(jobs);
  }

  /** Returns whether the configuration has no errors. */
  public boolean isValid() {
    return problems.stream().noneMatch(Problem::isError);
  }

  /**
   * A value that differs.
   *
   * @param path keys from the settings to the value
   * @param before null: there was none
   * @param after null: there is none
   */
  public record Difference(List<String> path, @Nullable Json before, @Nullable Json after) {
    public Difference {
      path = List.copyOf(path);
    }
  }

  /**
   * A job that differs.
   *
   * @param kind what happens to it
   * @param keys its keys with other values
   * @param renamedFrom a removed job that is the same but for its name; empty: there is none
   */
  public record JobChange(String job, Kind kind, List<String> keys, String renamedFrom) {
    public JobChange {
      keys = List.copyOf(keys);
    }
  }

  /** What happens to a job. */
  public enum Kind {
    ADDED,
    CHANGED,
    REMOVED
  }
}
