package io.espalier.core.loop.watch;

import io.espalier.core.api.RefusedException;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.SetRule;
import io.espalier.core.config.task.OutcomeRules;
import io.espalier.core.event.EventKind;
import io.espalier.core.json.Json;
import io.espalier.core.loop.state.LoopEvents;
import io.espalier.core.loop.state.NameOrderedMap;
import io.espalier.core.outcome.CompletionWindow;
import io.espalier.core.outcome.FailureRule;
import io.espalier.core.outcome.JobCounts;
import io.espalier.core.outcome.JobEvent;
import io.espalier.core.outcome.JobFlags;
import io.espalier.core.outcome.JobState;
import io.espalier.core.outcome.JobStateInputs;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.outcome.JobStateRecord.Start;
import io.espalier.core.outcome.JobStateRules;
import io.espalier.core.outcome.Percent;
import io.espalier.core.problem.Problem;
import io.espalier.core.running.Counters;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.StuckJobs;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.status.TaskStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Maintains the state of each job (docs/design/features.md#states-of-jobs): evaluates a job
 * whenever something about it has changed, closes it when it has failed or enough is done, and
 * records what must survive a restart together with the change that caused it. Monitors see a state
 * once it is durable.
 *
 * <p>A job is evaluated once per step of the loop, before the round: ends in the same step count
 * together, and no task starts in between. When very many jobs have changed, as with a new
 * configuration, no round begins until all have been evaluated.
 */
public final class JobStateTracker {
  private static final int JOBS_PER_SLICE = 1_000;
  private static final long JUDGED_EVERY_MILLIS = 1_000;
  private static final int STUCK_NAMED = 100;
  private static final int SETS_NAMED = 3;

  private final SchedulingCore core;
  private final LoopEvents events;
  private final JobVerifications verifications;
  private final Map<String, Kept> jobs = new HashMap<>();
  private final Shown shown = new Shown();
  private List<JobStateRecord> recorded = new ArrayList<>();
  private final Set<String> setsToJudge = new HashSet<>();
  private boolean anyStuck;
  private long judgedState = -1;
  private long judgedChanges = -1;
  private long nextJudgement = Long.MIN_VALUE;

  /** Receives every change. */
  public interface Sink {
    /**
     * Receives a change of a job's state record.
     *
     * @param now state to be stored
     * @param moved true when the job changed to another state
     */
    void changed(JobStateRecord now, boolean moved);
  }

  /** The durable states. Those of configured jobs are available for each view. */
  private static final class Shown {
    private final Map<String, JobStateRecord> all = new HashMap<>();
    private @Nullable Config config;
    private String[] names = {};
    private JobStateRecord[] values = {};
    private Map<String, JobStateRecord> view = Map.of();

    /**
     * Whether {@link #view} is up to date with {@code config}; if not, only its values have
     * changed.
     */
    private boolean isFresh;

    void put(String job, JobStateRecord standing) {
      all.put(job, standing);
      int at = Arrays.binarySearch(names, job);
      if (at >= 0) {
        values[at] = standing;
        isFresh = false;
      } else {
        config = null;
      }
    }

    void remove(String job) {
      all.remove(job);
      config = null;
    }

    @SuppressWarnings("ReferenceEquality") // Each configuration is a new object.
    Map<String, JobStateRecord> of(Config inForce) {
      if (config != inForce) {
        List<String> known = new ArrayList<>();
        for (String job : inForce.jobs().keySet()) {
          if (all.containsKey(job)) {
            known.add(job);
          }
        }
        names = known.toArray(new String[0]);
        values = known.stream().map(all::get).toArray(JobStateRecord[]::new);
        config = inForce;
        isFresh = false;
      }
      if (!isFresh) {
        view = new NameOrderedMap<>(names, values.clone());
        isFresh = true;
      }
      return view;
    }
  }

  /** What is known of one job, even if it is not configured now. */
  private static final class Kept {
    /** The latest state; null: never evaluated. */
    @Nullable JobStateRecord standing;

    String failure = "";

    /** Why none of its tasks can start; empty when it is not stuck. */
    String stuck = "";

    boolean stopped;
    boolean goesOn;
    Start from = Start.ALL;
    Counters counters = Counters.NONE;
    @Nullable CompletionWindow window;
    Optional<Duration> length = Optional.empty();

    /** Whether a task has ended since the rule was last evaluated on its window. */
    boolean judge;
  }

  public JobStateTracker(SchedulingCore core, LoopEvents events, JobVerifications verifications) {
    this.verifications = verifications;
    this.core = core;
    this.events = events;
  }

  /** Restores what outlived a restart: failed jobs are closed at once. */
  public void restore(List<JobStateRecord> stored) {
    for (JobStateRecord standing : stored) {
      Kept kept = kept(standing.job());
      kept.standing = standing;
      kept.failure = standing.failure();
      // It stays stuck until it is evaluated again: a restart does not change that.
      kept.stuck = standing.state() == JobState.STUCK ? standing.reason() : "";
      kept.stopped = standing.stopped();
      kept.goesOn = standing.goesOn();
      kept.from = standing.countedFrom();
      kept.counters = standing.counters();
      shown.put(standing.job(), standing);
      if (!kept.failure.isEmpty()) {
        core.close(Gate.of(GateKind.JOB_FAILED, standing.job(), kept.failure));
      }
    }
  }

  private Kept kept(String job) {
    return jobs.computeIfAbsent(job, name -> new Kept());
  }

  /** Forgets a job that was deleted and created again: the new job inherits nothing. */
  public void forget(String job) {
    jobs.remove(job);
    verifications.forget(job);
    shown.remove(job);
    core.open(GateKind.JOB_FAILED, job);
    core.open(GateKind.JOB_SUCCEEDED, job);
  }

  // ---- what happens

  /** Counts the end of a task with that status. */
  public void ended(String name, TaskStatus status) {
    note(name, status);
    kept(name).judge = true;
  }

  /** Counts the stored status of a task that was unknown before; in any order. */
  public void restored(String name, TaskStatus status) {
    note(name, status);
  }

  /**
   * Announces that {@link #restored} will be called for all ends of a job that is new or returns.
   */
  public void willRestore(String name) {
    Kept kept = jobs.get(name);
    if (kept != null) {
      kept.window = null;
      kept.length = Optional.empty();
    }
  }

  private void note(String name, TaskStatus status) {
    boolean failed = status.main() == TaskStatus.Main.FAILED;
    if (!failed && status.main() != TaskStatus.Main.DONE) {
      return;
    }
    Job job = core.job(core.findJob(name));
    Kept kept = kept(name);
    // A removed job may return before the last of its tasks has ended: then nothing is restored.
    Optional<Duration> length = job == null ? kept.length : length(job.outcome());
    if (length.isPresent() && status.sinceMillis() >= kept.from.millis()) {
      window(kept, length.get()).add(status.sinceMillis(), failed);
    }
  }

  private static Optional<Duration> length(OutcomeRules rules) {
    return rules.canFail() ? rules.window() : Optional.empty();
  }

  private static CompletionWindow window(Kept kept, Duration length) {
    CompletionWindow window = kept.window;
    if (window == null || !kept.length.equals(Optional.of(length))) {
      window = new CompletionWindow(length.toMillis());
      kept.window = window;
      kept.length = Optional.of(length);
    }
    return window;
  }

  /** Notes that an operator has paused or stopped the job. */
  public void paused(String job, boolean stopped) {
    act(job, stopped ? JobEvent.STOP : JobEvent.PAUSE, 0);
  }

  /** Notes that a pause has expired. */
  public void pauseEnded(String job) {
    kept(job).stopped = false;
  }

  /**
   * Resumes a job on an operator's command; the caller ends its pause.
   *
   * @throws RefusedException when only its own tasks keep it from running
   */
  public void resume(String job, long nowMillis) {
    int number = core.findJob(job);
    if (core.job(number) == null) {
      return;
    }
    JobStateInputs facts = facts(number, kept(job));
    if (!JobStateRules.isLegal(facts, JobEvent.RESUME)) {
      JobStateRules.Verdict verdict = JobStateRules.of(facts);
      throw new RefusedException(
          RefusedException.Reason.CONFLICT,
          "job "
              + job
              + " is not paused: it is "
              + verdict.state().word()
              + (verdict.reason().isEmpty() ? "" : ", " + verdict.reason()));
    }
    act(job, JobEvent.RESUME, nowMillis);
  }

  /** Notes that tasks of the job were forgiven or reset for a rerun. */
  public void again(String job, JobEvent event, long nowMillis) {
    act(job, event, nowMillis);
  }

  private void act(String job, JobEvent event, long nowMillis) {
    int number = core.findJob(job);
    if (core.job(number) == null) {
      return;
    }
    Kept kept = kept(job);
    boolean hadFailed = !kept.failure.isEmpty();
    JobFlags flags = JobStateRules.after(facts(number, kept), event, "");
    kept.failure = flags.failure();
    kept.stopped = flags.stopped();
    kept.goesOn = flags.goesOn();
    if (hadFailed && !flags.isFailed()) {
      JobCounts tally = core.tasks().tally(number);
      kept.from = new Start(tally.failed(), tally.ended(), nowMillis);
      if (kept.window != null) {
        kept.window.clear();
      }
    }
    if (!flags.isFailed()) {
      // Reopen the job even if it was not closed, so that it is evaluated.
      core.open(GateKind.JOB_FAILED, job);
    }
  }

  /**
   * Returns those counters of a task for which its job has room, and keeps their names: a job has
   * at most {@link Counters#MOST_NAMES}.
   */
  public Counters fitting(String job, Counters ofTask) {
    if (ofTask.isEmpty()) {
      return ofTask;
    }
    Kept kept = kept(job);
    Counters fitting = ofTask.fitting(kept.counters);
    kept.counters = kept.counters.plus(fitting.zeros());
    return fitting;
  }

  /**
   * Adds what a task of the job has counted. It is stored, and then shown, with the job's state.
   *
   * @return the sums
   */
  public Counters counted(String job, Counters more, long nowMillis, Sink record) {
    Kept kept = kept(job);
    kept.counters = kept.counters.plus(more);
    JobStateRecord before = kept.standing;
    JobStateRecord now =
        new JobStateRecord(
            job,
            before == null ? JobState.RUNNING : before.state(),
            before == null ? "" : before.reason(),
            before == null ? nowMillis : before.sinceMillis(),
            kept.failure,
            kept.stopped,
            kept.goesOn,
            kept.from,
            kept.counters);
    kept.standing = now;
    record.changed(now, false);
    recorded.add(now);
    return kept.counters;
  }

  // ---- the state

  /**
   * Evaluates jobs in which something has changed, up to a limit per call. {@link
   * SchedulingCore#isTouched} tells whether any are left.
   *
   * @param record receives what must be stored
   * @return true when a state has changed
   */
  public boolean step(long nowMillis, Sink record) {
    boolean changed = false;
    for (int job : core.takeTouched(JOBS_PER_SLICE)) {
      Job config = core.job(job);
      if (config != null && !isLoading(config.name())) {
        changed |= look(job, config, nowMillis, record);
      }
    }
    return judgeSets(nowMillis, record) || changed;
  }

  /**
   * Fails the jobs of sets in which as many jobs have failed as the rule of the set says. Only the
   * failure of a job is an occasion: what an operator has resumed since goes on.
   */
  private boolean judgeSets(long nowMillis, Sink record) {
    boolean changed = false;
    while (!setsToJudge.isEmpty()) {
      List<String> sets = List.copyOf(setsToJudge);
      setsToJudge.clear();
      for (String set : sets) {
        changed |= judgeSet(set, nowMillis, record);
      }
    }
    return changed;
  }

  private boolean judgeSet(String set, long nowMillis, Sink record) {
    SetRule rule = core.config().settings().sets().get(set);
    if (rule == null || rule.failWhenFailedJobs() == 0) {
      return false;
    }
    List<String> failed = new ArrayList<>();
    List<Integer> others = new ArrayList<>();
    for (int number = 0; number < core.jobCount(); number++) {
      Job job = core.job(number);
      if (job == null || !job.set().equals(set)) {
        continue;
      }
      JobStateRecord standing = kept(job.name()).standing;
      if (standing != null && standing.state() == JobState.FAILED) {
        failed.add(job.name());
      } else if (standing == null || !standing.state().isEnd()) {
        others.add(number);
      }
    }
    if (failed.size() < rule.failWhenFailedJobs()) {
      return false;
    }
    String named = String.join(", ", failed.subList(0, Math.min(SETS_NAMED, failed.size())));
    String why =
        "its set "
            + set
            + " has failed: "
            + (failed.size() == 1 ? "job " + named + " has" : "jobs " + named)
            + (failed.size() > SETS_NAMED ? " and others" : "")
            + (failed.size() == 1 ? " failed" : " have failed");
    boolean changed = false;
    for (int number : others) {
      Job job = core.job(number);
      if (job != null) {
        Kept kept = kept(job.name());
        kept.failure = why;
        core.close(Gate.of(GateKind.JOB_FAILED, job.name(), why));
        changed |= look(number, job, nowMillis, record);
      }
    }
    return changed;
  }

  /**
   * Searches for stuck jobs if something has happened since the last search: at once while nothing
   * runs, otherwise once a second, because the cost grows with the number of jobs.
   *
   * @return true when a state has changed
   */
  public boolean judgeStuck(long nowMillis, boolean anyRuns, Sink record) {
    if (!mustJudge() || (anyRuns && nowMillis < nextJudgement)) {
      return false;
    }
    judgedState = core.stateNumber();
    judgedChanges = core.changes();
    nextJudgement = nowMillis + JUDGED_EVERY_MILLIS;
    boolean changed = false;
    anyStuck = false;
    StuckJobs stuckJobs = core.stuckJobs();
    for (int number = 0; number < core.jobCount(); number++) {
      Job job = core.job(number);
      if (job == null || isLoading(job.name())) {
        continue;
      }
      String why = stuckJobs.why(number);
      Kept kept = kept(job.name());
      anyStuck |= !why.isEmpty();
      if (!why.equals(kept.stuck)) {
        kept.stuck = why;
        changed |= look(number, job, nowMillis, record);
      }
    }
    changed |= judgeSets(nowMillis, record);
    return changed;
  }

  private boolean mustJudge() {
    return core.changes() != judgedChanges || core.stateNumber() != judgedState;
  }

  /** When the next evaluation is due; {@link Long#MAX_VALUE}: only when something happens. */
  public long nextMillis() {
    return mustJudge() ? nextJudgement : Long.MAX_VALUE;
  }

  private JobStateInputs facts(int number, Kept kept) {
    Job job = core.job(number);
    if (job == null) {
      throw new IllegalStateException("not configured");
    }
    String name = job.name();
    long unverified = verifications.unverified(number);
    return new JobStateInputs(
        job.isValid(),
        !job.enabled()
            ? "it is disabled in its configuration"
            : !core.config().settings().enabled() ? "the settings disable the scheduler" : "",
        reason(GateKind.DEADLINE, name),
        kept.stuck,
        job.outcome().donePercent(),
        verifications.tally(number),
        new JobFlags(
            core.gate(GateKind.PAUSE, name) != null, kept.stopped, kept.failure, kept.goesOn),
        unverified);
  }

  private boolean look(int number, Job job, long nowMillis, Sink record) {
    Kept kept = kept(job.name());
    JobStateInputs facts = facts(number, kept);
    if (kept.goesOn && (!facts.isSuccess() || facts.tally().isThrough())) {
      kept.goesOn = false;
      facts = facts(number, kept);
    }
    if (JobStateRules.isLegal(facts, JobEvent.RULE_BROKEN)) {
      String broken = broken(job.outcome(), kept, facts.tally(), nowMillis);
      if (broken != null) {
        kept.failure = JobStateRules.after(facts, JobEvent.RULE_BROKEN, broken).failure();
        core.close(Gate.of(GateKind.JOB_FAILED, job.name(), broken));
        facts = facts(number, kept);
      }
    }
    JobStateRules.Verdict verdict = JobStateRules.of(facts);
    if (facts.unverified() > 0) {
      boolean isAsked = job.program().verification().isPresent();
      boolean isThrough = facts.isOpen() && facts.tally().isThrough();
      if (!isAsked || facts.isInVerification() || isThrough) {
        verifications.begin(number);
      }
    }
    closeRest(job.name(), facts);
    return changed(job.name(), kept, verdict, nowMillis, record);
  }

  private @Nullable String broken(OutcomeRules rules, Kept kept, JobCounts tally, long nowMillis) {
    Start from = kept.from;
    if (tally.failed() < from.failed() || tally.ended() < from.ended()) {
      // Tasks counted earlier are gone or will run again: only ends from now on count.
      kept.from =
          new Start(
              Math.min(from.failed(), tally.failed()),
              Math.min(from.ended(), tally.ended()),
              from.millis());
    }
    if (!rules.canFail()) {
      return null;
    }
    if (rules.window().isPresent()) {
      CompletionWindow window = window(kept, rules.window().get());
      if (!kept.judge) {
        // The expiry of old successes must not fail a job in which nothing ends.
        return null;
      }
      kept.judge = false;
      window.moveTo(nowMillis);
      return FailureRule.broken(rules, window.failed(), window.ended());
    }
    return FailureRule.broken(
        rules, tally.failed() - kept.from.failed(), tally.ended() - kept.from.ended());
  }

  private void closeRest(String job, JobStateInputs facts) {
    boolean rests = facts.restIsNotNeeded();
    if (rests == (core.gate(GateKind.JOB_SUCCEEDED, job) != null)) {
      return;
    }
    if (rests) {
      String why = "enough is done: " + Percent.text(facts.donePercent()) + " of the job's tasks";
      core.close(Gate.of(GateKind.JOB_SUCCEEDED, job, why));
    } else {
      core.open(GateKind.JOB_SUCCEEDED, job);
    }
  }

  private boolean isLoading(String job) {
    return core.gate(GateKind.LOADING, job) != null;
  }

  /** The reason for which a gate of a job is closed; empty when it is open. */
  private String reason(GateKind kind, String job) {
    Gate gate = core.gate(kind, job);
    return gate == null ? "" : gate.reason();
  }

  /** Why the job is paused, and by whom; empty when it is not paused or nothing was given. */
  private String whyPaused(String job) {
    Gate pause = core.gate(GateKind.PAUSE, job);
    if (pause == null) {
      return "";
    }
    return pause.author().isEmpty() || pause.reason().isEmpty()
        ? pause.author() + pause.reason()
        : pause.author() + ": " + pause.reason();
  }

  private boolean changed(
      String job, Kept kept, JobStateRules.Verdict verdict, long nowMillis, Sink record) {
    JobStateRecord before = kept.standing;
    boolean moved = before == null || before.state() != verdict.state();
    boolean byHand = verdict.state() == JobState.PAUSED || verdict.state() == JobState.STOPPED;
    String reason = byHand ? whyPaused(job) : verdict.reason();
    JobStateRecord now =
        new JobStateRecord(
            job,
            verdict.state(),
            reason,
            before == null || moved ? nowMillis : before.sinceMillis(),
            kept.failure,
            kept.stopped,
            kept.goesOn,
            kept.from,
            kept.counters);
    if (now.equals(before)) {
      return false;
    }
    kept.standing = now;
    if (before == null && now.state() == JobState.WAITING) {
      // The initial state of a job need not be stored.
      shown.put(job, now);
      return true;
    }
    record.changed(now, moved);
    recorded.add(now);
    if (moved && now.state() == JobState.FAILED) {
      Job failed = core.job(core.findJob(job));
      if (failed != null && !failed.set().isEmpty()) {
        setsToJudge.add(failed.set());
      }
    }
    if (moved && before != null) {
      Json.Builder said =
          Json.object()
              .put("job", job)
              .put("from", before.state().word())
              .put("to", now.state().word());
      if (!reason.isEmpty()) {
        said.put("reason", reason);
      }
      events.add(nowMillis, EventKind.JOB_STATE, said.build());
    }
    return true;
  }

  /**
   * Returns what was recorded since the last call; to be {@link #show shown} once it is durable.
   */
  public List<JobStateRecord> takeRecorded() {
    List<JobStateRecord> taken = recorded;
    recorded = new ArrayList<>();
    return taken;
  }

  /** Shows states that are now durable. */
  public void show(List<JobStateRecord> durable) {
    durable.forEach(standing -> shown.put(standing.job(), standing));
  }

  /** The latest states of configured jobs by name, durable or not. */
  public Map<String, JobStateRecord> latest() {
    Map<String, JobStateRecord> all = new TreeMap<>();
    for (String job : core.config().jobs().keySet()) {
      Kept kept = jobs.get(job);
      if (kept != null && kept.standing != null) {
        all.put(job, kept.standing);
      }
    }
    return Collections.unmodifiableMap(all);
  }

  /**
   * A problem for each stuck job, with the reason, up to a limit; one more with the number of the
   * rest.
   */
  public List<Problem> stuck() {
    if (!anyStuck) {
      return List.of();
    }
    List<Problem> problems = new ArrayList<>();
    int more = 0;
    for (JobStateRecord standing : all().values()) {
      if (standing.state() != JobState.STUCK) {
        continue;
      }
      if (problems.size() < STUCK_NAMED) {
        String path = "bistro_job->" + standing.job();
        problems.add(Problem.warning(path, "the job is stuck: " + standing.reason()));
      } else {
        more++;
      }
    }
    if (more > 0) {
      problems.add(Problem.warning("", more + " more jobs are stuck"));
    }
    return problems;
  }

  /** The latest durable states of configured jobs by name; immutable. */
  public Map<String, JobStateRecord> all() {
    return shown.of(core.config());
  }
}
