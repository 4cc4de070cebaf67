package io.espalier.core.loop;

import io.espalier.core.api.Callback;
import io.espalier.core.api.Command;
import io.espalier.core.api.RefusedException;
import io.espalier.core.api.SelectionResult;
import io.espalier.core.api.TaskSelection;
import io.espalier.core.api.TaskSelector;
import io.espalier.core.api.view.BrakeView;
import io.espalier.core.api.view.LimitView;
import io.espalier.core.api.view.TaskDeadlines;
import io.espalier.core.api.view.WorkerView;
import io.espalier.core.event.EventKind;
import io.espalier.core.json.Json;
import io.espalier.core.loop.command.BrakeCommands;
import io.espalier.core.loop.command.JobStop;
import io.espalier.core.loop.command.LimitOverrideCommands;
import io.espalier.core.loop.command.PauseRegistry;
import io.espalier.core.loop.command.SelectionCommand;
import io.espalier.core.loop.command.TaskKiller;
import io.espalier.core.loop.command.TaskOperations;
import io.espalier.core.loop.command.TimeExtension;
import io.espalier.core.loop.command.WorkerPool;
import io.espalier.core.loop.health.HealthLimits;
import io.espalier.core.loop.notify.Outbox;
import io.espalier.core.loop.rollout.RolloutTracker;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.loop.state.LiveTasks.Live;
import io.espalier.core.loop.state.LoopEvents;
import io.espalier.core.loop.state.SlicedWork;
import io.espalier.core.loop.watch.JobStateTracker;
import io.espalier.core.loop.watch.Quarantines;
import io.espalier.core.outcome.JobEvent;
import io.espalier.core.rollout.Rollout;
import io.espalier.core.running.TaskRunner;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.store.Brake;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.core.status.store.Pause;
import io.espalier.core.status.store.Quarantine;
import io.espalier.core.status.store.StatusRow;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.ObjLongConsumer;
import org.jspecify.annotations.Nullable;

/** Executes the commands of operators, at the instant of a step of the loop. */
final class OperatorCommands implements Command.Handler {
  /** How long the answer to a brake waits for the store and the workers. */
  private static final long BRAKE_ANSWER_MILLIS = 1_000;

  private final SchedulingCore core;
  private final LiveTasks live;
  private final TaskRunner runner;
  private final LoopEvents events;
  private final PauseRegistry pauses;
  private final LimitOverrideCommands limits;
  private final BrakeCommands brakes;
  private final HealthLimits health;
  private final Quarantines quarantines;
  private final Outbox outbox;
  private final List<BrakeAnswer> brakeAnswers = new ArrayList<>();
  private final TaskKiller kills;
  private final WorkerPool pool;
  private final JobStateTracker jobStates;
  private final RolloutTracker rollouts;
  private final ViewPublisher views;
  private final Committer committer;
  private final Consumer<SlicedWork> chores;
  private final Reports reports;

  /** Takes what services report about their calls. */
  @FunctionalInterface
  interface Reports {
    /** Returns false when no such call is alive. */
    boolean take(Callback callback, long nowMillis);
  }

  /**
   * @param chores takes commands that the loop continues in slices
   * @param reports takes what services report about their calls
   */
  OperatorCommands(
      SharedParts parts,
      PauseRegistry pauses,
      LimitOverrideCommands limits,
      BrakeCommands brakes,
      HealthLimits health,
      Quarantines quarantines,
      Outbox outbox,
      TaskKiller kills,
      WorkerPool pool,
      Consumer<SlicedWork> chores,
      Reports reports) {
    this.core = parts.core();
    this.live = parts.live();
    this.runner = parts.ports().runner();
    this.events = parts.events();
    this.jobStates = parts.jobStates();
    this.rollouts = parts.rollouts();
    this.views = parts.views();
    this.committer = parts.committer();
    this.pauses = pauses;
    this.limits = limits;
    this.brakes = brakes;
    this.health = health;
    this.quarantines = quarantines;
    this.outbox = outbox;
    this.kills = kills;
    this.pool = pool;
    this.chores = chores;
    this.reports = reports;
  }

  // ---- selected tasks

  @Override
  public CompletionStage<SelectionResult> forgive(Command.Forgive command, long nowMillis) {
    return select(
        command.tasks(),
        TaskOperations.FORGIVE,
        new Slices(command, EventKind.FORGIVEN, JobEvent.FORGIVE, committer::forgiven));
  }

