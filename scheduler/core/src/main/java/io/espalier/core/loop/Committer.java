package io.espalier.core.loop;

import io.espalier.core.event.Event;
import io.espalier.core.json.Json;
import io.espalier.core.loop.command.TimeExtension;
import io.espalier.core.loop.notify.Outbox;
import io.espalier.core.loop.state.LiveTasks.Live;
import io.espalier.core.loop.state.LoopEvents;
import io.espalier.core.loop.state.LoopPorts;
import io.espalier.core.loop.state.Throughput;
import io.espalier.core.loop.watch.JobStateTracker;
import io.espalier.core.loop.watch.StartsInFlight;
import io.espalier.core.outcome.JobState;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.running.Counters;
import io.espalier.core.running.LaunchGroups;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskResult;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.status.Attempt;
import io.espalier.core.status.StepPosition;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.status.store.StoreTransaction;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.LongConsumer;

/**
 * Collects the changes of a step, sends them to the store, and does what has to wait until they are
 * durable: started tasks go to the runner, the runner may forget ended ones, answers are given.
 * Only the owner of the loop calls it.
 */
final class Committer {
  private final LoopPorts ports;
  private final LoopEvents events;
  private final JobStateTracker jobStates;
  private final ViewPublisher views;
  private final UpdateApplier updates;
  private final Throughput throughput;

  /** Jobs with too many counters, which were warned of. */
  private final Set<String> crowded = new HashSet<>();

  private final List<Live> toDispatch = new ArrayList<>();
  private final List<TaskResult> toConfirm = new ArrayList<>();
  private StoreTransaction.Builder batch = StoreTransaction.builder();

  /** The commit of the latest batch. Batches become durable in order. */
  private CompletionStage<Void> written = CompletableFuture.completedFuture(null);

  private final SchedulingCore core;
  private final Outbox outbox;

  /** Receives the ends of tasks that are not handed to the runner. */
  private final EndSink ended;

  private final StartsInFlight starting;

  private boolean stopped;

  /** Receives ends. */
  @FunctionalInterface
  interface EndSink {
    void ended(TaskResult end, long nowMillis);
  }

  Committer(
      LoopPorts ports,
      LoopEvents events,
      JobStateTracker jobStates,
      ViewPublisher views,
      UpdateApplier updates,
      Throughput throughput,
      SchedulingCore core,
      Outbox outbox,
      StartsInFlight starting,
      EndSink ended) {
    this.ports = ports;
    this.events = events;
    this.jobStates = jobStates;
    this.views = views;
    this.updates = updates;
    this.throughput = throughput;
    this.core = core;
    this.outbox = outbox;
    this.starting = starting;
    this.ended = ended;
  }

  // ---- collecting

  /** The changes of this step so far; replaced by each commit. */
  StoreTransaction.Builder batch() {
    return batch;
  }

  void write(StatusRow row) {
    batch.put(row);
    updates.wrote(row);
  }

  static StatusRow row(Live task) {
    return new StatusRow(
        task.key.job(),
        task.key.node(),
        task.status,
        task.invocation(),
        task.launch.worker(),
        task.launch.call(),
        task.waitedMillis,
        task.counters,
        task.sharesCharge ? task.batch : "");
  }

  /** Records the start of a task, which goes to the runner once that is durable. */
  void started(Live task, long nowMillis) {
    toDispatch.add(task);
    starting.placed(task.launch);
    StatusRow row = row(task);
    write(row);
    events.started(task, row, nowMillis);
    views.changed();
  }

  /** Confirms an end to the runner once everything of this step is durable. */
  void confirm(TaskResult end) {
    toConfirm.add(end);
  }

  /** Records a status that changed for a reason other than a start, an end or a command. */
  void changed(StatusRow row, long nowMillis) {
    write(row);
    events.changed(row, nowMillis);
    views.changed();
  }

  /**
   * Records the attempt of a task that died with an earlier scheduler, which counts what was
   * durable then.
   *
   * @param ran while it ran
   * @param status after that
   */
  void interrupted(StatusRow ran, TaskStatus status, long nowMillis) {
    TaskResult end =
        TaskResult.of(ran.job(), ran.node(), ran.invocation(), TaskResult.Kind.LOST)
            .withMessage("the scheduler ended while the task ran")
            .withCounters(ran.counters());
    Attempt attempt =
        Attempt.of(
            end,
            status.attempts(),
            ran.worker(),
            status,
            ran.status().retries().gotOn(),
            ran.waitedMillis(),
            nowMillis);
    StepPosition step = ran.status().step();
    batch.attempt(step == null ? attempt : attempt.withStep(step.label()));
    changed(
        new StatusRow(ran.job(), ran.node(), status, ran.invocation(), ran.worker()), nowMillis);
  }

