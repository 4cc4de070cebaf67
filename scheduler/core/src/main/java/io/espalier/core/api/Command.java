package io.espalier.core.api;

import io.espalier.core.api.view.BrakeView;
import io.espalier.core.api.view.LimitView;
import io.espalier.core.api.view.TaskDeadlines;
import io.espalier.core.api.view.WorkerView;
import io.espalier.core.rollout.Rollout;
import io.espalier.core.running.WorkerCordon;
import io.espalier.core.status.store.Brake;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.core.status.store.Quarantine;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * What an operator can order. A new command is a record here; {@link Handler} then makes every
 * scheduler that does not handle it fail to compile.
 *
 * @param <T> type of the answer
 */
public sealed interface Command<T> {
  /** The operator; empty when none was given. */
  String author();

  /** The operator's reason; may be empty. */
  String reason();

  /**
   * Calls the method of the handler for this command.
   *
   * @param nowMillis when the command takes effect
   */
  CompletionStage<T> execute(Handler handler, long nowMillis);

  /**
   * Executes each kind of command. A method throws {@link RefusedException}, or its stage fails
   * with it, for an invalid command; otherwise the stage completes once the change is durable.
   */
  interface Handler {
    CompletionStage<SelectionResult> forgive(Forgive command, long nowMillis);

    CompletionStage<SelectionResult> rerun(Rerun command, long nowMillis);

    CompletionStage<SelectionResult> cancel(Cancel command, long nowMillis);

    CompletionStage<Void> kill(Kill command, long nowMillis);

    CompletionStage<SelectionResult> killTasks(KillTasks command, long nowMillis);

    CompletionStage<TaskDeadlines> extend(Extend command, long nowMillis);

    CompletionStage<Void> pause(Pause command, long nowMillis);

    CompletionStage<Rollout> halt(Halt command, long nowMillis);

    CompletionStage<Rollout> promote(Promote command, long nowMillis);

    CompletionStage<Void> resume(Resume command, long nowMillis);

    CompletionStage<Long> stop(Stop command, long nowMillis);

    CompletionStage<LimitView> setLimit(SetLimit command, long nowMillis);

    CompletionStage<LimitView> endLimit(EndLimit command, long nowMillis);

    CompletionStage<BrakeView> brake(SetBrake command, long nowMillis);

    CompletionStage<BrakeView> release(ReleaseBrake command, long nowMillis);

    CompletionStage<Quarantine> quarantine(SetQuarantine command, long nowMillis);

    CompletionStage<Quarantine> lift(LiftQuarantine command, long nowMillis);

    CompletionStage<WorkerView> cordon(Cordon command, long nowMillis);

    CompletionStage<WorkerView> uncordon(Uncordon command, long nowMillis);

    CompletionStage<Integer> pushProbe(PushProbe command, long nowMillis);

    CompletionStage<String> testNotifier(TestNotifier command, long nowMillis);

    CompletionStage<Boolean> report(Report command, long nowMillis);
  }

  /**
   * Ends back-offs and makes failed tasks startable (docs/design/bistro.md#forgiving). Running
   * tasks are skipped. Fails with a conflict, and changes nothing, when the number of matching
   * tasks is not the expected one.
   */
  record Forgive(TaskSelection tasks) implements Command<SelectionResult> {
    @Override
    public String author() {
      return tasks.author();
    }

    @Override
    public String reason() {
      return tasks.reason();
    }

    @Override
    public CompletionStage<SelectionResult> execute(Handler handler, long nowMillis) {
      return handler.forgive(this, nowMillis);
    }
  }

  /**
   * Resets tasks, even those that are done, so that they start again as if they had never been
   * tried; only their history remains. Otherwise like {@link Forgive}.
   */
  record Rerun(TaskSelection tasks) implements Command<SelectionResult> {
    @Override
    public String author() {
      return tasks.author();
    }

    @Override
    public String reason() {
      return tasks.reason();
    }

    @Override
    public CompletionStage<SelectionResult> execute(Handler handler, long nowMillis) {
      return handler.rerun(this, nowMillis);
    }
  }

  /**
   * Cancels tasks for good: they do not start, and those that run are killed like by {@link Kill}
   * and end as cancelled unless they are done by then. Undone by {@link Forgive} and {@link Rerun}.
   * Tasks that are done are skipped. Fails, and changes nothing, when a named node has no task of
   * the job. Otherwise like {@link Forgive}.
   */
  record Cancel(TaskSelection tasks) implements Command<SelectionResult> {
    @Override
    public String author() {
      return tasks.author();
    }

