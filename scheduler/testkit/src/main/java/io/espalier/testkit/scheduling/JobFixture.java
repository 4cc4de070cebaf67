package io.espalier.testkit.scheduling;

import io.espalier.core.config.Job;
import io.espalier.core.config.JobFilter;
import io.espalier.core.config.JobOptions;
import io.espalier.core.config.JobScheduling;
import io.espalier.core.config.Levels;
import io.espalier.core.config.Resource;
import io.espalier.core.config.ResourceCatalog;
import io.espalier.core.config.StartRate;
import io.espalier.core.config.WholeJobDependency;
import io.espalier.core.config.label.JobInfo;
import io.espalier.core.config.task.Backoff;
import io.espalier.core.config.task.BatchSpec;
import io.espalier.core.config.task.KillRequest;
import io.espalier.core.config.task.LogOptions;
import io.espalier.core.config.task.OutcomeRules;
import io.espalier.core.config.task.Program;
import io.espalier.core.config.task.ProgressRetryRules;
import io.espalier.core.config.task.StatusSource;
import io.espalier.core.config.task.SubprocessOptions;
import io.espalier.core.config.task.TimeLimits;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A builder of a job. Every method modifies and returns it. */
public final class JobFixture {
  private final String name;
  private boolean enabled = true;
  private boolean valid = true;
  private String level = "";
  private double priority = 1;
  private final Map<String, Integer> needs = new HashMap<>();
  private final Map<String, JobFilter> filters = new HashMap<>();
  private List<String> dependsOn = List.of();
  private List<WholeJobDependency> afterJobs = List.of();
  private Backoff backoff = Backoff.DEFAULT;
  private TimeLimits limits = TimeLimits.NONE;
  private JobScheduling scheduling = JobScheduling.DEFAULT;
  private Optional<ProgressRetryRules> retry = Optional.empty();
  private OutcomeRules outcome = OutcomeRules.DEFAULT;
  private String host = "";
  private String hostLevel = "";
  private long createTime;
  private Program program = Program.NONE;

  public JobFixture(String name) {
    this.name = name;
  }

  public JobFixture disabled() {
    enabled = false;
    return this;
  }

  public JobFixture enabled(boolean on) {
    enabled = on;
    return this;
  }

  /** Adds an error to its configuration. */
  public JobFixture invalid() {
    valid = false;
    return this;
  }

  /** Sets the level of its tasks; the default is the lowest. */
  public JobFixture level(String newLevel) {
    level = newLevel;
    return this;
  }

  public JobFixture priority(double newPriority) {
    priority = newPriority;
    return this;
  }

  public JobFixture needs(String resource, int slots) {
    needs.put(resource, slots);
    return this;
  }

  public JobFixture filter(String ofLevel, JobFilter filter) {
    filters.put(ofLevel, filter);
    return this;
  }

  /** Restricts it to these names on a level. */
  public JobFixture only(String ofLevel, String... names) {
    return filter(ofLevel, new JobFilter(Set.of(names), null, Set.of(), null, Set.of(), 1));
  }

  public JobFixture backoff(Backoff newBackoff) {
    backoff = newBackoff;
    return this;
  }

  public JobFixture program(Program newProgram) {
    program = newProgram;
    return this;
  }

  public JobFixture limits(TimeLimits newLimits) {
    limits = newLimits;
    return this;
  }

  public JobFixture dependsOn(String... jobs) {
    dependsOn = List.of(jobs);
    return this;
  }

  /** Makes it wait for these jobs as a whole. */
  public JobFixture after(WholeJobDependency... jobs) {
    afterJobs = List.of(jobs);
    return this;
  }

  /** Sets how long a task waits for slots until it gets a reservation; empty: never. */
  public JobFixture reserveAfter(Optional<Duration> wait) {
    scheduling = scheduling.with(s -> s.reserveAfter(wait));
    return this;
  }

  /** Sets its scheduling options. */
  public JobFixture scheduling(JobScheduling itsScheduling) {
    scheduling = itsScheduling;
    return this;
  }

  /** Sets the maximum number of running tasks; 0: unlimited. */
  public JobFixture maxConcurrent(int most) {
    scheduling = scheduling.with(s -> s.maxConcurrent(most));
    return this;
  }

  /** Lets one process run several of its tasks. */
  public JobFixture batch(BatchSpec batch) {
    scheduling = scheduling.with(s -> s.batch(Optional.of(batch)));
    return this;
  }

  /** Sets how often its tasks may start. */
  public JobFixture startRate(StartRate rate) {
    scheduling = scheduling.with(s -> s.startRate(Optional.of(rate)));
    return this;
  }

  /** Sets its queue. */
  public JobFixture queue(String queue) {
    return scheduling(scheduling.with(s -> s.queue(queue)));
  }

  /** Sets the roles of places that it may use. */
  public JobFixture roles(String... roles) {
    scheduling = scheduling.with(s -> s.roles(List.of(roles)));
    return this;
  }

  /** Sets retries that depend on progress. */
  public JobFixture retry(ProgressRetryRules rules) {
    retry = Optional.of(rules);
    return this;
  }

  /** Sets when it has failed or succeeded as a whole. */
  public JobFixture outcome(OutcomeRules rules) {
    outcome = rules;
    return this;
  }

  /** Places its tasks on this host. */
  public JobFixture host(String name) {
    host = name;
    return this;
  }

  /** Places its tasks on the host named by their node on this level. */
  public JobFixture hostOfLevel(String ofLevel) {
    hostLevel = ofLevel;
    return this;
  }

  /** Sets its creation time in epoch seconds. */
  public JobFixture created(long epochSeconds) {
    createTime = epochSeconds;
    return this;
  }

  Job build(Levels levels, ResourceCatalog catalog) {
    List<Integer> slots = new ArrayList<>();
    for (Resource resource : catalog.all()) {
      slots.add(needs.getOrDefault(resource.name(), resource.defaultNeed()));
    }
    Map<Integer, JobFilter> byLevel = new HashMap<>();
    filters.forEach((l, filter) -> byLevel.put(levels.find(l), filter));
    return new Job(
        name,
        "tester",
        JobInfo.NONE,
        "",
        enabled,
        priority,
        Json.Obj.EMPTY,
        slots,
        byLevel,
        dependsOn,
        afterJobs,
        levels.find(hostLevel) < 0 ? Optional.empty() : Optional.of(levels.find(hostLevel)),
        host,
        List.of(),
        StatusSource.STATUS_LINE,
        Optional.empty(),
        program,
        new JobOptions(
            backoff,
            level.isEmpty() ? levels.bottom() : levels.find(level),
            Optional.empty(),
            SubprocessOptions.DEFAULT,
            KillRequest.DEFAULT,
            limits,
            LogOptions.DEFAULT,
            scheduling,
            retry,
            outcome),
        -1,
        createTime,
        0,
        valid ? List.of() : List.of(Problem.error("bistro_job->" + name, "broken on purpose")),
        Json.Obj.EMPTY);
  }
}
