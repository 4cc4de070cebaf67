package io.espalier.core.config;

import io.espalier.core.json.Json;

/** Writes jobs in Bistro's form (behaviour 2.4 and 2.5): the body of its {@code jobs} query. */
public final class JobExport {
  private JobExport() {}

  /** The job with everything inherited made concrete; re-parses to an equal job. */
  public static Json.Obj toJson(Job job, Settings settings) {
    return job.original().with("level_for_tasks", Json.of(settings.levels().name(job.level())));
  }

  /** The report of the job's errors in Bistro's recursive form; empty when there are none. */
  public static Json.Obj errors(Job job) {
    return job.isValid() ? Json.Obj.EMPTY : job.original();
  }
}
