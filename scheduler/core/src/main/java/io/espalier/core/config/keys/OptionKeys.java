package io.espalier.core.config.keys;

import static io.espalier.core.config.schema.ValueType.list;
import static io.espalier.core.config.schema.ValueType.orFalse;
import static io.espalier.core.config.schema.ValueType.seconds;
import static io.espalier.core.config.schema.ValueType.text;

import io.espalier.core.config.JobOptions;
import io.espalier.core.config.JobScheduling;
import io.espalier.core.config.JobScheduling.AtWindowEnd;
import io.espalier.core.config.JobScheduling.Quarantining;
import io.espalier.core.config.RoleFilter;
import io.espalier.core.config.StartRate;
import io.espalier.core.config.schema.ConfigObject;
import io.espalier.core.config.schema.ConfigValue;
import io.espalier.core.config.schema.Key;
import io.espalier.core.config.schema.Section;
import io.espalier.core.config.schema.ValueType;
import io.espalier.core.config.task.Backoff;
import io.espalier.core.config.task.KillRequest;
import io.espalier.core.config.task.LogOptions;
import io.espalier.core.config.task.OutcomeRules;
import io.espalier.core.config.task.ProgressRetryRules;
import io.espalier.core.config.task.SubprocessOptions;
import io.espalier.core.config.task.TimeLimits;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Suggestions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;

/** The options that a job inherits from the settings, and those of one job only. */
public final class OptionKeys extends Section<JobOptions> {
  private static final double SHORTEST_SECONDS = 0.001;

  /** The options of jobs. */
  public static final OptionKeys OPTIONS = new OptionKeys();

