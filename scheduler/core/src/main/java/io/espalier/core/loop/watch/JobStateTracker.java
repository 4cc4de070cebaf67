package io.espalier.core.loop.watch;

import io.espalier.core.api.RefusedException;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.SetRule;
import io.espalier.core.event.EventKind;
import io.espalier.core.json.Json;
import io.espalier.core.loop.state.LoopEvents;
import io.espalier.core.outcome.JobEvent;
import io.espalier.core.outcome.JobFlags;
import io.espalier.core.outcome.JobState;
import io.espalier.core.outcome.JobStateInputs;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.outcome.JobStateRules;
import io.espalier.core.outcome.Percent;
import io.espalier.core.problem.Problem;
import io.espalier.core.running.Counters;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.StuckJobs;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.status.TaskStatus;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
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
  private final Map<String, JobMemory> jobs = new HashMap<>();
  private final DurableJobStates durable = new DurableJobStates();
  private List<JobStateRecord> recorded = new ArrayList<>();
  private final Set<String> setsToEvaluate = new HashSet<>();
  private final SetStates sets;
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

  public JobStateTracker(SchedulingCore core, LoopEvents events, JobVerifications verifications) {
    this.verifications = verifications;
    this.core = core;
    this.events = events;
    this.sets = new SetStates(core, events, this::state);
  }

  /** Restores what outlived a restart: failed jobs are closed at once. */
  public void restore(List<JobStateRecord> stored) {
    for (JobStateRecord state : stored) {
      memory(state.job()).restore(state);
      durable.put(state);
      if (!state.failure().isEmpty()) {
        core.gates().close(Gate.of(GateKind.JOB_FAILED, state.job(), state.failure()));
      }
    }
  }

  private JobMemory memory(String job) {
    return jobs.computeIfAbsent(job, JobMemory::new);
  }

  /** Forgets a job that was deleted and created again: the new job inherits nothing. */
  public void forget(String job) {
    jobs.remove(job);
    verifications.forget(job);
    durable.remove(job);
    core.gates().open(GateKind.JOB_FAILED, job);
    core.gates().open(GateKind.JOB_SUCCEEDED, job);
  }

  // ---- what happens

  /** Counts the end of a task with that status. */
  public void ended(String job, TaskStatus status) {
    restored(job, status);
    memory(job).newEnd();
  }

  /** Counts the stored status of a task that was unknown before; in any order. */
  public void restored(String job, TaskStatus status) {
    Job config = core.job(core.findJob(job));
    memory(job).countEnd(config == null ? null : config.outcome(), status);
  }

  /**
   * Announces that {@link #restored} will be called for all ends of a job that is new or returns.
   */
  public void willRestore(String job) {
    JobMemory memory = jobs.get(job);
    if (memory != null) {
      memory.forgetWindow();
    }
  }

  /** Notes that an operator has paused or stopped the job. */
  public void paused(String job, boolean stopped) {
    act(job, stopped ? JobEvent.STOP : JobEvent.PAUSE, 0);
  }

  /** Notes that a pause has expired. */
  public void pauseEnded(String job) {
    memory(job).pauseEnded();
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
    JobStateInputs facts = facts(number, memory(job));
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
    JobMemory memory = memory(job);
    boolean hadFailed = !memory.failure().isEmpty();
    JobFlags flags = JobStateRules.after(facts(number, memory), event, "");
    memory.setFlags(flags);
    if (hadFailed && !flags.isFailed()) {
      memory.countFrom(core.tasks().tally(number), nowMillis);
    }
    if (!flags.isFailed()) {
      // Reopen the job even if it was not closed, so that it is evaluated.
      core.gates().open(GateKind.JOB_FAILED, job);
    }
  }

  /**
   * Returns those counters of a task for which its job has room, and keeps their names: a job has
   * at most {@link Counters#MOST_NAMES}.
   */
  public Counters fitting(String job, Counters ofTask) {
    return ofTask.isEmpty() ? ofTask : memory(job).fitting(ofTask);
  }

  /**
   * Adds what a task of the job has counted. It is stored, and then shown, with the job's state.
   *
   * @return the sums
   */
  public Counters counted(String job, Counters more, long nowMillis, Sink record) {
    JobMemory memory = memory(job);
    Counters sums = memory.add(more);
    JobStateRecord now = memory.record(nowMillis);
    memory.latest = now;
    record.changed(now, false);
    recorded.add(now);
    return sums;
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
        changed |= evaluate(job, config, nowMillis, record);
      }
    }
    changed |= failSets(nowMillis, record);
    sets.step(nowMillis);
    return changed;
  }

  /**
   * Fails the jobs of sets in which as many jobs have failed as the rule of the set says. Only the
   * failure of a job is an occasion: what an operator has resumed since goes on.
   */
  private boolean failSets(long nowMillis, Sink record) {
    boolean changed = false;
    while (!setsToEvaluate.isEmpty()) {
      List<String> sets = List.copyOf(setsToEvaluate);
      setsToEvaluate.clear();
      for (String set : sets) {
        changed |= failSet(set, nowMillis, record);
      }
    }
    return changed;
  }

  private boolean failSet(String set, long nowMillis, Sink record) {
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
      JobStateRecord latest = memory(job.name()).latest;
      if (latest != null && latest.state() == JobState.FAILED) {
        failed.add(job.name());
      } else if (latest == null || !latest.state().isEnd()) {
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
        memory(job.name()).fail(why);
        core.gates().close(Gate.of(GateKind.JOB_FAILED, job.name(), why));
        changed |= evaluate(number, job, nowMillis, record);
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
    if (!hasNews() || (anyRuns && nowMillis < nextJudgement)) {
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
      JobMemory memory = memory(job.name());
      anyStuck |= !why.isEmpty();
      if (!why.equals(memory.stuck)) {
        memory.stuck = why;
        changed |= evaluate(number, job, nowMillis, record);
      }
    }
    changed |= failSets(nowMillis, record);
    sets.step(nowMillis);
    return changed;
  }

  private boolean hasNews() {
    return core.changes() != judgedChanges || core.stateNumber() != judgedState;
  }

  /** When the next evaluation is due; {@link Long#MAX_VALUE}: only when something happens. */
  public long nextMillis() {
    return hasNews() ? nextJudgement : Long.MAX_VALUE;
  }

  private JobStateInputs facts(int number, JobMemory memory) {
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
        memory.stuck,
        job.outcome().donePercent(),
        verifications.tally(number),
        memory.flags(core.gates().get(GateKind.PAUSE, name) != null),
        unverified,
        halted(name));
  }

  private boolean evaluate(int number, Job job, long nowMillis, Sink record) {
    JobMemory memory = memory(job.name());
    JobStateInputs facts = facts(number, memory);
    if (memory.goesOn() && (!facts.isSuccess() || facts.tally().isThrough())) {
      memory.goesOnNoLonger();
      facts = facts(number, memory);
    }
    if (JobStateRules.isLegal(facts, JobEvent.RULE_BROKEN)) {
      String broken = memory.brokenRule(job.outcome(), facts.tally(), nowMillis);
      if (broken != null) {
        memory.fail(JobStateRules.after(facts, JobEvent.RULE_BROKEN, broken).failure());
        core.gates().close(Gate.of(GateKind.JOB_FAILED, job.name(), broken));
        facts = facts(number, memory);
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
    closeWhenEnough(job.name(), facts);
    return changed(job.name(), memory, verdict, nowMillis, record);
  }

  private void closeWhenEnough(String job, JobStateInputs facts) {
    boolean rests = facts.restIsNotNeeded();
    if (rests == (core.gates().get(GateKind.JOB_SUCCEEDED, job) != null)) {
      return;
    }
    if (rests) {
      String why = "enough is done: " + Percent.text(facts.donePercent()) + " of the job's tasks";
      core.gates().close(Gate.of(GateKind.JOB_SUCCEEDED, job, why));
    } else {
      core.gates().open(GateKind.JOB_SUCCEEDED, job);
    }
  }

  private boolean isLoading(String job) {
    return core.gates().get(GateKind.LOADING, job) != null;
  }

  /** Returns why the roll-out of a job is halted, and by whom; empty when it is not. */
  private String halted(String job) {
    Gate gate = core.gates().get(GateKind.HALTED, job);
    return gate == null
        ? ""
        : (gate.author().isEmpty() ? "" : "by " + gate.author() + ": ") + gate.reason();
  }

  /** The reason for which a gate of a job is closed; empty when it is open. */
  private String reason(GateKind kind, String job) {
    Gate gate = core.gates().get(kind, job);
    return gate == null ? "" : gate.reason();
  }

  /** Why the job is paused, and by whom; empty when it is not paused or nothing was given. */
  private String whyPaused(String job) {
    Gate pause = core.gates().get(GateKind.PAUSE, job);
    if (pause == null) {
      return "";
    }
    return pause.author().isEmpty() || pause.reason().isEmpty()
        ? pause.author() + pause.reason()
        : pause.author() + ": " + pause.reason();
  }

  private boolean changed(
      String job, JobMemory memory, JobStateRules.Verdict verdict, long nowMillis, Sink record) {
    JobStateRecord before = memory.latest;
    boolean moved = before == null || before.state() != verdict.state();
    boolean byHand = verdict.state() == JobState.PAUSED || verdict.state() == JobState.STOPPED;
    String reason = byHand ? whyPaused(job) : verdict.reason();
    long since = before == null || moved ? nowMillis : before.sinceMillis();
    JobStateRecord now = memory.record(verdict.state(), reason, since);
    if (now.equals(before)) {
      return false;
    }
    memory.latest = now;
    if (before == null && now.state() == JobState.WAITING) {
      // The initial state of a job need not be stored.
      durable.put(now);
      return true;
    }
    record.changed(now, moved);
    recorded.add(now);
    if (moved) {
      movedOfSet(job, before == null ? null : before.state(), now.state());
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

  private void movedOfSet(String name, @Nullable JobState before, JobState now) {
    Job job = core.job(core.findJob(name));
    if (job != null && !job.set().isEmpty()) {
      sets.moved(job.set(), before, now);
      if (now == JobState.FAILED) {
        setsToEvaluate.add(job.set());
      }
    }
  }

  /** The latest state of a job, durable or not; null: it has none yet. */
  public @Nullable JobState state(String job) {
    JobMemory memory = jobs.get(job);
    return memory == null || memory.latest == null ? null : memory.latest.state();
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
  public void show(List<JobStateRecord> states) {
    states.forEach(durable::put);
  }

  /** The latest states of configured jobs by name, durable or not. */
  public Map<String, JobStateRecord> latest() {
    Map<String, JobStateRecord> all = new TreeMap<>();
    for (String job : core.config().jobs().keySet()) {
      JobMemory memory = jobs.get(job);
      if (memory != null && memory.latest != null) {
        all.put(job, memory.latest);
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
    for (JobStateRecord latest : all().values()) {
      if (latest.state() != JobState.STUCK) {
        continue;
      }
      if (problems.size() < STUCK_NAMED) {
        String path = Config.JOB_KEY + latest.job();
        problems.add(Problem.warning(path, "the job is stuck: " + latest.reason()));
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
    return durable.of(core.config());
  }
}
