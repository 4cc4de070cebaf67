package io.espalier.core.config.keys;

import static io.espalier.core.config.schema.ValueType.bool;
import static io.espalier.core.config.schema.ValueType.int32;
import static io.espalier.core.config.schema.ValueType.int64;
import static io.espalier.core.config.schema.ValueType.list;
import static io.espalier.core.config.schema.ValueType.number;
import static io.espalier.core.config.schema.ValueType.object;
import static io.espalier.core.config.schema.ValueType.oneOf;
import static io.espalier.core.config.schema.ValueType.optional;
import static io.espalier.core.config.schema.ValueType.texts;

import io.espalier.core.config.Job;
import io.espalier.core.config.JobFilter;
import io.espalier.core.config.JobOptions;
import io.espalier.core.config.Resource;
import io.espalier.core.config.WholeJobDependency;
import io.espalier.core.config.label.JobInfo;
import io.espalier.core.config.label.LabelExpression;
import io.espalier.core.config.rollout.RolloutSpec;
import io.espalier.core.config.schema.ConfigObject;
import io.espalier.core.config.schema.ConfigValue;
import io.espalier.core.config.schema.Key;
import io.espalier.core.config.schema.Section;
import io.espalier.core.config.schema.ValueType;
import io.espalier.core.config.task.BatchSpec;
import io.espalier.core.config.task.CallSpec;
import io.espalier.core.config.task.Program;
import io.espalier.core.config.task.StatusSource;
import io.espalier.core.config.task.Step;
import io.espalier.core.config.task.Verification;
import io.espalier.core.config.window.Freeze;
import io.espalier.core.config.window.Schedule;
import io.espalier.core.config.window.Window;
import io.espalier.core.json.Json;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The keys of {@code bistro_job->NAME}. */
public final class JobKeys extends Section<Job> {
  /** The message of the error of a job that contains a report of errors. */
  public static final String PRE_EXISTING = "Pre-existing errors";

  /** The keys of a job. */
  public static final JobKeys JOB = new JobKeys();

  private final Key<Job, String> owner =
      key(
              "owner",
              ValueType.plainText("an owner must not hold control characters"),
              Job::owner,
              "Whom to ask about this job.")
          .required("who to ask about this job");

  {
    include(InfoKeys.INFO, Job::info, true);
  }

  private final Key<Job, String> set =
      own(
          "set",
          SetKeys.setName(),
          Job::set,
          "The [set](#sets) that the job belongs to: a name for jobs that are watched and"
              + " [steered together](steering.md#sets-of-jobs).");
  private final Key<Job, Boolean> enabled =
      key(
          "enabled",
          bool(),
          Job::enabled,
          "`false`: its tasks are orphans and no new ones start. To stop it for a while, pause it"
              + " instead.");
  private final Key<Job, List<String>> command =
      key(
              "command",
              OptionTypes.command(),
              Job::command,
              "What a task runs, and its arguments: a path with a `/` in it, absolute or relative"
                  + " to the configuration's directory, or the name of a program in `PATH`. A"
                  + " script beside the configuration is `./task.sh`. Without it, the worker"
                  + " command.")
          .writtenUnless(List.of());
  private final Key<Job, StatusSource> statusFrom =
      own(
          "status_from",
          oneOf(List.of(StatusSource.values()), StatusSource::label),
          Job::statusFrom,
          "Where the status of a task comes from. `status_line`: the line that it writes to its"
              + " status pipe, Bistro's contract; `exit_code`: 0 is done, anything else an error"
              + " with back-off.");
  private final Key<Job, Optional<CallSpec>> call =
      own(
          "call",
          optional(CallKeys.CALL.type(), CallKeys.CALL.usual()),
          Job::call,
          "The service that a task calls, [instead of a process](calls.md).");
  private final Key<Job, List<Step>> steps =
      own(
          "steps",
          list(StepKeys.STEP.type(), StepKeys.STEP.usual()),
          job -> job.program().steps(),
          "What a task runs one after the other, [instead of one"
              + " command](writing-tasks.md#steps).");
  private final Key<Job, Boolean> hold =
      own(
          "hold",
          bool(),
          job -> job.program().holds(),
          "Whether a task keeps its slots and its worker between two steps. `false`: after each"
              + " step it becomes ready again, also for other workers.");
  private final Key<Job, Boolean> restartFrom =
      own(
          "restart_from",
          oneOf(List.of(false, true), first -> first ? "first" : "step"),
          job -> job.program().restartsFromFirst(),
          "With which step another attempt begins. `step`: the first that is not done; `first`: the"
              + " first of all.");
  private final Key<Job, List<Step>> compensate =
      own(
          "compensate",
          list(StepKeys.COMPENSATION.type(), StepKeys.COMPENSATION.usual()),
          job -> job.program().compensations(),
          "What undoes steps, backwards, [after a task has failed for"
              + " good](writing-tasks.md#compensation).");
  private final Key<Job, Optional<Verification>> verify =
      own(
          "verify",
          optional(StepKeys.VERIFY.type(), StepKeys.VERIFY.usual()),
          job -> job.program().verification(),
          "What verifies tasks [after all tasks of the job are"
              + " done](writing-tasks.md#verification).");
  private final Key<Job, Double> priority =
      key(
          "priority",
          number(0, Double.MAX_VALUE),
          Job::priority,
          "For the policies `ranked_priority` and `randomized_priority`.");
  private final Key<Job, Json.Obj> config =
      key("config", object(), Job::config, "Handed to every task.");

