package io.espalier.core.config.write;

import io.espalier.core.config.Job;
import io.espalier.core.config.Settings;
import io.espalier.core.config.keys.JobKeys;
import io.espalier.core.config.schema.Names;
import io.espalier.core.json.Json;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Writes jobs in Bistro's form (docs/design/bistro.md#jobs, docs/design/bistro.md#errors-of-jobs):
 * the body of its {@code jobs} query. Inherited values become explicit; {@link Job#original()}
 * contains what the user wrote.
 */
public final class BistroJobWriter {
  /**
   * The order of the keys that jobs had when versions of them were first stored; keys that came
   * later follow in the order of their table.
   */
  private static final List<String> ORDER =
      List.of(
          ("enabled owner level_for_tasks priority config retry backoff"
                  + " kill_orphan_tasks_after_sec task_subprocess kill_subprocess timeout_sec"
                  + " complete_by no_output_timeout_sec log_retention redact reserve_after_sec"
                  + " fail_job_when succeed_job_when queue resources filters"
                  + " level_for_host_placement host_placement max_concurrent start_rate depends_on"
                  + " roles run_only_after_all_nodes_are_done_for create_time modify_time command"
                  + " status_from version_id")
              .split(" "));

  private BistroJobWriter() {}

  /** The job in Bistro's form; parsing it again yields a job with the same form. */
  public static Json.Obj toJson(Job job, Settings settings) {
    Names names = Names.of(settings);
    Job inherited = JobKeys.usual(job.name(), settings.defaults(), List.of());
    Set<String> keys = new LinkedHashSet<>(ORDER);
    keys.addAll(JobKeys.JOB.names());
    Json.Builder out = Json.object();
    keys.forEach(key -> JobKeys.JOB.put(out, key, job, inherited, names));
    Json.Obj errors = errors(job);
    return out.putIfPresent("errors", errors.isEmpty() ? null : errors).build();
  }

  /**
   * The report of the job's errors in Bistro's recursive form, empty when there are none. It
   * contains no warnings, because a job with a report cannot run.
   */
  public static Json.Obj errors(Job job) {
    return BistroErrorReport.of(job);
  }
}