    @Override
    public String reason() {
      return tasks.reason();
    }

    @Override
    public CompletionStage<SelectionResult> execute(Handler handler, long nowMillis) {
      return handler.cancel(this, nowMillis);
    }
  }

  /**
   * Signals a running task according to its job's {@code kill_subprocess}, even if the job is
   * deleted; answered when the signal is queued.
   */
  record Kill(String job, String node, String author, String reason) implements Command<Void> {
    @Override
    public CompletionStage<Void> execute(Handler handler, long nowMillis) {
      return handler.kill(this, nowMillis);
    }
  }

  /**
   * Signals the selected tasks that run, each like by {@link Kill}; all others are passed over.
   * Nothing else changes: they end as they do, and their job goes on. Answered when the signals are
   * queued. Otherwise like {@link Forgive}.
   */
  record KillTasks(TaskSelection tasks) implements Command<SelectionResult> {
    @Override
    public String author() {
      return tasks.author();
    }

    @Override
    public String reason() {
      return tasks.reason();
    }

    @Override
    public CompletionStage<SelectionResult> execute(Handler handler, long nowMillis) {
      return handler.killTasks(this, nowMillis);
    }
  }

  /**
   * Extends the time limits of a running task: its timeout and its deadline, if it has them.
   * Answered with its new limits, at once.
   *
   * @param millis extension, above 0
   */
  record Extend(String job, String node, long millis, String author, String reason)
      implements Command<TaskDeadlines> {
    @Override
    public CompletionStage<TaskDeadlines> execute(Handler handler, long nowMillis) {
      return handler.extend(this, nowMillis);
    }
  }

  /**
   * Pauses a job, replacing an older pause: none of its tasks start, none are killed. Survives
   * reload and restart.
   *
   * @param millis duration; 0: until resumed
   */
  record Pause(String job, long millis, String author, String reason) implements Command<Void> {
    @Override
    public CompletionStage<Void> execute(Handler handler, long nowMillis) {
      return handler.pause(this, nowMillis);
    }
  }

  /**
   * Halts the roll-out of a job: nothing more starts until it is resumed or promoted, and what runs
   * goes on. One that is halted already keeps its first reason. Fails when the job has no roll-out
   * under way.
   */
  record Halt(String job, String author, String reason) implements Command<Rollout> {
    @Override
    public CompletionStage<Rollout> execute(Handler handler, long nowMillis) {
      return handler.halt(this, nowMillis);
    }
  }

  /**
   * Opens the next stage of the roll-out of a job, whether the open one has passed or not. Fails
   * when the job has no roll-out under way, or the last stage is open.
   */
  record Promote(String job, String author, String reason) implements Command<Rollout> {
    @Override
    public CompletionStage<Rollout> execute(Handler handler, long nowMillis) {
      return handler.promote(this, nowMillis);
    }
  }

  /** Ends the pause of a job, and goes on with its roll-out if that is halted. */
  record Resume(String job, String author, String reason) implements Command<Void> {
    @Override
    public CompletionStage<Void> execute(Handler handler, long nowMillis) {
      return handler.resume(this, nowMillis);
    }
  }

  /**
   * Pauses a job until it is resumed and kills all its running tasks, like {@link Kill}. Answered
   * with the number of signaled tasks when the pause is durable and the signals are queued.
   */
  record Stop(String job, String author, String reason) implements Command<Long> {
    @Override
    public CompletionStage<Long> execute(Handler handler, long nowMillis) {
      return handler.stop(this, nowMillis);
    }
  }

  /**
   * Overrides the configured limit of a resource, on one node or on a whole level, replacing an
   * older override with the same key. Kills nothing.
   *
   * @param override override; its times are ignored: it takes effect now
   * @param millis duration; 0: until ended
   */
  record SetLimit(LimitOverride override, long millis) implements Command<LimitView> {
    @Override
    public String author() {
      return override.author();
    }

    @Override
    public String reason() {
      return override.reason();
    }

    @Override
    public CompletionStage<LimitView> execute(Handler handler, long nowMillis) {
      return handler.setLimit(this, nowMillis);
    }
  }

  /** Ends a limit override; answered with the ended one. */
  record EndLimit(LimitOverride.Key key, String author, String reason)
      implements Command<LimitView> {
    @Override
    public CompletionStage<LimitView> execute(Handler handler, long nowMillis) {
      return handler.endLimit(this, nowMillis);
    }
  }

