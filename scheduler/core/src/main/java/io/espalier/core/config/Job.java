package io.espalier.core.config;

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
 * @param level index of the level of its tasks
 * @param config object that is passed to tasks unchanged
 * @param needs slots per resource, by resource index; length = number of resources
 * @param filters filters by level index; levels without a filter are absent
 * @param dependsOn names of jobs that must be done on the same node
 * @param afterJobs jobs whose tasks must be done, on any nodes
 * @param levelForHostPlacement level whose nodes name the host; empty when not specified
 * @param hostPlacement required host; overrides {@code levelForHostPlacement}; empty string: none
 * @param command argv prefix; empty: the worker command
 * @param killOrphansAfter delay before orphans are killed; empty: never
 * @param timeLimits time limits of each task and of the job
 * @param logs retention and redaction of its tasks' output
 * @param scheduling scheduling options
 * @param retry retry rules that consider progress; empty: {@code backoff} applies
 * @param outcome rules for when the job as a whole has failed or succeeded
 * @param versionId version; -1 when there is none
 * @param createTime epoch seconds, 0 when unknown
 * @param modifyTime epoch seconds, 0 when unknown
 * @param problems errors and warnings of this job
 * @param original the object from which it was parsed, unchanged
 */
public record Job(
    String name,
    String owner,
    boolean enabled,
    int level,
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
    Backoff backoff,
    Optional<Duration> killOrphansAfter,
    SubprocessOptions subprocess,
    KillRequest kill,
    TimeLimits timeLimits,
    LogOptions logs,
    JobScheduling scheduling,
    Optional<ProgressRetryRules> retry,
    OutcomeRules outcome,
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
    return new Job(
        name,
        owner,
        enabled,
        level,
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
        backoff,
        killOrphansAfter,
        subprocess,
        kill,
        timeLimits,
        logs,
        scheduling,
        retry,
        outcome,
        versionId,
        createTime,
        modifyTime,
        newProblems,
        original);
  }

  /** The policy for retrying its tasks. */
  public RetryPolicy retrying() {
    return new RetryPolicy(backoff, retry);
  }

  public boolean isValid() {
    return problems.stream().noneMatch(Problem::isError);
  }

  /** Returns true when the job is enabled and free of errors. */
  public boolean canRun() {
    return enabled && isValid();
  }
}