  /** {@code resources}. */
  public final Key<Job, List<Integer>> needs =
      key(
              "resources",
              needs(),
              Job::needs,
              "`{RESOURCE: slots}` that a task takes on its path, the resource's `default` if not"
                  + " said; 0: none, and then a full or closed node does not hold it up.")
          .writtenUnless(List.of());

  private final Key<Job, Map<Integer, JobFilter>> filters =
      key(
              "filters",
              JobFilterKeys.filters(),
              Job::filters,
              "`{LEVEL: filter}`: which nodes the job may use.")
          .writtenUnless(Map.of());

  private final Key<Job, LabelExpression> workers =
      key(
              "workers",
              JobFilterKeys.labels(),
              JobFilterKeys::labels,
              "Which workers may run its tasks, by their [labels](workers.md#labels): `arch =="
                  + " 'x86' and zone in ['a', 'b']`; nothing without remote workers.")
          .writtenUnless(LabelExpression.ANY);

  /** {@code depends_on}. */
  public final Key<Job, List<String>> dependsOn =
      key(
              "depends_on",
              texts().says("list of jobs"),
              Job::dependsOn,
              "A task starts only when these jobs are done on the same node.")
          .writtenUnless(List.of());

  /** {@code run_only_after_all_nodes_are_done_for}. */
  public final Key<Job, List<WholeJobDependency>> afterJobs =
      key(
              "run_only_after_all_nodes_are_done_for",
              list(DependencyKeys.wholeJob(), DependencyKeys.WHOLE_JOB.usual()),
              Job::afterJobs,
              "Nothing of the job starts before all tasks of these jobs are done, wherever they"
                  + " are.")
          .writtenUnless(List.of());

  private final Key<Job, Optional<Integer>> placementLevel =
      key(
              "level_for_host_placement",
              optional(ValueType.level(), 0),
              Job::levelForHostPlacement,
              "Tasks run on the worker whose host is named like their ancestor on this level;"
                  + " nothing without remote workers.")
          .writtenUnless(Optional.empty());
  private final Key<Job, String> hostPlacement =
      key(
              "host_placement",
              ValueType.plainText("a host name must not hold control characters"),
              Job::hostPlacement,
              "Tasks run on the worker of this host; wins over `level_for_host_placement`; nothing"
                  + " without remote workers.")
          .writtenUnless("");

  {
    include(OptionKeys.OPTIONS, Job::options, true);
  }

  private final Key<Job, List<Window>> windows =
      WindowKeys.windowsOf(this, job -> job.scheduling().schedule(), "of the job");
  private final Key<Job, List<Freeze>> freezes =
      WindowKeys.freezesOf(this, job -> job.scheduling().schedule(), "of the job");

  public final Key<Job, Optional<RolloutSpec>> rollout =
      own(
          "rollout",
          optional(RolloutKeys.ROLLOUT.type(), RolloutKeys.ROLLOUT.usual()),
          job -> job.scheduling().rollout(),
          "The stages in which its tasks start, [each only when the one before has"
              + " passed](rollout.md).");

  private final Key<Job, Optional<BatchSpec>> batch =
      own(
          "batch",
          optional(BatchKeys.BATCH.type(), BatchKeys.BATCH.usual()),
          job -> job.scheduling().batch(),
          "Which tasks [one process runs together](batches.md); without it, each task has its"
              + " own.");

  private final Key<Job, Long> createTime =
      key(
              "create_time",
              int64(0, Long.MAX_VALUE).says("epoch seconds"),
              Job::createTime,
              "Shown; a job with another one than was stored under its name is another job, and"
                  + " inherits nothing.")
          .writtenUnless(0L);
  private final Key<Job, Long> modifyTime =
      key("modify_time", int64(0, Long.MAX_VALUE).says("epoch seconds"), Job::modifyTime, "Shown.")
          .writtenUnless(0L);
  private final Key<Job, Long> versionId =
      key(
              "version_id",
              int64(-1, Long.MAX_VALUE).says("integer"),
              Job::versionId,
              "The version of the job, for saving it only if nobody else has meanwhile; -1: none.")
          .writtenUnless(-1L);
  private final Key<Job, Json.Obj> errors =
      key(
              "errors",
              object().inSchema("{'type': 'object', 'maxProperties': 0}"),
              job -> Json.Obj.EMPTY,
              "The report of errors that a saved job was once exported with; an error until it is"
                  + " removed.")
          .writtenIf((job, inherited) -> false);

