package io.espalier.core.config.read;

import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The objects of a configuration and the keys known in each: the single list that the parser, its
 * "did you mean" and the test of the JSON Schema share.
 *
 * <p>Objects whose keys are names (of levels, resources, jobs, workers) are not listed.
 */
@SuppressWarnings("ImmutableEnumChecker") // the collections are never changed
public enum ConfigSection {
  /** {@code bistro_settings}. */
  SETTINGS(
      List.of(
          "enabled",
          "working_wait",
          "idle_wait",
          "scheduler",
          "remote_worker_selector",
          "queues",
          "priority_half_life_sec",
          "backoff",
          "retry",
          "nodes",
          "resources",
          "level_for_tasks",
          "queue",
          "worker_resources_override",
          "node_resources_override",
          "physical_resources",
          "start_rates",
          "kill_orphan_tasks_after_sec",
          "task_subprocess",
          "kill_subprocess",
          "timeout_sec",
          "no_output_timeout_sec",
          "reserve_after_sec",
          "fail_job_when",
          "succeed_job_when",
          "log_retention",
          "redact",
          "CAUTION_exit_initial_wait_before_timestamp"),
      Map.of(
          "worker_resources_overrides", "worker_resources_override",
          "kill_request", "kill_subprocess"),
      Map.of(
          // Belongs into "nodes"; Bistro's documentation puts it here.
          "node_order", "write it inside \"nodes\"",
          "node_source", "list the sources in \"nodes.node_sources\"",
          "node_source_prefs", "list the sources in \"nodes.node_sources\"")),

  /** {@code bistro_settings.nodes}. */
  NODES(
      List.of("levels", "node_sources", "node_order"),
      Map.of(),
      Map.of(
          "node_source", "list the sources in \"node_sources\"",
          "node_source_prefs", "list the sources in \"node_sources\"")),

  /** An entry of {@code bistro_settings.nodes.node_sources}. */
  NODE_SOURCE(List.of("source", "prefs", "change_guard", "allow_change")),

  /** {@code change_guard} of a node source. */
  CHANGE_GUARD(
      List.of(
          "enabled", "removed_percent", "added_percent", "reparented_percent", "confirmations")),

  /** A resource of a level in {@code bistro_settings.resources}. */
  RESOURCE(List.of("default", "limit", "weight", "kill_over_limit_after_sec")),

  /** An entry of {@code bistro_settings.node_resources_override}. */
  NODE_LIMIT(List.of("level", "name", "tag", "regex", "attribute", "value", "resource", "limits")),

  /** {@code bistro_settings.physical_resources}. */
  PHYSICAL_RESOURCES(List.of("ram_mb", "cpu_core", "gpu_card")),

  /** One physical resource. */
  PHYSICAL_RESOURCE(
      List.of("logical_resource", "multiply_logical_by", "enforcement", "physical_reserve_amount")),

  /** {@code task_subprocess} of the settings or a job. */
  TASK_SUBPROCESS(
      List.of(
          "poll_ms",
          "max_log_lines_per_poll_interval",
          "parent_death_signal",
          "process_group_leader",
          "use_canary_pipe",
          "cgroups",
          "umask",
          "nice",
          "ionice",
          "run_as",
          "pass_environment",
          "environment",
          "cgroup_limits")),

  /** {@code task_subprocess.cgroups}. */
  CGROUPS(List.of("root", "slice", "subsystems", "kill_without_freezer")),

  /** {@code task_subprocess.ionice}. */
  IONICE(List.of("class", "level")),

  /** {@code task_subprocess.cgroup_limits}. */
  CGROUP_LIMITS(
      List.of(
          "memory_mb",
          "memory_swap_mb",
          "cpu_weight",
          "cpu_quota_percent",
          "pids_max",
          "io_weight",
          "enforce")),

  /** {@code start_rate} of a job, or an entry of {@code start_rates} of the settings. */
  START_RATE(List.of("per_second", "burst")),

  /** {@code log_retention} of the settings or a job. */
  LOG_RETENTION(List.of("days", "max_mb")),

  /** {@code retry} of the settings or a job. */
  RETRY(
      List.of(
          "max_successive_no_progress",
          "max_total_no_progress",
          "max_total_progress",
          "no_progress_backoff_sec",
          "progress_backoff_sec")),

  /** {@code kill_subprocess} of the settings or a job. */
  KILL_SUBPROCESS(List.of("method", "kill_wait_ms")),

  /** {@code bistro_job->NAME}. */
  JOB(
      List.of(
          "owner",
          "enabled",
          "command",
          "status_from",
          "priority",
          "queue",
          "config",
          "resources",
          "filters",
          "depends_on",
          "run_only_after_all_nodes_are_done_for",
          "roles",
          "level_for_tasks",
          "level_for_host_placement",
          "host_placement",
          "max_concurrent",
          "start_rate",
          "backoff",
          "retry",
          "kill_orphan_tasks_after_sec",
          "task_subprocess",
          "kill_subprocess",
          "timeout_sec",
          "complete_by",
          "no_output_timeout_sec",
          "reserve_after_sec",
          "fail_job_when",
          "succeed_job_when",
          "log_retention",
          "redact",
          "create_time",
          "modify_time",
          "version_id",
          "errors"),
      Map.of("kill_request", "kill_subprocess"),
      Map.of()),

  /** One queue in {@code bistro_settings.queues}. */
  QUEUE(List.of("priority_factor", "weight", "max_slots", "max_fraction")),

  /** One job in {@code run_only_after_all_nodes_are_done_for}. */
  WHOLE_JOB(List.of("job", "done_percent", "tags")),

  /** {@code fail_job_when} of the settings or a job. */
  FAIL_JOB_WHEN(List.of("failed_tasks", "failed_pct", "min_samples", "window")),

  /** {@code succeed_job_when} of the settings or a job. */
  SUCCEED_JOB_WHEN(List.of("done_pct")),

  /** A level's filter in {@code filters} of a job. */
  FILTER(
      List.of(
          "whitelist",
          "whitelist_regex",
          "blacklist",
          "blacklist_regex",
          "tag_whitelist",
          "fraction_of_nodes"));

  private final Set<String> keys;
  private final Map<String, String> spellings;
  private final Map<String, String> obsolete;

  ConfigSection(List<String> keys) {
    this(keys, Map.of(), Map.of());
  }

  ConfigSection(List<String> keys, Map<String, String> spellings, Map<String, String> obsolete) {
    this.keys = new LinkedHashSet<>(keys);
    this.spellings = spellings;
    this.obsolete = obsolete;
  }

  /** The known keys, in the order of the documentation. */
  public Set<String> keys() {
    return Collections.unmodifiableSet(keys);
  }

  /** Other spellings that are accepted with a warning, each with its key. */
  public Map<String, String> spellings() {
    return spellings;
  }

  /** Obsolete keys, which cause a warning, each with its replacement. */
  public Map<String, String> obsolete() {
    return obsolete;
  }
}