  /**
   * Starts fewer tasks, or none, in a part of the tree or of the jobs, replacing an older brake
   * with the same key. Kills nothing. Nothing is placed against it from the command on. Answered
   * once it is durable and, if it stops everything, each worker has confirmed that it starts no
   * more of what it was given before; after a second also if not.
   *
   * @param brake brake; its times and bases are ignored: it takes effect now. The level of a node
   *     may be empty if only one level has a node of that name
   * @param millis duration; 0: until released
   */
  record SetBrake(Brake brake, long millis) implements Command<BrakeView> {
    @Override
    public String author() {
      return brake.author();
    }

    @Override
    public String reason() {
      return brake.reason();
    }

    @Override
    public CompletionStage<BrakeView> execute(Handler handler, long nowMillis) {
      return handler.brake(this, nowMillis);
    }
  }

  /**
   * Releases a brake, at once or in steps.
   *
   * @param ramp replaces that of the brake; null: that of the brake applies
   */
  record ReleaseBrake(Brake.Key key, Brake.@Nullable Ramp ramp, String author, String reason)
      implements Command<BrakeView> {
    @Override
    public CompletionStage<BrakeView> execute(Handler handler, long nowMillis) {
      return handler.release(this, nowMillis);
    }
  }

  /**
   * Closes a node and everything below it for a job, or for all, until it is lifted. It replaces a
   * quarantine of the same node and job that the scheduler has set or suggested. Kills nothing.
   * Answered once it is durable.
   *
   * @param key its level may be empty if only one level has a node of that name
   */
  record SetQuarantine(Quarantine.Key key, String author, String reason)
      implements Command<Quarantine> {
    @Override
    public CompletionStage<Quarantine> execute(Handler handler, long nowMillis) {
      return handler.quarantine(this, nowMillis);
    }
  }

  /** Ends a quarantine that anybody has set, or discards a suggestion. */
  record LiftQuarantine(Quarantine.Key key, String author, String reason)
      implements Command<Quarantine> {
    @Override
    public CompletionStage<Quarantine> execute(Handler handler, long nowMillis) {
      return handler.lift(this, nowMillis);
    }
  }

  /**
   * Cordons a worker: it gets no new tasks until uncordoned; running tasks continue. The cordon
   * outlives the worker's process and the scheduler's. Answered with the worker as it is now.
   *
   * @param worker id of the worker
   * @param kind kind of cordon, replacing an earlier one
   */
  record Cordon(String worker, WorkerCordon.Kind kind, String author, String reason)
      implements Command<WorkerView> {
    @Override
    public CompletionStage<WorkerView> execute(Handler handler, long nowMillis) {
      return handler.cordon(this, nowMillis);
    }
  }

  /**
   * Takes the end or the progress of a call from its service, whose right to report it is proven.
   *
   * <p>Answered with false, and without effect, when no such invocation is alive.
   */
  record Report(Callback callback) implements Command<Boolean> {
    @Override
    public String author() {
      return "";
    }

    @Override
    public String reason() {
      return "";
    }

    @Override
    public CompletionStage<Boolean> execute(Handler handler, long nowMillis) {
      return handler.report(this, nowMillis);
    }
  }

  /**
   * Sends the value of a node to a probe whose values are pushed. Takes effect at once; it is not
   * stored. Answered with the number of resources whose limits follow the probe.
   *
   * @param value finite
   */
  record PushProbe(String probe, String node, double value, String author, String reason)
      implements Command<Integer> {
    @Override
    public CompletionStage<Integer> execute(Handler handler, long nowMillis) {
      return handler.pushProbe(this, nowMillis);
    }
  }

  /**
   * Sends a test to a notifier, once and at once. Answered with why that failed; empty: the
   * receiver has it.
   */
  record TestNotifier(String notifier, String author, String reason) implements Command<String> {
    @Override
    public CompletionStage<String> execute(Handler handler, long nowMillis) {
      return handler.testNotifier(this, nowMillis);
    }
  }

  /** Ends the cordon of a worker. */
  record Uncordon(String worker, String author, String reason) implements Command<WorkerView> {
    @Override
    public CompletionStage<WorkerView> execute(Handler handler, long nowMillis) {
      return handler.uncordon(this, nowMillis);
    }
  }
}
