package io.espalier.core.loop.rollout;

import io.espalier.core.api.RefusedException;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.rollout.RolloutSpec;
import io.espalier.core.loop.health.HealthLimits;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.loop.state.LiveTasks.Live;
import io.espalier.core.loop.state.LoopEvents;
import io.espalier.core.loop.state.RoundStep;
import io.espalier.core.loop.watch.Quarantines;
import io.espalier.core.rollout.Rollout;
import io.espalier.core.rollout.Rollout.Phase;
import io.espalier.core.rollout.RolloutMembers;
import io.espalier.core.running.TaskResult;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.status.StepPosition;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.RolloutRow;
import io.espalier.core.status.store.StoreTransaction;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The roll-outs of jobs in stages (docs/adr/0079-staged-rollouts.md): determines the tasks of the
 * stages when a roll-out begins, counts how they end, and takes the commands of operators. {@link
 * StageProgress} opens the next stage or halts the job. A job that is to have a roll-out is closed
 * until its stages are determined and in effect. Everything is written to the batch in which it
 * happens, together with the ends that are its cause.
 */
public final class RolloutTracker implements RoundStep {
  private final SchedulingCore core;
  private final Quarantines quarantines;
  private final StageProbes probes;
  private final RolloutEffects effects;
  private final StageProgress stages;
  private final RolloutDraws draws;
  private final Supplier<StoreTransaction.Builder> batch;
  private final BooleanSupplier mayBegin;
  private final Map<String, StagedJob> all = new TreeMap<>();

  private @Nullable Config config;
  private long stateNumber = -1;
  private long changes = -1;

  /** The {@link Quarantines#revision} that the stages know. */
  private long quarantined = -1;

  private long next = Long.MAX_VALUE;

  /** Whether all are to be evaluated again. */
  private boolean isDirty;

  private long evaluations;

  /** The jobs whose stored roll-outs cannot be read, with why; they are halted. */
  private final Map<String, String> unread = new TreeMap<>();

  /**
   * @param batch returns the changes that are being collected for the store
   * @param mayBegin whether stored statuses are read, so that it is known which tasks are left
   */
  public RolloutTracker(
      SchedulingCore core,
      LoopEvents events,
      Quarantines quarantines,
      LiveTasks live,
      HealthLimits health,
      Supplier<StoreTransaction.Builder> batch,
      BooleanSupplier mayBegin) {
    this.core = core;
    this.quarantines = quarantines;
    this.probes = new StageProbes(core, live, health);
    this.effects = new RolloutEffects(core, events, batch);
    this.stages = new StageProgress(core, probes, effects);
    this.draws = new RolloutDraws(core);
    this.batch = batch;
    this.mayBegin = mayBegin;
  }

  /**
   * Restores what outlived a restart: later stages stay closed, and halted jobs start nothing. A
   * job whose roll-out cannot be read is halted until somebody resumes it, and that is told: nobody
   * knows which of its tasks may start.
   */
  public void restore(List<RolloutRow> rows) {
    StoredRollouts.read(
        rows,
        this::restore,
        (job, why) -> {
          unread.put(job, why);
          core.gates()
              .close(
                  new Gate(
                      GateKind.HALTED, Scope.job(job), "", RolloutMessages.unread(job, why), 0, 0));
        });
  }

  private void restore(Rollout now, RolloutMembers members) {
    StagedJob staged = new StagedJob(now, members);
    staged.isRestored = true;
    all.put(now.job(), staged);
    effects.restore(staged);
  }

  /** Forgets a job that was deleted and created again. */
  public void forget(String job) {
    draws.remove(job);
    config = null; // It is looked at again.
    boolean wasRead = all.remove(job) != null;
    boolean wasUnread = unread.remove(job) != null;
    if (wasRead || wasUnread) {
      batch.get().endRollout(job);
      core.gates().openStages(job);
      core.gates().open(GateKind.HALTED, job);
    }
  }

  /** The roll-outs of configured jobs by name, as an immutable copy. */
  public Map<String, Rollout> view() {
    if (all.isEmpty()) {
      return Map.of();
    }
    Map<String, Rollout> view = new HashMap<>();
    all.forEach((job, staged) -> view.put(job, staged.now));
    return Map.copyOf(view);
  }

  // ---- what happens

  /** Sees the start of a task. */
  public void placed(Live task, long nowMillis) {
    StagedJob staged = all.isEmpty() ? null : all.get(task.key.job());
    RolloutSpec spec = staged == null || staged.hasPassed() ? null : spec(staged.name());
    if (staged != null && spec != null) {
      probes.placed(staged, spec, task.run, nowMillis);
    }
  }