  /**
   * Notes what a live task has counted since its start; it belongs to the job with {@link #count}.
   */
  void heard(Live task, Counters counters) {
    Counters fitting = jobStates.fitting(task.key.job(), counters);
    if (fitting.values().size() < counters.values().size()) {
      tooMany(task);
    }
    task.counters = task.counters.latest(fitting);
  }

  private void tooMany(Live task) {
    if (!crowded.add(task.key.job())) {
      return;
    }
    String message =
        "job "
            + task.key.job()
            + " has more than "
            + Counters.MOST_NAMES
            + " counters: those beyond are not counted";
    views.error("counters", message);
    ports.warnings().warn(message, task.key.job(), task.key.node());
  }

  /**
   * Adds to the counters of its job, in this batch, what the task has counted since the last call.
   */
  void count(Live task, long nowMillis) {
    if (task.counters.isEmpty()) {
      return;
    }
    Counters more = task.counters.since(task.countersWritten);
    if (more.isEmpty()) {
      return;
    }
    task.countersWritten = task.counters;
    Counters sums = jobStates.counted(task.key.job(), more, nowMillis, this::jobState);
    throughput.counted(task.key.job(), more, nowMillis);
    if (sums.isCapped()) {
      views.error(
          "counters",
          "a counter of job " + task.key.job() + " is too large to be added up: it is capped");
    }
    views.changed();
  }

  void checkpoint(Live task, long nowMillis) {
    count(task, nowMillis);
    StatusRow row = row(task);
    write(row);
    events.progressed(task, row, nowMillis);
  }

  void forgiven(StatusRow row, long nowMillis) {
    write(row);
    events.forgiven(row, nowMillis);
    views.changed();
  }

  void cancelled(StatusRow row, long nowMillis) {
    write(row);
    events.cancelled(row, nowMillis);
    views.changed();
  }

  /** Records that a running task is to end as cancelled. */
  void cancelRequested(Live task, long nowMillis) {
    StatusRow row = row(task);
    write(row);
    events.changed(row, nowMillis);
    views.changed();
  }

  void rerun(StatusRow row, long nowMillis) {
    write(row);
    events.rerun(row, nowMillis);
    views.changed();
  }

  /** Brings the states of jobs up to date and closes jobs that are finished. */
  void updateJobStates(long nowMillis) {
    if (updates.hasConfig() && jobStates.step(nowMillis, this::jobState)) {
      views.changed();
    }
  }

  void jobState(JobStateRecord state, boolean moved) {
    batch.jobState(state);
    if (moved && state.state() == JobState.FAILED) {
      ports.warnings().warn("the job has failed: " + state.reason(), state.job(), "");
    }
  }

  // ---- committing

  /** Hands no more tasks to the runner, but reports that they have ended. */
  void stop() {
    stopped = true;
  }

  boolean isStopped() {
    return stopped;
  }

  /** Sends the changes to the store; the stage completes, on any thread, once they are durable. */
  CompletionStage<Void> commit() {
    long told = 0;
    for (Event event : events.take()) {
      batch.append(event);
      told = outbox.add(event) ? event.sequence() : told;
    }
    List<TaskResult> ends = List.copyOf(toConfirm);
    List<JobStateRecord> states = jobStates.takeRecorded();
    toConfirm.clear();
    if (batch.size() == 0) {
      if (!ends.isEmpty()) {
        // The start of these invocations may be in a batch that is not durable yet.
        whenDurable(now -> ends.forEach(ports.runner()::recorded));
      }
      return written;
    }
    StoreTransaction changesOfThisStep = batch.build();
    batch = StoreTransaction.builder();
    List<Live> launches = List.copyOf(toDispatch);
    toDispatch.clear();
    written =
        ports
            .commits()
            .submit(changesOfThisStep)
            .thenRun(() -> ports.events().accept(changesOfThisStep.events()));
    if (told > 0) {
      long sequence = told;
      whenDurable(now -> outbox.durable(sequence));
    }
    if (!launches.isEmpty() || !ends.isEmpty() || !states.isEmpty()) {
      whenDurable(now -> durable(launches, ends, states, now));
    }
    return written;
  }