  private final Key<JobOptions, Integer> level =
      key(
          "level_for_tasks",
          ofTasks(),
          JobOptions::level,
          "The level whose nodes are the tasks: one task per node. The usual one is the lowest"
              + " level.");
  private final Key<JobOptions, String> queue =
      key(
              "queue",
              queueName(),
              options -> options.scheduling().queue(),
              "The [queue](#queues) that the job belongs to: a configured one, or `default`, which"
                  + " is always there.")
          .own()
          .writtenUnlessInherited();
  public final Key<JobOptions, Integer> maxConcurrent =
      own(
              "max_concurrent",
              ValueType.most(),
              options -> options.scheduling().maxConcurrent(),
              "How many tasks of the job may run at once. Lowered below what runs, nothing starts"
                  + " and nothing is killed.")
          .ofJobsOnly();
  public final Key<JobOptions, Integer> maxStarting =
      own(
              "max_starting",
              ValueType.most(),
              options -> options.scheduling().maxStarting(),
              "How many starts of tasks of the job may be in flight: begun, and [not confirmed"
                  + " yet](limits.md#starts-in-flight). When starts are refused or slow, fewer"
                  + " may.")
          .ofJobsOnly();
  public final Key<JobOptions, Optional<StartRate>> startRate =
      own(
              "start_rate",
              StartRateKeys.RATE,
              options -> options.scheduling().startRate(),
              "How often a task of the job may start.")
          .ofJobsOnly();
  private final Key<JobOptions, List<String>> roles =
      own(
              "roles",
              roleNames(),
              options -> options.scheduling().roles(),
              "Where a node has several parents: the [roles](node-sources.md#places-and-roles) of"
                  + " the places that the job may use; empty: all. Places without a role are open"
                  + " to all jobs.")
          .ofJobsOnly();
  private final Key<JobOptions, Boolean> overrun =
      own(
          "overrun",
          ValueType.oneOf(List.of(false, true), may -> may ? "allow" : "avoid"),
          options -> options.scheduling().mayOverrun(),
          "Whether a task may start that will probably still run when its [window](windows.md)"
              + " closes. `avoid`: 95 % of the job's tasks that were done took less than what is"
              + " left of the window.");
  private final Key<JobOptions, Optional<Duration>> assume =
      own(
          "assume",
          orFalse(OptionTypes.window(), Duration.ofSeconds(1)),
          options -> options.scheduling().assume(),
          "How long a task is taken to last with `overrun` `avoid` until 20 tasks of the job are"
              + " done; `false`: as long as those that are.");
  private final Key<JobOptions, AtWindowEnd> atWindowEnd =
      own(
          "at_window_end",
          ValueType.oneOf(List.of(AtWindowEnd.values()), AtWindowEnd::word),
          options -> options.scheduling().atWindowEnd(),
          "What happens to running tasks when a [window](windows.md#what-happens-at-the-end)"
              + " closes: `finish`: they go on; `ask`: they are told to pause; `kill`: they are"
              + " killed.");
  private final Key<JobOptions, Quarantining> quarantine =
      own(
          "quarantine",
          ValueType.oneOf(List.of(Quarantining.values()), Quarantining::word),
          options -> options.scheduling().quarantine(),
          "What happens when the failures of the job concentrate below a node, see"
              + " [quarantine](quarantine.md). `suggest`: it is reported; `auto`: the node is"
              + " closed for the job, apart from a trial now and then.");
  private final Key<JobOptions, Backoff> backoff =
      key(
              "backoff",
              RetryKeys.backoff(),
              JobOptions::backoff,
              "How long a task waits after each error, see [back-off](#back-off).")
          .writtenIf((options, inherited) -> options.retry().isEmpty());
  private final Key<JobOptions, Optional<ProgressRetryRules>> retry =
      key(
              "retry",
              orFalse(RetryKeys.RETRY.type(), RetryKeys.RETRY.usual()),
              JobOptions::retry,
              "Retries that look at progress, in place of `backoff`; `false`: the back-off"
                  + " decides.")
          .own()
          .writtenIf((options, inherited) -> options.retry().isPresent());
  private final Key<JobOptions, Optional<Duration>> killOrphans =
      key(
          "kill_orphan_tasks_after_sec",
          OptionTypes.killOrphans(),
          JobOptions::killOrphansAfter,
          "How many seconds a task may go on after its job or node is gone or disabled. `false` or"
              + " negative: without limit; `true`: 0.");
  private final Key<JobOptions, SubprocessOptions> subprocess =
      key(
          "task_subprocess",
          TaskKeys.TASK_SUBPROCESS.type(),
          JobOptions::subprocess,
          "How task processes are started and watched; inherited key by key.");
  final Key<JobOptions, KillRequest> kill =
      key(
          "kill_subprocess",
          TaskKeys.KILL_SUBPROCESS.type(),
          JobOptions::kill,
          "How a task is stopped; inherited key by key.");
  private final Key<JobOptions, Optional<Duration>> timeout =
      own(
          "timeout_sec",
          orFalse(seconds(SHORTEST_SECONDS, ConfigValue.LONGEST_SECONDS), Duration.ZERO),
          options -> options.timeLimits().timeout(),
          "Longest time of one attempt in seconds; then it is stopped as `kill_subprocess` says,"
              + " and that is an error with back-off. `false`: no limit, whatever the settings"
              + " say.");
  private final Key<JobOptions, Optional<Instant>> completeBy =
      own(
              "complete_by",
              orFalse(OptionTypes.instant(), Instant.EPOCH),
              options -> options.timeLimits().completeBy(),
              "The deadline of the job: from then on none of its tasks is started, and those that"
                  + " run are stopped and keep their back-off. `2026-11-22T06:00:00Z` or with an"
                  + " offset, `2026-11-22T07:00:00+01:00`. Not inherited: it belongs to one piece"
                  + " of work.")
          .ofJobsOnly();
  private final Key<JobOptions, Optional<Duration>> noOutput =
      own(
          "no_output_timeout_sec",
          orFalse(seconds(SHORTEST_SECONDS, ConfigValue.LONGEST_SECONDS), Duration.ZERO),
          options -> options.timeLimits().noOutput(),
          "Longest silence of an attempt in seconds: no line of output, progress or status; then as"
              + " with `timeout_sec`.");
  private final Key<JobOptions, Optional<Duration>> reserveAfter =
      key(
              "reserve_after_sec",
              orFalse(seconds(0, ConfigValue.LONGEST_SECONDS), Duration.ZERO),
              options -> options.scheduling().reserveAfter(),
              "A task that needs more than others do has no chance where lighter ones take every"
                  + " slot that becomes free. When it has waited that many seconds for nothing but"
                  + " slots, what is free on its node, in its queue or on a worker is [kept for"
                  + " it](concepts.md#tasks-that-need-more-than-others) until it fits. `false`:"
                  + " never, as in Bistro.")
          .own()
          .writtenUnlessInherited();
  private final Key<JobOptions, OutcomeRules> failWhen =
      key(
              "fail_job_when",
              OutcomeKeys.failWhen(),
              JobOptions::outcome,
              "When the job has failed although tasks are left; inherited as a whole. `false`:"
                  + " never.")
          .own()
          .writtenIf(
              (options, inherited) -> options.outcome().canFail() || inherited.outcome().canFail());
  private final Key<JobOptions, Double> succeedWhen =
      own(
          "succeed_job_when",
          OutcomeKeys.succeedWhen(),
          options -> options.outcome().donePercent(),
          "When the job has succeeded. `false`: when all its tasks are done; `\"never\"`: the job"
              + " is endless.");
  private final Key<JobOptions, LogOptions> logRetention =
      own(
              "log_retention",
              TaskKeys.LOG_RETENTION.type(),
              JobOptions::logs,
              "How long the output of tasks is kept; inherited key by key.")
          .writtenIf((options, inherited) -> keepsLogs(options) || keepsLogs(inherited));
  private final Key<JobOptions, List<String>> redact =
      own(
          "redact",
          OptionTypes.redact(),
          options -> options.logs().redact(),
          "What they find in a line of output is hidden before the line is stored. A job's are"
              + " added to those of the settings, so that no job loses what hides the secrets of"
              + " all.");