  @Override
  public CompletionStage<SelectionResult> rerun(Command.Rerun command, long nowMillis) {
    return select(
        command.tasks(),
        TaskOperations.RERUN,
        new Slices(command, EventKind.RERUN, JobEvent.RERUN, committer::rerun));
  }

  @Override
  public CompletionStage<SelectionResult> cancel(Command.Cancel command, long nowMillis) {
    TaskSelection tasks = command.tasks();
    int job = core.findJob(tasks.job());
    List<String> unknown =
        tasks.selector().nodes().stream()
            .filter(node -> job >= 0 && core.findNode(job, node) < 0)
            .sorted()
            .toList();
    if (!unknown.isEmpty()) {
      throw new RefusedException(
          RefusedException.Reason.UNKNOWN,
          "job "
              + tasks.job()
              + " has no task on "
              + String.join(", ", unknown.subList(0, Math.min(10, unknown.size())))
              + (unknown.size() > 10 ? " and " + (unknown.size() - 10) + " more nodes" : "")
              + "; nothing was changed");
    }
    return select(
        tasks,
        TaskOperations.cancel(TaskKiller.words(command)),
        new Slices(command, EventKind.CANCELLED, null, committer::cancelled));
  }

  @Override
  public CompletionStage<SelectionResult> killTasks(Command.KillTasks command, long nowMillis) {
    return select(command.tasks(), TaskOperations.KILL, new Kills(command));
  }

  private CompletionStage<SelectionResult> select(
      TaskSelection tasks, SelectionCommand.Operation operation, SelectionCommand.Sink sink) {
    SelectionCommand selection =
        new SelectionCommand(core, live, tasks, operation, sink, new CompletableFuture<>());
    chores.accept(selection);
    return selection.answer();
  }

  /** Adds the changes of a selection command to the batches. */
  private final class Slices implements SelectionCommand.Sink {
    private final Command<?> command;
    private final EventKind event;
    private final @Nullable JobEvent lifts;
    private final ObjLongConsumer<StatusRow> changed;

    /**
     * @param lifts what the command means for a job that has failed; null: nothing
     */
    Slices(
        Command<?> command,
        EventKind event,
        @Nullable JobEvent lifts,
        ObjLongConsumer<StatusRow> changed) {
      this.command = command;
      this.event = event;
      this.lifts = lifts;
      this.changed = changed;
    }

    @Override
    public void changed(StatusRow row, long nowMillis) {
      changed.accept(row, nowMillis);
    }

    @Override
    public void changedRunning(Live task, long nowMillis) {
      committer.cancelRequested(task, nowMillis);
      kills.kill(task.key, command, nowMillis);
    }

    @Override
    public void sliced(Runnable durable) {
      OperatorCommands.this.sliced(durable);
    }

    @Override
    public void finished(TaskSelection selection, long tasks, long nowMillis, Runnable durable) {
      Json.Builder said =
          Json.object()
              .put("jobs", Json.strings(List.of(selection.job())))
              .put("tasks", tasks)
              .put("reason", selection.reason());
      if (!selection.author().isEmpty()) {
        said.put("author", selection.author());
      }
      events.add(nowMillis, event, said.build());
      if (lifts == null) {
        committer.updateJobStates(nowMillis);
      } else if (tasks > 0 || selection.selector().equals(TaskSelector.ALL)) {
        jobStates.again(selection.job(), lifts, nowMillis);
        committer.updateJobStates(nowMillis);
      }
      committer.commit().thenRun(durable);
    }
  }

  /** Kills tasks that run; each has an event of its own, and nothing else is recorded. */
  private final class Kills implements SelectionCommand.Sink {
    private final Command.KillTasks command;

    Kills(Command.KillTasks command) {
      this.command = command;
    }

    @Override
    public void changed(StatusRow row, long nowMillis) {
      throw new IllegalStateException("a task that does not run cannot be killed: " + row);
    }

    @Override
    public void changedRunning(Live task, long nowMillis) {
      kills.kill(task.key, command, nowMillis);
    }

    @Override
    public void sliced(Runnable durable) {
      OperatorCommands.this.sliced(durable);
    }

    @Override
    public void finished(TaskSelection selection, long tasks, long nowMillis, Runnable durable) {
      committer.commit().thenRun(durable);
    }
  }

  // ---- one task

  @Override
  public CompletionStage<Void> kill(Command.Kill command, long nowMillis) {
    TaskKey task = new TaskKey(command.job(), command.node());
    if (!kills.kill(task, command, nowMillis)) {
      throw refused(task, "is not running");
    }
    return committer.commit();
  }