  private JobKeys() {
    super(
        "bistro_job",
        "A job: its tasks are the nodes of its level.",
        usual("", JobOptions.usual(0), List.of()));
  }

  /** A job without any key of its own. */
  public static Job usual(String name, JobOptions inherited, List<Integer> needs) {
    return new Job(
        name,
        "",
        JobInfo.NONE,
        "",
        true,
        1,
        Json.Obj.EMPTY,
        needs,
        Map.of(),
        List.of(),
        List.of(),
        Optional.empty(),
        "",
        List.of(),
        StatusSource.STATUS_LINE,
        Optional.empty(),
        Program.NONE,
        inherited,
        -1,
        0,
        0,
        List.of(),
        Json.Obj.EMPTY);
  }

  private static ValueType<List<Integer>> needs() {
    ValueType<Map<Resource, Integer>> amounts = ValueType.byResource(int32(0), 0, false);
    return new ValueType<>(
        (value, base) -> {
          Map<Resource, Integer> given = amounts.reader().read(value, Map.of());
          if (given == null) {
            return null;
          }
          List<Integer> needs = new ArrayList<>(base);
          given.forEach((resource, need) -> needs.set(resource.index(), need));
          return needs;
        },
        (needs, inherited, names) -> {
          Json.Builder out = Json.object();
          names.resources().all().forEach(r -> out.put(r.name(), needs.get(r.index())));
          return out.build();
        },
        "object",
        amounts.schema());
  }

  /**
   * Reads a job.
   *
   * @param base job with the inherited options and the default needs
   */
  @Override
  public Job read(ConfigObject in, Job base) {
    ConfigValue report = in.find(errors);
    if (report != null && !in.get(errors, base).isEmpty()) {
      report.error(PRE_EXISTING, "correct what it reports, then remove \"errors\"");
    }
    String askedAbout = in.read(owner, base);
    List<Integer> taken = in.get(needs, base);
    StatusSource reports = in.get(statusFrom, base);
    ConfigValue called = in.find(call);
    if (called != null && in.has(command)) {
      called.error(
          "the tasks of this job have a command already", "remove \"call\" or \"command\"");
    }
    if (called != null && reports == StatusSource.EXIT_CODE) {
      called.error(
          "a call has no exit code: the service says how it ended", "remove \"status_from\"");
    }
    ConfigValue listed = in.find(steps);
    if (listed != null && (called != null || in.has(command))) {
      listed.error(
          "the tasks of this job have a command or call already",
          "remove \"steps\", or make what they have a step");
    }
    Program program = StepKeys.program(in, base, steps, hold, restartFrom, compensate, verify);
    Schedule schedule = WindowKeys.schedule(in, windows, freezes, base);
    Optional<RolloutSpec> inStages = in.get(rollout, base);
    Optional<BatchSpec> together = in.get(batch, base);
    JobOptions options =
        OptionKeys.OPTIONS
            .read(in, base.options())
            .withScheduling(
                scheduling -> scheduling.schedule(schedule).rollout(inStages).batch(together));
    ConfigValue staged = in.find(rollout);
    if (staged != null && RolloutKeys.isSpreadBelow(options)) {
      staged
          .member("spread")
          .error("the tasks are not below nodes of this level", "name a level above them");
    }
    ConfigValue grouped = in.find(batch);
    if (grouped != null && together.isPresent()) {
      BatchKeys.check(
          grouped,
          together.get(),
          options,
          taken,
          called != null,
          program,
          reports,
          in.find(OptionKeys.OPTIONS.kill));
    }
    return new Job(
        base.name(),
        askedAbout == null ? "" : askedAbout,
        InfoKeys.INFO.read(in, base.info()),
        in.get(set, base),
        in.get(enabled, base),
        in.get(priority, base),
        in.get(config, base),
        taken,
        JobFilterKeys.withLabels(
            in.get(filters, base), in.get(workers, base), in.value().names().levels().worker()),
        List.copyOf(new LinkedHashSet<>(in.get(dependsOn, base))),
        List.copyOf(new LinkedHashSet<>(in.get(afterJobs, base))),
        in.get(placementLevel, base),
        in.get(hostPlacement, base),
        in.get(command, base),
        reports,
        in.get(call, base),
        program,
        options,
        in.get(versionId, base),
        in.get(createTime, base),
        in.get(modifyTime, base),
        base.problems(),
        in.json());
  }
}