  /** Commits; the stage completes with the result, on any thread, once all is durable. */
  <T> CompletionStage<T> commit(T result) {
    return commit().thenApply(done -> result);
  }

  /**
   * Commits; the stage completes with the result, on the owner's thread, once all is durable and
   * every task whose start was committed before has been handed to the runner. So no task starts
   * after the answer to a command that closes something.
   */
  <T> CompletionStage<T> commitInTurn(T result) {
    return commit()
        .thenCompose(
            done -> {
              CompletableFuture<T> turn = new CompletableFuture<>();
              ports.owner().accept(now -> turn.complete(result));
              return turn;
            });
  }

  /** Runs an action in a later step, once everything committed so far is durable. */
  void whenDurable(LongConsumer then) {
    written.thenRun(() -> ports.owner().accept(then));
  }

  /** Completes, on any thread, once everything committed so far is durable. */
  CompletionStage<Void> written() {
    return written;
  }

  boolean isDurable() {
    CompletableFuture<Void> latest = written.toCompletableFuture();
    return latest.isDone() && !latest.isCompletedExceptionally();
  }

  private void durable(
      List<Live> launches, List<TaskResult> ends, List<JobStateRecord> states, long nowMillis) {
    if (!states.isEmpty()) {
      jobStates.show(states);
      views.changed();
    }
    ends.forEach(ports.runner()::recorded);
    dispatch(launches, nowMillis);
  }

  private void end(TaskResult end) {
    ports.owner().accept(now -> ended.ended(end, now));
  }

  /** Returns why a task may not start any more: the commit of its start may have taken long. */
  private String closedSincePlaced(Live task) {
    if (core.running().closed(task.run, GateKind.JOB_BRAKE, GateKind.NODE_BRAKE) != null) {
      return "a brake was set";
    }
    if (core.running()
            .closed(task.run, GateKind.JOB_WINDOW, GateKind.NODE_WINDOW, GateKind.WINDOW_CUTOFF)
        != null) {
      return "its window has closed";
    }
    if (core.running().closed(task.run, GateKind.HALTED, GateKind.ROLLOUT) != null) {
      return "its roll-out is halted";
    }
    Gate quarantine =
        core.running().closed(task.run, GateKind.NODE_QUARANTINE, GateKind.JOB_QUARANTINE);
    // A trial was placed after its node had been quarantined.
    return quarantine != null && quarantine.sinceMillis() >= task.invocation().startMillis()
        ? "its node was quarantined"
        : "";
  }

  private void dispatch(List<Live> tasks, long nowMillis) {
    List<Live> handed = new ArrayList<>(tasks.size());
    LaunchGroups groups = new LaunchGroups(ports.runner()::start, ports.runner()::startBatch);
    for (Live task : tasks) {
      if (mayStart(task)) {
        task.dispatched = true;
        TimeExtension.begin(task, nowMillis);
        starting.dispatched(task.invocation(), nowMillis);
        groups.add(task.launch);
        handed.add(task);
      }
    }
    groups.end();
    handed.forEach(task -> handed(task, nowMillis));
  }

  /** Returns whether a task is to be started; otherwise it ends, if it has not. */
  private boolean mayStart(Live task) {
    LaunchSpec launch = task.launch;
    if (stopped) {
      end(
          TaskResult.of(launch.job(), launch.node(), launch.invocation(), TaskResult.Kind.KILLED)
              .withMessage("not started: the scheduler was stopped"));
      return false;
    }
    if (task.isEmpty) {
      // There is nothing to run; its end comes from the loop itself.
      return false;
    }
    String closed = closedSincePlaced(task);
    if (!closed.isEmpty() && task.killAtStart != null) {
      end(
          TaskResult.of(launch.job(), launch.node(), launch.invocation(), TaskResult.Kind.KILLED)
              .withStopReason(StopReason.REQUESTED)
              .withMessage("killed before it was started"));
      return false;
    }
    if (!closed.isEmpty()) {
      end(TaskResult.notStarted(launch.job(), launch.node(), launch.invocation(), closed, 0));
      return false;
    }
    return true;
  }

  /** A task was handed to the runner, which has the argument. */
  private void handed(Live task, long nowMillis) {
    task.launch = task.launch.withArgument(Json.Obj.EMPTY);
    starting.handed(task.invocation(), nowMillis);
    TimeExtension.extendAtStart(task, ports.runner());
    if (task.killAtStart != null) {
      ports.runner().kill(task.key.job(), task.key.node(), task.invocation(), task.killAtStart);
    }
  }
}