  @Override
  public CompletionStage<TaskDeadlines> extend(Command.Extend command, long nowMillis) {
    TaskKey key = new TaskKey(command.job(), command.node());
    Live task = live.get(key);
    if (task == null) {
      throw refused(key, "is not running");
    }
    String refusal = TimeExtension.refusal(task, command.millis());
    if (refusal != null) {
      throw refused(key, refusal);
    }
    if (!TimeExtension.extend(task, command.millis(), runner)) {
      throw refused(key, "cannot be given more time by the runner " + runner.name());
    }
    events.extended(task, command, nowMillis);
    live.changed(task);
    views.changed();
    return CompletableFuture.completedFuture(task.limits);
  }

  @Override
  public CompletionStage<Boolean> report(Command.Report command, long nowMillis) {
    return committer.commit(reports.take(command.callback(), nowMillis));
  }

  private RefusedException refused(TaskKey task, String why) {
    return new RefusedException(
        core.findJob(task.job()) < 0
            ? RefusedException.Reason.UNKNOWN
            : RefusedException.Reason.CONFLICT,
        "task " + task.job() + " on " + task.node() + " " + why);
  }

  // ---- jobs

  @Override
  public CompletionStage<Void> pause(Command.Pause command, long nowMillis) {
    pause(command, false, nowMillis);
    return committer.commitInTurn(command).thenAccept(done -> {});
  }

  private void pause(Command.Pause command, boolean stops, long nowMillis) {
    long until = command.millis() <= 0 ? 0 : nowMillis + command.millis();
    Pause pause = new Pause(command.job(), command.author(), command.reason(), nowMillis, until);
    pauses.pause(pause, nowMillis);
    committer.batch().pause(pause);
    views.changed();
    jobStates.paused(command.job(), stops);
    committer.updateJobStates(nowMillis);
  }

  @Override
  public CompletionStage<Void> resume(Command.Resume command, long nowMillis) {
    jobStates.resume(command.job(), nowMillis);
    pauses.resume(command.job(), command.author(), command.reason(), nowMillis);
    committer.batch().resume(command.job());
    rollouts.resume(command.job(), nowMillis);
    views.changed();
    committer.updateJobStates(nowMillis);
    return committer.commit();
  }

  @Override
  public CompletionStage<Rollout> halt(Command.Halt command, long nowMillis) {
    Rollout halted = rollouts.halt(command.job(), command.author(), command.reason(), nowMillis);
    views.changed();
    committer.updateJobStates(nowMillis);
    return committer.commitInTurn(halted);
  }

  @Override
  public CompletionStage<Rollout> promote(Command.Promote command, long nowMillis) {
    Rollout opened = rollouts.promote(command.job(), command.author(), command.reason(), nowMillis);
    views.changed();
    committer.updateJobStates(nowMillis);
    return committer.commit(opened);
  }

  @Override
  public CompletionStage<Long> stop(Command.Stop command, long nowMillis) {
    pause(new Command.Pause(command.job(), 0, command.author(), command.reason()), true, nowMillis);
    CompletableFuture<Long> answer = new CompletableFuture<>();
    chores.accept(
        new JobStop(
            live,
            kills,
            command,
            this::sliced,
            killed -> committer.commitInTurn(killed).thenAccept(answer::complete)));
    return answer;
  }

  /** Commits a slice. */
  private void sliced(Runnable durable) {
    var unused = committer.commit();
    committer.whenDurable(now -> durable.run());
  }

  // ---- limits

  @Override
  public CompletionStage<LimitView> setLimit(Command.SetLimit command, long nowMillis) {
    LimitOverride wanted = command.override();
    LimitOverride override =
        new LimitOverride(
            wanted.level(),
            wanted.resource(),
            wanted.node(),
            wanted.limit(),
            wanted.author(),
            wanted.reason(),
            nowMillis,
            command.millis() <= 0 ? 0 : nowMillis + command.millis());
    limits.set(override, nowMillis);
    committer.batch().limit(override);
    return committer.commit(limits.view(override));
  }

  @Override
  public CompletionStage<LimitView> endLimit(Command.EndLimit command, long nowMillis) {
    LimitView ended = limits.end(command.key(), command.author(), command.reason(), nowMillis);
    committer.batch().endLimit(command.key());
    return committer.commit(ended);
  }

  // ---- brakes

  /** An answer to a brake that waits for the store and the workers. */
  private record BrakeAnswer(
      Brake brake,
      long byMillis,
      CompletableFuture<Boolean> durable,
      CompletableFuture<BrakeView> answer) {}

