package io.espalier.core.loop;

import io.espalier.core.api.Callback;
import io.espalier.core.call.CallAnswer;
import io.espalier.core.config.Job;
import io.espalier.core.config.task.CallSpec;
import io.espalier.core.config.task.StatusSource;
import io.espalier.core.loop.rollout.RolloutTracker;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.loop.state.LiveTasks.Live;
import io.espalier.core.loop.state.LoopEvents;
import io.espalier.core.loop.state.LoopPorts;
import io.espalier.core.loop.state.Throughput;
import io.espalier.core.loop.watch.JobStateTracker;
import io.espalier.core.loop.watch.JobVerifications;
import io.espalier.core.loop.watch.Quarantines;
import io.espalier.core.running.Call;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.status.Attempt;
import io.espalier.core.status.ProgramTransitions;
import io.espalier.core.status.StatusLabel;
import io.espalier.core.status.StatusParser;
import io.espalier.core.status.StepPosition;
import io.espalier.core.status.StopReasonRules;
import io.espalier.core.status.TaskEvent;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskTransitions;
import io.espalier.core.status.Transition;
import io.espalier.core.status.store.StatusRow;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Turns the ends of invocations into statuses, attempts and events. */
final class TaskCompletion {
  private static final int MOST_LOST = 10_000;

  private final SchedulingCore core;
  private final LiveTasks live;
  private final StatusParser statusText;
  private final LoopPorts ports;
  private final int maxAttempts;
  private final LoopEvents events;
  private final JobStateTracker jobStates;
  private final RolloutTracker rollouts;
  private final Throughput throughput;
  private final Quarantines quarantines;
  private final ViewPublisher views;
  private final Committer committer;
  private final LaunchFactory launches;
  private final JobVerifications verifications;