  /**
   * Counts the end of an attempt.
   *
   * @param before the status of the task while it ran
   * @param hasFailed whether the attempt has failed
   */
  public void ended(
      Live task,
      TaskResult end,
      TaskStatus before,
      TaskStatus after,
      boolean hasFailed,
      long nowMillis) {
    StagedJob staged = all.isEmpty() ? null : all.get(task.key.job());
    if (staged == null
        || staged.hasPassed()
        || task.isOfForgottenJob()
        || staged.members.stage(task.key.node()) != staged.now.stage()) {
      return;
    }
    StepPosition step = before.step();
    if (step != null && step.isVerification()) {
      return;
    }
    staged.isDirty = true;
    if (core.staged().isApart(core.findJob(task.key.job()), task.key.node())) {
      return;
    }
    if (end.kind() == TaskResult.Kind.EXITED) {
      staged.durations.addForEver(nowMillis - task.startedMillis());
    }
    // That a worker is lost says nothing about what was rolled out.
    boolean isFailed =
        (hasFailed && end.kind() != TaskResult.Kind.LOST) || after.main() == TaskStatus.Main.FAILED;
    boolean isDone = after.main() == TaskStatus.Main.DONE;
    if (staged.hasFailed(task.key.node(), before)) {
      return;
    }
    if (isFailed || isDone) {
      if (isFailed) {
        staged.failedOnce.add(task.key.node());
      }
      effects.put(staged, staged.now.counted(isFailed));
    }
  }

  /**
   * Halts a roll-out on an operator's command. One that is halted already stays as it is, so that
   * what has halted it, such as a check with its numbers, stays readable.
   */
  public Rollout halt(String job, String author, String reason, long nowMillis) {
    StagedJob staged = underWay(job);
    if (staged.now.phase() != Phase.HALTED) {
      effects.halt(
          staged, reason.isEmpty() ? "an operator has halted it" : reason, author, nowMillis);
    }
    return staged.now;
  }

  /** Opens the next stage on an operator's command. */
  public Rollout promote(String job, String author, String reason, long nowMillis) {
    StagedJob staged = underWay(job);
    if (staged.now.isLast()) {
      throw conflict(job, "is in its last stage: nothing is left to be opened");
    }
    core.gates().open(GateKind.HALTED, job);
    effects.openNext(staged, spec(job), author, reason, nowMillis);
    isDirty = true;
    return staged.now;
  }

  /**
   * Goes on with a halted roll-out, if it is one; what was counted so far does not count. One that
   * cannot be read begins again.
   */
  public void resume(String job, long nowMillis) {
    if (unread.remove(job) != null) {
      batch.get().endRollout(job);
      configure();
      core.gates().open(GateKind.HALTED, job);
    }
    StagedJob staged = all.get(job);
    if (staged != null && staged.now.phase() == Phase.HALTED) {
      core.gates().open(GateKind.HALTED, job);
      staged.clear(nowMillis);
      effects.put(staged, staged.now.resumed());
      isDirty = true;
    }
  }

  private StagedJob underWay(String job) {
    if (core.job(core.findJob(job)) == null) {
      throw new RefusedException(RefusedException.Reason.UNKNOWN, "no job is called " + job);
    }
    StagedJob staged = all.get(job);
    if (unread.containsKey(job)) {
      throw conflict(job, "cannot be read: it begins again when the job is resumed");
    }
    if (draws.has(job)) {
      throw conflict(job, "begins just now: try again in a moment");
    }
    if (staged == null) {
      throw conflict(job, "does not exist: the job has no stages, or no tasks that are left");
    }
    if (staged.hasPassed()) {
      throw conflict(job, "has passed");
    }
    return staged;
  }

  private static RefusedException conflict(String job, String why) {
    return new RefusedException(
        RefusedException.Reason.CONFLICT, "the roll-out of job " + job + " " + why);
  }

  // ---- the step

  /**
   * Begins roll-outs, opens the stages whose time has come, and halts jobs. Costs nothing as long
   * as no job has stages.
   *
   * @return whether something may have changed
   */
  @Override
  @SuppressWarnings("ReferenceEquality") // Each configuration is a new object.
  public boolean step(long nowMillis) {
    boolean isNew = config != core.config() || stateNumber != core.stateNumber();
    if (isNew) {
      configure();
    }
    boolean drew = mayBegin.getAsBoolean() && beginNext(nowMillis);
    boolean isAll = setApart() || isNew || drew || isDirty;
    boolean hasNews = probes.look(all.values());
    if (all.isEmpty() || !(isAll || hasNews || changes != core.changes() || nowMillis >= next)) {
      return isNew || drew;
    }
    isDirty = false;
    next = Long.MAX_VALUE;
    boolean hasLooked = drew;
    for (StagedJob staged : all.values()) {
      if (isAll || isDue(staged, nowMillis)) {
        hasLooked = true;
        staged.isDirty = false;
        staged.nextMillis = Long.MAX_VALUE;
        evaluate(staged, nowMillis);
      }
      next = Math.min(next, staged.nextMillis);
    }
    changes = core.changes();
    return hasLooked;
  }

