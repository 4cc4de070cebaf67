package io.espalier.core.config.write;

import io.espalier.core.config.Backoff;
import io.espalier.core.config.Job;
import io.espalier.core.config.JobFilter;
import io.espalier.core.config.KillRequest;
import io.espalier.core.config.Levels;
import io.espalier.core.config.ProgressRetryRules;
import io.espalier.core.config.Resource;
import io.espalier.core.config.ResourceCatalog;
import io.espalier.core.config.RetryPolicy;
import io.espalier.core.config.Settings;
import io.espalier.core.config.StartRate;
import io.espalier.core.config.StatusSource;
import io.espalier.core.config.SubprocessOptions;
import io.espalier.core.config.SubprocessOptions.Cgroups;
import io.espalier.core.config.WholeJobDependency;
import io.espalier.core.config.read.WholeJobDependencyParser;
import io.espalier.core.json.Json;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Writes jobs in Bistro's form (docs/design/bistro.md#jobs, docs/design/bistro.md#errors-of-jobs):
 * the body of its {@code jobs} query. Inherited values become explicit; {@link Job#original()}
 * contains what the user wrote.
 */
public final class BistroJobWriter {

  private BistroJobWriter() {}

  /** The job in Bistro's form; parsing it again yields a job with the same form. */
  public static Json.Obj toJson(Job job, Settings settings) {
    Levels levels = settings.levels();
    Settings.JobDefaults inherited = settings.defaults();
    Json.Builder out =
        Json.object()
            .put("enabled", job.enabled())
            .put("owner", job.owner())
            .put("level_for_tasks", levels.name(job.level()))
            .put("priority", job.priority())
            .put("config", job.config())
            .put(job.retry().isPresent() ? "retry" : "backoff", retrying(job.retrying()))
            .put("kill_orphan_tasks_after_sec", killOrphans(job.killOrphansAfter()))
            .put("task_subprocess", subprocess(job.subprocess(), inherited.subprocess()))
            .put("kill_subprocess", kill(job.kill()));
    OptionsExport.putTimeLimits(out, job.timeLimits(), inherited.timeLimits());
    OptionsExport.putLogs(out, job.logs(), inherited.logs());
    OptionsExport.putReserveAfter(out, job.scheduling(), inherited.scheduling());
    OutcomeExport.put(out, job.outcome(), inherited.outcome());
    if (!job.scheduling().queue().equals(inherited.scheduling().queue())) {
      out.put("queue", job.scheduling().queue());
    }
    out.putIfPresent("resources", nonEmpty(resources(job, settings.resources())))
        .putIfPresent("filters", nonEmpty(filters(job, levels)));
    job.levelForHostPlacement()
        .ifPresent(level -> out.put("level_for_host_placement", levels.name(level)));
    if (!job.hostPlacement().isEmpty()) {
      out.put("host_placement", job.hostPlacement());
    }
    if (job.scheduling().maxConcurrent() > 0) {
      out.put("max_concurrent", job.scheduling().maxConcurrent());
    }
    job.scheduling().startRate().ifPresent(rate -> out.put("start_rate", startRate(rate)));
    if (!job.dependsOn().isEmpty()) {
      out.put("depends_on", Json.strings(job.dependsOn()));
    }
    if (!job.scheduling().roles().isEmpty()) {
      out.put("roles", Json.strings(job.scheduling().roles()));
    }
    if (!job.afterJobs().isEmpty()) {
      out.put(WholeJobDependencyParser.KEY, afterJobs(job.afterJobs()));
    }
    if (job.createTime() > 0) {
      out.put("create_time", job.createTime());
    }
    if (job.modifyTime() > 0) {
      out.put("modify_time", job.modifyTime());
    }
    if (!job.command().isEmpty()) {
      out.put("command", Json.strings(job.command()));
    }
    if (job.statusFrom() != StatusSource.STATUS_LINE) {
      out.put("status_from", job.statusFrom().label());
    }
    if (job.versionId() >= 0) {
      out.put("version_id", job.versionId());
    }
    return out.putIfPresent("errors", nonEmpty(errors(job))).build();
  }

  /**
   * The report of the job's errors in Bistro's recursive form, empty when there are none. It
   * contains no warnings, because a job with a report cannot run.
   */
  public static Json.Obj errors(Job job) {
    return BistroErrorReport.of(job);
  }

  private static Json.Arr afterJobs(List<WholeJobDependency> jobs) {
    List<Json> items = new ArrayList<>();
    for (WholeJobDependency job : jobs) {
      if (job.equals(WholeJobDependency.of(job.job()))) {
        items.add(Json.of(job.job()));
        continue;
      }
      Json.Builder item = Json.object().put("job", job.job());
      item.put("done_percent", job.donePercent());
      if (!job.tags().isEmpty()) {
        item.put("tags", Json.strings(job.tags()));
      }
      items.add(item.build());
    }
    return new Json.Arr(items);
  }

  /** {@code backoff}. */
  public static Json.Arr backoff(Backoff backoff) {
    List<Json> items = new ArrayList<>();
    backoff.seconds().forEach(second -> items.add(Json.of(second)));
    items.add(Json.of(backoff.repeats() ? "repeat" : "fail"));
    return new Json.Arr(items);
  }

  /** {@code retry} if there is one, otherwise {@code backoff}. */
  public static Json retrying(RetryPolicy retrying) {
    if (retrying.rules().isEmpty()) {
      return backoff(retrying.backoff());
    }
    ProgressRetryRules rules = retrying.rules().get();
    return Json.object()
        .put("max_successive_no_progress", rules.maxSuccessiveNoProgress())
        .put("max_total_no_progress", rules.maxTotalNoProgress())
        .put("max_total_progress", rules.maxTotalProgress())
        .put(
            "no_progress_backoff_sec",
            new Json.Arr(
                rules.noProgressBackoffSeconds().stream()
                    .<Json>map(wait -> Json.of(wait))
                    .toList()))
        .put("progress_backoff_sec", rules.progressBackoffSeconds())
        .build();
  }

  /** {@code kill_orphan_tasks_after_sec}: seconds, or false for never. */
  public static Json killOrphans(Optional<Duration> after) {
    return after.isPresent() ? Json.of(after.get().toMillis() / 1000.0) : Json.Bool.FALSE;
  }

  /**
   * {@code task_subprocess}: all keys of Bistro, and those of Espalier that differ from the
   * default.
   */
  public static Json.Obj subprocess(SubprocessOptions options) {
    return subprocess(options, SubprocessOptions.DEFAULT);
  }

  private static Json.Obj subprocess(SubprocessOptions options, SubprocessOptions inherited) {
    Cgroups cgroups = options.cgroups();
    Json.Builder out =
        Json.object()
            .put("poll_ms", options.pollMillis())
            .put("max_log_lines_per_poll_interval", options.maxLogLinesPerPollInterval())
            .put("parent_death_signal", options.parentDeathSignal())
            .put("process_group_leader", options.processGroupLeader())
            .put("use_canary_pipe", options.useCanaryPipe())
            .put(
                "cgroups",
                Json.object()
                    .put("root", cgroups.root())
                    .put("slice", cgroups.slice())
                    .put("subsystems", Json.strings(cgroups.subsystems()))
                    .put("kill_without_freezer", cgroups.killWithoutFreezer())
                    .build());
    OptionsExport.putAttributes(out, options.attributes(), inherited.attributes());
    OptionsExport.putVariables(out, options.variables(), inherited.variables());
    OptionsExport.putLimits(out, options.limits(), inherited.limits());
    return out.build();
  }

  /** {@code kill_subprocess}. */
  public static Json.Obj kill(KillRequest kill) {
    return Json.object()
        .put("method", kill.method().label())
        .put("kill_wait_ms", kill.waitMillis())
        .build();
  }

  /** {@code start_rate}. */
  public static Json.Obj startRate(StartRate rate) {
    return Json.object().put("per_second", rate.perSecond()).put("burst", rate.burst()).build();
  }

  private static Json.Obj resources(Job job, ResourceCatalog catalog) {
    Json.Builder out = Json.object();
    for (Resource resource : catalog.all()) {
      out.put(resource.name(), job.needs().get(resource.index()));
    }
    return out.build();
  }

  private static Json.Obj filters(Job job, Levels levels) {
    Json.Builder out = Json.object();
    for (Map.Entry<Integer, JobFilter> filter : new TreeMap<>(job.filters()).entrySet()) {
      out.put(levels.name(filter.getKey()), filter(filter.getValue()));
    }
    return out.build();
  }

  /** One level's filter; contains only actual restrictions. */
  public static Json.Obj filter(JobFilter filter) {
    Json.Builder out = Json.object();
    putNames(out, "whitelist", filter.whitelist());
    if (filter.whitelistRegex() != null) {
      out.put("whitelist_regex", filter.whitelistRegex().pattern());
    }
    putNames(out, "blacklist", filter.blacklist());
    if (filter.blacklistRegex() != null) {
      out.put("blacklist_regex", filter.blacklistRegex().pattern());
    }
    putNames(out, "tag_whitelist", filter.tagWhitelist());
    if (filter.fraction() < 1) {
      out.put("fraction_of_nodes", filter.fraction());
    }
    return out.build();
  }

  private static void putNames(Json.Builder out, String key, Set<String> names) {
    if (!names.isEmpty()) {
      out.put(key, Json.strings(new TreeSet<>(names)));
    }
  }

  private static Json.@Nullable Obj nonEmpty(Json.Obj object) {
    return object.isEmpty() ? null : object;
  }
}