  private OptionKeys() {
    super("options", "What jobs inherit.", JobOptions.usual(0));
    spelling("kill_request", "kill_subprocess");
  }

  private static boolean keepsLogs(JobOptions options) {
    return options.logs().retentionDays().isPresent() || options.logs().maxMb().isPresent();
  }

  private static ValueType<Integer> ofTasks() {
    ValueType<Integer> level = ValueType.level();
    return new ValueType<>(
        (value, base) -> {
          Integer read = level.reader().read(value, base);
          if (read != null && read == value.names().levels().worker()) {
            value.warning("the worker level has no nodes, so there will be no tasks", null);
          }
          return read;
        },
        level.writer(),
        level.words(),
        level.schema());
  }

  /** The queue of a job: one that is configured, or the default one. */
  private static ValueType<String> queueName() {
    return ValueType.of(
        value -> {
          String name = value.text();
          if (!value.names().areKnown()) {
            return null;
          }
          List<String> queues = value.names().queues();
          List<String> known = new ArrayList<>(queues);
          if (!known.contains(JobScheduling.DEFAULT_QUEUE)) {
            known.add(JobScheduling.DEFAULT_QUEUE);
          }
          if (name != null && !known.contains(name)) {
            value.error(
                "unknown queue",
                queues.isEmpty()
                    ? "list it in \"queues\" of bistro_settings"
                    : Suggestions.hint(name, known));
            return null;
          }
          return name;
        },
        Json::of,
        "name",
        text().schema());
  }

  private static ValueType<List<String>> roleNames() {
    String objection = "a role " + RoleFilter.objection("");
    return list(
            text()
                .checked(role -> RoleFilter.objection(role) == null, objection)
                .inSchema("{'type': 'string', 'pattern': '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$'}"),
            "")
        .as(roles -> List.copyOf(new LinkedHashSet<>(roles)), roles -> roles)
        .says("list of names");
  }

  @Override
  public JobOptions read(ConfigObject in, JobOptions base) {
    LogOptions kept = in.get(logRetention, base);
    OutcomeRules failing = in.get(failWhen, base);
    return new JobOptions(
        in.get(backoff, base),
        in.get(level, base),
        in.get(killOrphans, base),
        in.get(subprocess, base),
        in.get(kill, base),
        timeLimits(in, base),
        new LogOptions(kept.retentionDays(), kept.maxMb(), in.get(redact, base)),
        new JobScheduling(
            in.get(queue, base),
            in.get(maxConcurrent, base),
            in.get(maxStarting, base),
            in.get(startRate, base),
            in.get(reserveAfter, base),
            in.get(roles, base),
            base.scheduling().schedule(),
            in.get(overrun, base),
            in.get(assume, base),
            in.get(atWindowEnd, base),
            base.scheduling().rollout(),
            in.get(quarantine, base),
            base.scheduling().batch()),
        retry(in, base),
        new OutcomeRules(
            failing.failedTasks(),
            failing.failedPercent(),
            failing.minSamples(),
            failing.window(),
            in.get(succeedWhen, base)));
  }

  private TimeLimits timeLimits(ConfigObject in, JobOptions base) {
    TimeLimits limits =
        new TimeLimits(in.get(timeout, base), in.get(completeBy, base), in.get(noOutput, base));
    ConfigValue silence = in.find(noOutput);
    if (silence != null
        && limits.timeout().isPresent()
        && limits.noOutput().isPresent()
        && limits.noOutput().get().compareTo(limits.timeout().get()) >= 0) {
      silence.warning("this never happens, because \"timeout_sec\" is not longer", null);
    }
    return limits;
  }

  /** If one of back-off and retry rules is inherited and the other is given, that one applies. */
  private Optional<ProgressRetryRules> retry(ConfigObject in, JobOptions base) {
    ConfigValue given = in.find(retry);
    if (given == null) {
      return in.has(backoff) ? Optional.empty() : base.retry();
    }
    if (!given.isFalse() && in.has(backoff)) {
      given.error("\"backoff\" is given too, and only one of them can decide", "remove one");
    }
    return in.get(retry, base);
  }
}
