package io.espalier.core.config;

import io.espalier.core.config.label.JobInfo;
import io.espalier.core.config.task.Backoff;
import io.espalier.core.config.task.CallSpec;
import io.espalier.core.config.task.KillRequest;
import io.espalier.core.config.task.LogOptions;
import io.espalier.core.config.task.OutcomeRules;
import io.espalier.core.config.task.Program;
import io.espalier.core.config.task.ProgressRetryRules;
import io.espalier.core.config.task.RetryPolicy;
import io.espalier.core.config.task.StatusSource;
import io.espalier.core.config.task.SubprocessOptions;
import io.espalier.core.config.task.TimeLimits;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A job, {@code bistro_job->NAME}, with everything inherited resolved (docs/design/bistro.md#jobs).
 * A job with errors retains its valid parts, stays visible and cannot run.
 *
 * @param info what it tells people about itself
 * @param set name of the set of jobs to which it belongs; empty: none
 * @param config object that is passed to tasks unchanged
 * @param needs slots per resource, by resource index; length = number of resources
 * @param filters filters by level index; levels without a filter are absent
 * @param dependsOn names of jobs that must be done on the same node
 * @param afterJobs jobs whose tasks must be done, on any nodes
 * @param levelForHostPlacement level whose nodes name the host; empty when not specified
 * @param hostPlacement required host; overrides {@code levelForHostPlacement}; empty string: none
 * @param command argv prefix; empty: the worker command
 * @param call how its tasks call a service; empty: they are processes
 * @param program the steps of its tasks; {@link Program#NONE}: its command or call is the only one
 * @param options its options; their defaults are in the settings
 * @param versionId version; -1 when there is none
 * @param createTime epoch seconds, 0 when unknown
 * @param modifyTime epoch seconds, 0 when unknown
 * @param problems errors and warnings of this job
 * @param original the object from which it was parsed, unchanged
 */
public record Job(
    String name,
    String owner,
    JobInfo info,
    String set,
    boolean enabled,
    double priority,
    Json.Obj config,
    List<Integer> needs,
    Map<Integer, JobFilter> filters,
    List<String> dependsOn,
    List<WholeJobDependency> afterJobs,
    Optional<Integer> levelForHostPlacement,
    String hostPlacement,
    List<String> command,
    StatusSource statusFrom,
    Optional<CallSpec> call,
    Program program,
    JobOptions options,
    long versionId,
    long createTime,
    long modifyTime,
    List<Problem> problems,
    Json.Obj original) {
  public Job {
    needs = List.copyOf(needs);
    filters = Map.copyOf(filters);
    dependsOn = List.copyOf(dependsOn);
    afterJobs = List.copyOf(afterJobs);
    command = List.copyOf(command);
    problems = List.copyOf(problems);
  }

  /** A copy with other problems. */
  public Job withProblems(List<Problem> newProblems) {
    return parsedFrom(original, newProblems);
  }

  /** A copy with the object from which it was parsed, and its problems. */
  public Job parsedFrom(Json.Obj newOriginal, List<Problem> newProblems) {
    return new Job(
        name,
        owner,
        info,
        set,
        enabled,
        priority,
        config,
        needs,
        filters,
        dependsOn,
        afterJobs,
        levelForHostPlacement,
        hostPlacement,
        command,
        statusFrom,
        call,
        program,
        options,
        versionId,
        createTime,
        modifyTime,
        newProblems,
        newOriginal);
  }

  /** The index of the level of its tasks. */
  public int level() {
    return options.level();
  }

  public Backoff backoff() {
    return options.backoff();
  }

  /** The delay before orphans are killed; empty: never. */
  public Optional<Duration> killOrphansAfter() {
    return options.killOrphansAfter();
  }

  public SubprocessOptions subprocess() {
    return options.subprocess();
  }

  public KillRequest kill() {
    return options.kill();
  }

  public TimeLimits timeLimits() {
    return options.timeLimits();
  }

  public LogOptions logs() {
    return options.logs();
  }

  public JobScheduling scheduling() {
    return options.scheduling();
  }

  /** The retry rules that consider progress; empty: {@link #backoff} applies. */
  public Optional<ProgressRetryRules> retry() {
    return options.retry();
  }

  public OutcomeRules outcome() {
    return options.outcome();
  }

  /** The policy for retrying its tasks. */
  public RetryPolicy retrying() {
    return options.retrying();
  }

  public boolean isValid() {
    return problems.stream().noneMatch(Problem::isError);
  }

  /** Returns true when the job is enabled and free of errors. */
  public boolean canRun() {
    return enabled && isValid();
  }
}