  /** Sets the tasks of nodes in quarantine apart; returns whether something has changed. */
  private boolean setApart() {
    if (quarantined == quarantines.revision()) {
      return false;
    }
    quarantined = quarantines.revision();
    boolean hasChanged = false;
    for (StagedJob staged : all.values()) {
      List<Scope> apart = quarantines.nodesClosedTo(staged.name());
      if (!staged.hasPassed() && !apart.equals(staged.apart)) {
        hasChanged = true;
        staged.apart = apart;
        effects.showStage(staged, spec(staged.name()));
      }
    }
    return hasChanged;
  }

  private @Nullable RolloutSpec spec(String name) {
    Job job = core.job(core.findJob(name));
    return job == null ? null : job.scheduling().rollout().orElse(null);
  }

  /** Returns whether anything has happened that a roll-out waits for; costs two look-ups. */
  private boolean isDue(StagedJob staged, long nowMillis) {
    return !staged.hasPassed()
        && (staged.isDirty || nowMillis >= staged.nextMillis || left(staged) != staged.left);
  }

  private long left(StagedJob staged) {
    int number = core.findJob(staged.name());
    return number < 0 ? staged.left : core.staged().left(number) + core.staged().leftApart(number);
  }

  /** How many roll-outs were evaluated so far: what the steps have cost. */
  public long evaluations() {
    return evaluations;
  }

  @Override
  public void problems(BiConsumer<String, @Nullable String> told) {
    told.accept("rollouts", RolloutMessages.unread(unread));
  }

  @Override
  public boolean isBehind() {
    return draws.isDrawing() || isDirty;
  }

  /** Returns true when a roll-out begins or a stage is being opened. */
  @Override
  public boolean isOpening() {
    return isBehind() || !draws.isEmpty() || !core.staged().areInEffect();
  }

  /** When the next soak ends. */
  @Override
  public long nextMillis() {
    return next;
  }

  @Override
  public boolean mayOpen() {
    return next != Long.MAX_VALUE
        || all.values().stream().anyMatch(staged -> !staged.missing.isEmpty());
  }

  private void configure() {
    config = core.config();
    stateNumber = core.stateNumber();
    for (Job job : core.config().jobs().values()) {
      RolloutSpec spec = job.scheduling().rollout().orElse(null);
      if (spec != null && job.isValid() && !unread.containsKey(job.name())) {
        configure(job, spec);
      }
    }
    Set<String> known = new TreeSet<>(all.keySet());
    known.addAll(unread.keySet());
    for (String name : known) {
      Job job = core.config().job(name);
      if (job == null || (job.isValid() && job.scheduling().rollout().isEmpty())) {
        forget(name);
        core.gates().open(GateKind.ROLLOUT, name);
      }
    }
    draws.dropUnstaged();
    config = core.config();
  }

  private void configure(Job job, RolloutSpec spec) {
    StagedJob staged = all.get(job.name());
    long fingerprint = RolloutFingerprint.of(job, spec);
    if (staged != null && staged.now.fingerprint() == fingerprint) {
      return;
    }
    if (staged != null && spec.goesOn()) {
      effects.put(staged, staged.now.withFingerprint(fingerprint));
      return;
    }
    draws.add(job.name());
  }

  /** Begins a roll-out if the stages of a job are known now; returns whether they are. */
  private boolean beginNext(long nowMillis) {
    RolloutDraw drawn = draws.step();
    Job job = drawn == null ? null : core.job(core.findJob(drawn.job()));
    if (drawn == null || job == null) {
      return false;
    }
    begin(job, drawn.spec(), drawn, nowMillis);
    return true;
  }

  private void begin(Job job, RolloutSpec spec, RolloutDraw drawn, long nowMillis) {
    String name = job.name();
    StagedJob before = all.remove(name);
    core.gates().open(GateKind.HALTED, name);
    if (drawn.total() == 0) {
      // There is nothing to be staged; with the first task it is looked at again.
      core.gates().openStages(name);
      core.gates().open(GateKind.ROLLOUT, name);
      if (before != null) {
        batch.get().endRollout(name);
      }
      return;
    }
    List<Long> sizes = drawn.sizes();
    RolloutMembers members = RolloutMembers.of(name, drawn.members(), sizes);
    List<String> stages = spec.stages().stream().map(stage -> stage.text()).toList();
    Rollout first = Rollout.begun(name, RolloutFingerprint.of(job, spec), stages, sizes, nowMillis);
    StagedJob staged = new StagedJob(first, members);
    staged.apart = quarantines.nodesClosedTo(name);
    staged.knowsStarted = true;
    all.put(name, staged);
    effects.begin(staged, spec, nowMillis);
  }

  private void evaluate(StagedJob staged, long nowMillis) {
    evaluations++;
    stages.forgetFailuresApart(staged);
    RolloutSpec spec = spec(staged.name());
    if (spec != null && !draws.has(staged.name())) {
      // A stage that is not in effect yet is evaluated again when it is.
      isDirty |= !core.staged().areInEffect() || stages.advance(staged, spec, nowMillis);
    }
  }
}