  /** Attempts recorded as lost; their real outcome may still be reported later. */
  private final Map<Invocation, Attempt> lost =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Invocation, Attempt> eldest) {
          return size() > MOST_LOST;
        }
      };

  /** Calls whose service has reported their end, and whose runner has not let go of them yet. */
  private final Set<Invocation> calledBack = new HashSet<>();

  /**
   * @param maxAttempts maximum number of attempts since a task was last forgiven; 0: no limit
   */
  TaskCompletion(
      SharedParts parts,
      LaunchFactory launches,
      JobVerifications verifications,
      StatusParser statusText,
      Throughput throughput,
      Quarantines quarantines,
      int maxAttempts) {
    this.launches = launches;
    this.verifications = verifications;
    this.core = parts.core();
    this.live = parts.live();
    this.ports = parts.ports();
    this.events = parts.events();
    this.jobStates = parts.jobStates();
    this.rollouts = parts.rollouts();
    this.views = parts.views();
    this.committer = parts.committer();
    this.statusText = statusText;
    this.throughput = throughput;
    this.quarantines = quarantines;
    this.maxAttempts = maxAttempts;
  }

  void ended(TaskResult end, long nowMillis) {
    if (calledBack.remove(end.invocation())) {
      committer.confirm(end);
      return;
    }
    TaskKey key = new TaskKey(end.job(), end.node());
    boolean isGuess =
        end.kind() == TaskResult.Kind.LOST || end.kind() == TaskResult.Kind.NOT_STARTED;
    if (isGuess && goesOn(key, end)) {
      return;
    }
    Live task = live.remove(key, end.invocation());
    committer.confirm(end);
    if (task == null) {
      ports.warnings().warn("end of an unknown invocation ignored", end.job(), end.node());
      return;
    }
    complete(task, end, nowMillis);
  }

  /** Gives a task, which is not live any more, the status that its end means. */
  private void complete(Live task, TaskResult end, long nowMillis) {
    TaskKey key = task.key;
    if (!task.isOfForgottenJob()) {
      committer.heard(task, end.counters());
      committer.count(task, nowMillis);
    }
    TaskResult explained = withReason(end, task).withCounters(task.counters);
    task.checkpointIsDue = false;
    Transition transition =
        TaskTransitions.apply(task.status, meaning(end, explained, task), task.retrying, nowMillis);
    WorkerRef worker = task.launch.worker();
    TaskStatus after =
        TaskTransitions.paced(
            task.status, bounded(transition.status()), core.config().settings().workingWait());
    boolean gotOn = task.status.retries().gotOn();
    Attempt attempt =
        Attempt.of(
            explained, task.launch.attempt(), worker, after, gotOn, task.waitedMillis, nowMillis);
    TaskStatus status = next(task, end, after.withFailure(attempt.failure()));
    if (transition.warning() != null) {
      ports.warnings().warn(transition.warning(), key.job(), key.node());
    }
    boolean goesOn = goesOn(task, status);
    if (attempt.failure() != null || !goesOn) {
      quarantines.ended(task, end, attempt.failure(), nowMillis);
    }
    if (!goesOn) {
      boolean outside = core.running().node(task.run) < 0;
      core.finish(task.run, status);
      if (outside) {
        knowOutside(key, status);
      }
    }
    StepPosition ran = task.status.step();
    boolean wasDone = ran != null && ran.isVerification() && status.main() == TaskStatus.Main.DONE;
    if (!wasDone) {
      jobStates.ended(key.job(), status);
    }
    throughput.ended(task, end, status, nowMillis);
    boolean hasFailed = attempt.failure() != null;
    rollouts.ended(task, end, task.status, status, hasFailed, nowMillis);
    StatusRow row = new StatusRow(key.job(), key.node(), status, end.invocation(), worker);
    committer.write(row);
    if (end.kind() != TaskResult.Kind.NOT_STARTED) {
      Attempt recorded = ran == null ? attempt : attempt.withStep(ran.label());
      committer.batch().attempt(recorded);
      if (end.kind() == TaskResult.Kind.LOST && !task.isOfForgottenJob()) {
        lost.put(end.invocation(), recorded);
      }
    }
    events.ended(task, explained, row, nowMillis);
    if (goesOn) {
      committer.started(launches.started(task.run, status, nowMillis), nowMillis);
    }
    views.changed();
  }

  /** The status of a task after the end of one of its steps. */
  private TaskStatus next(Live task, TaskResult end, TaskStatus after) {
    int number = core.findJob(task.key.job());
    Job job = core.job(number);
    boolean isVerified = job != null && job.program().verification().isPresent();
    if (task.isOfForgottenJob() || (task.status.step() == null && !isVerified)) {
      return after;
    }
    // A stop is no failure of the task, and of a call with unknown outcome nobody knows what to
    // undo, or whether it has ended.
    boolean isItsOwn =
        end.kind() != TaskResult.Kind.OUTCOME_UNKNOWN
            && (end.kind() != TaskResult.Kind.KILLED
                || end.rawStatus() != null
                || StopReasonRules.isError(end.stopReason()));
    TaskStatus next =
        ProgramTransitions.ended(
            task.status, after, job == null ? task.program : job.program(), isItsOwn);
    StepPosition at = task.status.step();
    if (at != null && at.isCompensation()) {
      return next.withFailure(task.status.failure());
    }
    if (at != null && at.isVerification()) {
      return next.step() == null ? bounded(next) : next;
    }
    int node = core.running().node(task.run);
    return job != null
            && next.main() == TaskStatus.Main.DONE
            && node >= 0
            && verifications.isInSample(job, number, node)
        ? ProgramTransitions.toVerify(next)
        : next;
  }

  /**
   * Whether the task goes on with its next step at once: it keeps its slots and its worker, and no
   * policy is asked.
   */
  private boolean goesOn(Live task, TaskStatus next) {
    StepPosition before = task.status.step();
    StepPosition after = next.step();
    return before != null
        && after != null
        && !after.label().equals(before.label())
        && after.follows()
        && !next.isFinal()
        && task.program != null
        && task.program.holds()
        && task.killAskedMillis == 0
        && !task.isOfForgottenJob()
        && !committer.isStopped()
        && core.running().mayGoOn(task.run);
  }

  /**
   * A call outlives the worker that made it: only its service knows whether it has ended. The
   * runner asks the service from now on, and the task keeps its slots. That a worker does not know
   * the call of an earlier leadership proves nothing: it may have let go of it.
   *
   * @return false when this is the end of the task
   */
  private boolean goesOn(TaskKey key, TaskResult end) {
    Live task = live.get(key);
    if (task == null || !task.invocation().equals(end.invocation()) || task.launch.call() == null) {
      return false;
    }
    if (end.kind() == TaskResult.Kind.NOT_STARTED && !task.resumed) {
      return false;
    }
    committer.confirm(end);
    if (committer.isStopped()) {
      // The next scheduler process finds it in the store, and asks.
      Live unused = live.remove(key, end.invocation());
    } else {
      ports.warnings().warn("its call is asked about: " + end.message(), key.job(), key.node());
      boolean unused = ports.runner().adopt(task.launch);
    }
    return true;
  }

  /** Returns the live call that a service reports about; null: it is not alive. */
  @Nullable Live called(Callback callback) {
    Live task = live.get(new TaskKey(callback.job(), callback.node()));
    Call call = task == null ? null : task.launch.call();
    return call != null && call.name(CallSpec.INVOCATION).equals(callback.invocation())
        ? task
        : null;
  }

  /**
   * Ends a call as its service reports. The runner, which may be asking about it, lets go of it;
   * what the runner tells afterwards changes nothing.
   */
  void calledBack(Live task, CallAnswer.Ended said, long nowMillis) {
    TaskKey key = task.key;
    Invocation invocation = task.invocation();
    Live unused = live.remove(key, invocation);
    complete(
        task,
        TaskResult.exited(key.job(), key.node(), invocation, said.status(), null)
            .withCounters(said.counters())
            .withStopReason(task.killAskedMillis > 0 ? StopReason.REQUESTED : null),
        nowMillis);
    calledBack.add(invocation);
    ports.runner().letGo(key.job(), key.node(), invocation);
  }

  /** Takes note of the real outcome of an invocation that was recorded as lost. */
  void endedLate(TaskResult end, long nowMillis) {
    Live task = live.get(new TaskKey(end.job(), end.node()));
    if (task != null
        && task.invocation().equals(end.invocation())
        && task.launch.call() != null
        && end.kind() != TaskResult.Kind.LOST) {
      // Its service is still asked about it: the worker knew earlier how it ended.
      ended(end, nowMillis);
      return;
    }
    Attempt known = lost.remove(end.invocation());
    if (known != null) {
      committer.batch().attempt(known.reportedLate(end));
    }
    committer.confirm(end);
  }

  /** Discards what is known of an earlier job of the same name. */
  void forget(String job) {
    lost.values().removeIf(attempt -> attempt.job().equals(job));
    throughput.forget(job);
  }

  private TaskEvent meaning(TaskResult end, TaskResult explained, Live task) {
    if (task.isOfForgottenJob()) {
      return new TaskEvent.Interrupted("it belonged to a deleted job of the same name");
    }
    if (committer.isStopped()
        && end.kind() == TaskResult.Kind.KILLED
        && end.rawStatus() == null
        && end.stopReason() != StopReason.TIMEOUT
        && end.stopReason() != StopReason.NO_OUTPUT) {
      return new TaskEvent.Interrupted("the scheduler was stopped");
    }
    // A service has no exit code.
    return statusText.meaning(
        explained, task.launch.call() == null ? task.statusFrom : StatusSource.STATUS_LINE);
  }

  /**
   * Gives the core the final status of a run that was adopted before its job or node was known and
   * therefore charges no path. If both are known by now, even as a removed job that still has
   * running tasks, the core has already loaded the stored statuses, so it would never learn this
   * one from the store.
   */
  private void knowOutside(TaskKey key, TaskStatus status) {
    int job = core.findJob(key.job());
    int node = core.findNode(job, key.node());
    if (node >= 0) {
      core.setStatus(job, node, status);
    }
  }

  /**
   * Replaces the stop reason of a task that the watchdog or the limit enforcer stopped instead of
   * the runner.
   */
  private static TaskResult withReason(TaskResult end, Live task) {
    boolean unexplained = end.stopReason() == null || end.stopReason() == StopReason.REQUESTED;
    if (task.overLimit != null && unexplained && end.kind() == TaskResult.Kind.KILLED) {
      return end.withStopReason(StopReason.OVER_LIMIT).withMessage(task.overLimit);
    }
    return task.overdue != null && unexplained && end.kind() == TaskResult.Kind.KILLED
        ? end.withStopReason(task.overdue)
        : end;
  }

  /** Fails a task that has used up its attempts. */
  private TaskStatus bounded(@Nullable TaskStatus status) {
    if (status == null) {
      throw new IllegalStateException("a task that ran has no status");
    }
    boolean triesAgain = status.usesBackoff() || status.main() == TaskStatus.Main.ERROR;
    StepPosition at = status.step();
    int tried = at != null && at.isCompensation() ? at.tries() + 1 : status.attempts();
    if (maxAttempts == 0
        // Nothing was tried; the attempts of a step that follows another do not show that.
        || status.label() == StatusLabel.NEVER_STARTED
        || (at != null && at.isVerification())
        || tried < maxAttempts
        || status.isFinal()
        || !triesAgain
        || committer.isStopped()) {
      return status;
    }
    return TaskStatus.of(TaskStatus.Main.FAILED, status.sinceMillis(), status.attempts())
        .with(
            s ->
                s.position(status.position())
                    .data(status.data())
                    .checkpoint(status.checkpoint())
                    .retries(status.retries())
                    .step(at));
  }
}