  @Override
  public CompletionStage<BrakeView> brake(Command.SetBrake command, long nowMillis) {
    Brake wanted = command.brake();
    Brake brake =
        brakes.set(
            wanted
                .with()
                .key(brakes.located(wanted.key()))
                .untilMillis(command.millis() <= 0 ? 0 : nowMillis + command.millis())
                .build(),
            nowMillis);
    committer.batch().brake(brake);
    views.changed();
    BrakeAnswer answer =
        new BrakeAnswer(
            brake,
            nowMillis + BRAKE_ANSWER_MILLIS,
            new CompletableFuture<>(),
            new CompletableFuture<>());
    var unused = committer.commitInTurn(true).thenAccept(answer.durable::complete);
    brakeAnswers.add(answer);
    return answer.answer;
  }

  @Override
  public CompletionStage<BrakeView> release(Command.ReleaseBrake command, long nowMillis) {
    Brake released =
        brakes.release(
            brakes.braked(command.key()),
            command.ramp(),
            command.author(),
            command.reason(),
            nowMillis,
            brakeChanges());
    views.changed();
    return committer.commit(new BrakeView(released, released.factorAt(nowMillis), true, List.of()));
  }

  @Override
  public CompletionStage<Quarantine> quarantine(Command.SetQuarantine command, long nowMillis) {
    Quarantine.Key key = command.key();
    Brake.Key node = brakes.located(new Brake.Key(Brake.Target.NODE, key.level(), key.node()));
    Quarantine set =
        quarantines.set(
            new Quarantine.Key(node.level(), node.name(), key.job()),
            command.author(),
            command.reason(),
            nowMillis);
    views.changed();
    return committer.commitInTurn(set);
  }

  @Override
  public CompletionStage<Quarantine> lift(Command.LiftQuarantine command, long nowMillis) {
    Quarantine lifted =
        quarantines.lift(command.key(), command.author(), command.reason(), nowMillis);
    views.changed();
    return committer.commit(lifted);
  }

  private BrakeCommands.Changes brakeChanges() {
    return new BrakeCommands.Changes() {
      @Override
      public void put(Brake brake) {
        committer.batch().brake(brake);
      }

      @Override
      public void remove(Brake.Key key) {
        committer.batch().endBrake(key);
      }
    };
  }

  /** Ends brakes whose time has come, and answers the commands that set some. */
  void step(long nowMillis) {
    if (nowMillis >= brakes.nextMillis()) {
      brakes.step(nowMillis, brakeChanges());
      views.changed();
    }
    brakeAnswers.removeIf(answer -> isAnswered(answer, nowMillis));
  }

  private boolean isAnswered(BrakeAnswer pending, long nowMillis) {
    Brake brake = pending.brake;
    return (isComplete(pending) || nowMillis >= pending.byMillis)
        && pending.answer.complete(
            new BrakeView(
                brake,
                brake.millionths(),
                pending.durable.isDone(),
                brakes.unconfirmed(brake.key())));
  }

  private boolean isComplete(BrakeAnswer pending) {
    return pending.durable.isDone() && brakes.isConfirmed(pending.brake.key());
  }

  /** When {@link #step} must be called next; {@link Long#MAX_VALUE}: only after an input. */
  long nextMillis() {
    long next = brakes.nextMillis();
    for (BrakeAnswer answer : brakeAnswers) {
      next = Math.min(next, isComplete(answer) ? 0 : answer.byMillis);
    }
    return next;
  }

  // ---- notifications

  @Override
  public CompletionStage<Integer> pushProbe(Command.PushProbe command, long nowMillis) {
    return CompletableFuture.completedFuture(
        health.push(command.probe(), command.node(), command.value(), nowMillis));
  }

  @Override
  public CompletionStage<String> testNotifier(Command.TestNotifier command, long nowMillis) {
    return outbox.test(command.notifier(), command.author(), nowMillis);
  }

  // ---- workers

  @Override
  public CompletionStage<WorkerView> cordon(Command.Cordon command, long nowMillis) {
    committer.batch().cordon(pool.cordon(command, nowMillis));
    return committer.commitInTurn(pool.view(command.worker()));
  }

  @Override
  public CompletionStage<WorkerView> uncordon(Command.Uncordon command, long nowMillis) {
    pool.uncordon(command, nowMillis);
    committer.batch().uncordon(command.worker());
    return committer.commit(pool.view(command.worker()));
  }
}
