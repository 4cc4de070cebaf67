package io.espalier.core.loop;

import io.espalier.core.api.Explanation;
import io.espalier.core.api.Histogram;
import io.espalier.core.api.JobProgress;
import io.espalier.core.api.LimitView;
import io.espalier.core.api.QueueView;
import io.espalier.core.api.RefusedException;
import io.espalier.core.api.SchedulerView;
import io.espalier.core.api.SelectionResult;
import io.espalier.core.api.TaskDeadlines;
import io.espalier.core.api.TaskPage;
import io.espalier.core.api.TaskQuery;
import io.espalier.core.api.TaskSelection;
import io.espalier.core.api.TaskSelector;
import io.espalier.core.api.TaskView;
import io.espalier.core.api.WorkerView;
import io.espalier.core.config.Job;
import io.espalier.core.json.Json;
import io.espalier.core.loop.command.ForgiveCommand;
import io.espalier.core.loop.command.LimitOverrideCommands;
import io.espalier.core.loop.command.PauseRegistry;
import io.espalier.core.loop.command.SelectionCommand;
import io.espalier.core.loop.command.TaskKiller;
import io.espalier.core.loop.command.TaskOperations;
import io.espalier.core.loop.command.TimeExtension;
import io.espalier.core.loop.command.WorkerPool;
import io.espalier.core.loop.query.QueryQueue;
import io.espalier.core.loop.query.TaskPageQuery;
import io.espalier.core.loop.query.TaskViews;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.loop.state.LiveTasks.Live;
import io.espalier.core.loop.state.LoopEvents;
import io.espalier.core.loop.state.LoopPorts;
import io.espalier.core.loop.state.LoopStats;
import io.espalier.core.loop.state.SlicedWork;
import io.espalier.core.loop.state.Throughput;
import io.espalier.core.loop.watch.CheckpointWriter;
import io.espalier.core.loop.watch.JobDeadlines;
import io.espalier.core.loop.watch.JobStateTracker;
import io.espalier.core.loop.watch.OverLimitEnforcer;
import io.espalier.core.loop.watch.QueueUsageRecorder;
import io.espalier.core.outcome.JobEvent;
import io.espalier.core.outcome.JobState;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.problem.Problem;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.Progress;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.WorkerCordon;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.SchedulingPolicy;
import io.espalier.core.scheduling.query.PeakUsage;
import io.espalier.core.scheduling.update.UpdatePlan;
import io.espalier.core.status.Attempt;
import io.espalier.core.status.LimitOverride;
import io.espalier.core.status.Pause;
import io.espalier.core.status.QueueUsage;
import io.espalier.core.status.StatusParser;
import io.espalier.core.status.StatusRow;
import io.espalier.core.status.StatusRowEvents;
import io.espalier.core.status.StoreTransaction;
import io.espalier.core.status.TaskEvent;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskTransitions;
import io.espalier.core.status.Transition;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The scheduler loop (docs/design/design.md#the-loop): takes in what happened, starts what the
 * limits allow, records it, hands it to the runner, publishes the view.
 *
 * <p><b>Threads.</b> None. One owner calls everything, {@link #runOnce} above all; inputs are only
 * noted and take effect in the next step, so that all of a step happens at one instant. Other
 * threads go through {@link LoopPorts#owner}.
 *
 * <p><b>Order of a start.</b> Charged and running in the core, recorded in the store, and only in
 * the completion of that commit handed to the runner: after a crash the store knows every
 * invocation that may be alive. The loop never waits for the store.
 *
 * <p><b>Slices.</b> Work that grows with the number of tasks, jobs or inputs is cut into pieces; a
 * step that has more to do answers with a pause of zero. Inputs beyond those of a step wait for the
 * next, in order; jobs that were touched are all looked at before the next round.
 *
 * <p><b>Length.</b> Every input of the one owner is a method here; what it sets going is beside it,
 * a class each.
 */
public final class SchedulerLoop {
  /** A new view is published at most this often. */
  public static final long VIEW_MILLIS = 100;

  private static final int STARTS_PER_SLICE = 256;
  private static final int LIMIT_UNITS = 10_000;
  private static final int TIMERS_PER_SLICE = 1_000;
  private static final int INPUTS_PER_STEP = 500;
  private static final int CHORES_PER_STEP = 4;
  private static final int MOST_LOST = 10_000;
  private static final long POLICY_RETRY_MILLIS = 1_000;

  private final SchedulingCore core;
  private final Map<String, SchedulingPolicy> policies;
  private final StatusParser statusText;
  private final LoopPorts ports;
  private final LoopOptions options;

  private final LiveTasks live = new LiveTasks();
  private final LoopEvents events;
  private final PauseRegistry pauses;
  private final LimitOverrideCommands limits;
  private final QueueUsageRecorder queueSamples;
  private final Throughput paces = new Throughput();
  private final QueryQueue questions;
  private final ViewPublisher views;
  private final TaskKiller kills;
  private final OverLimitEnforcer overLimits;
  private final WorkerPool pool;
  private final RunnerWatchdog supervision;
  private final JobDeadlines deadlines;
  private final JobStateTracker outcomes;
  private final CheckpointWriter checkpoints = new CheckpointWriter();
  private final LaunchFactory starts;
  private final UpdateApplier changes;
  private final InvocationRecovery recovery;
  private final ArrayDeque<LongConsumer> inputs = new ArrayDeque<>();
  private final ArrayDeque<SlicedWork> chores = new ArrayDeque<>();
  private final List<Live> toDispatch = new ArrayList<>();
  private final List<TaskResult> toConfirm = new ArrayList<>();

  /** Attempts that ended as lost: how they really ended may be told later. */
  private final Map<Invocation, Attempt> lost =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Invocation, Attempt> eldest) {
          return size() > MOST_LOST;
        }
      };

  private StoreTransaction.Builder batch = StoreTransaction.builder();

  /** Of the latest batch: batches become durable in order. */
  private CompletionStage<Void> written = CompletableFuture.completedFuture(null);

  private boolean stopping;
  private boolean roundComplete;
  private boolean placedInRound;
  private final LoopStats stats = new LoopStats();
  private long retryPolicyAt;

  public SchedulerLoop(
      SchedulingCore core,
      Map<String, SchedulingPolicy> policies,
      StatusParser statusText,
      LoopPorts ports,
      LoopOptions options) {
    this.core = core;
    this.policies = Map.copyOf(policies);
    this.statusText = statusText;
    this.ports = ports;
    this.options = options;
    this.events = new LoopEvents(options.firstEvent());
    this.deadlines = new JobDeadlines(core);
    this.pauses = new PauseRegistry(core, events);
    this.limits = new LimitOverrideCommands(core, events);
    this.outcomes = new JobStateTracker(core, events, deadlines, pauses);
    this.views = new ViewPublisher(core, live, ports.runner().shard(), outcomes, paces, pauses);
    this.questions = new QueryQueue(core, live, paces);
    this.kills = new TaskKiller(core, live, events, ports.runner());
    this.overLimits = new OverLimitEnforcer(core, live, kills, ports.warnings());
    this.supervision = new RunnerWatchdog(core, live, kills, ports.runner(), this::taskEnded);
    this.pool = new WorkerPool(core, live, events, ports.runner(), options.workerHost());
    this.starts = new LaunchFactory(core, live, pool, options, ports.warnings());
    this.changes = new UpdateApplier(core, live, events, outcomes, options.epoch());
    this.recovery = new InvocationRecovery(core, live);
    this.queueSamples =
        new QueueUsageRecorder(core, this::started, usage -> batch.queueUsage(usage));
  }

  // ---- inputs: noted now, effective in the next step

  /**
   * The stored rows of the new tasks of that change are about to be read. To be called before each
   * reading, also of the same change again; one change at a time.
   *
   * @return completes once all that was written before is durable: from then on they may be read,
   *     by which nothing that happens until the change is in force can be lost
   */
  public CompletionStage<Void> willRead(UpdatePlan change) {
    return changeDurably(
        now -> {
          changes.willRead(change);
          return null;
        });
  }

  /**
   * Brings a new configuration and its nodes in force.
   *
   * @return completes when they are, on the owner's thread
   */
  public CompletionStage<Void> change(PreparedUpdate change) {
    CompletableFuture<Void> inForce = new CompletableFuture<>();
    inputs.add(
        now -> {
          change.forgotten().stream().sorted().forEach(job -> forget(job, now));
          change.incarnations().forEach(batch::incarnation);
          changes.begin(change, inForce);
        });
    return inForce;
  }

  /**
   * What is stored of an earlier job of the same name is not for the new one
   * (docs/design/features.md#jobs-of-the-same-name).
   */
  private void forget(String job, long nowMillis) {
    batch.forget(job);
    events.add(
        nowMillis,
        StatusRowEvents.JOB_FORGOTTEN,
        Json.object().put("job", job).put("reason", "deleted and made again").build());
    for (Live task : live.all()) {
      if (task.key.job().equals(job)) {
        // It lives all the same: whoever comes after us must know.
        task.forget(nowMillis);
        recordChanged(row(task), nowMillis);
      }
    }
    lost.values().removeIf(attempt -> attempt.job().equals(job));
    changes.forget(job);
    outcomes.forget(job);
  }

  /** What the newest configuration suffers from; replaces what was said before. */
  public void configProblems(List<Problem> problems) {
    inputs.add(now -> views.configProblems(problems));
  }

  /** Sets or clears the current error of a source; shown to monitors until it is cleared. */
  public void error(String source, @Nullable String message) {
    inputs.add(now -> views.error(source, message));
  }

  /** An invocation has ended. */
  public void taskEnded(TaskResult end) {
    inputs.add(now -> end(end, now));
  }

  /** An invocation that was lost has ended in a way that is known now. */
  public void lateEnd(TaskResult end) {
    inputs.add(
        now -> {
          Attempt known = lost.remove(end.invocation());
          if (known != null) {
            batch.attempt(known.reportedLate(end));
          }
          toConfirm.add(end);
        });
  }

  /** All workers of the runner's pool, after every change; see {@link WorkerInfo}. */
  public void workers(List<WorkerInfo> workers) {
    inputs.add(now -> pool.set(workers, now));
  }

  /** Holds that outlived a restart; before the first step. */
  public void restoreHolds(List<WorkerCordon> holds) {
    pool.restore(holds);
  }

  /** A live invocation said how far it is; of another one it is ignored. */
  public void taskProgress(String job, String node, Invocation invocation, Progress progress) {
    inputs.add(
        now -> {
          Live task = live.get(new TaskKey(job, node));
          if (task != null && task.invocation().equals(invocation) && !task.isOfForgottenJob()) {
            checkpoints.heard(task, progress, now, due -> recordCheckpoint(due, now));
            live.changed(task);
            views.changed();
          }
        });
  }

  private void recordCheckpoint(Live task, long nowMillis) {
    StatusRow row = row(task);
    write(row);
    events.progressed(task, row, nowMillis);
  }

  private static StatusRow row(Live task) {
    return new StatusRow(
        task.key.job(), task.key.node(), task.status, task.invocation(), task.launch.worker());
  }

  /** What a live invocation has used so far; of others it is ignored. */
  public void usage(String job, String node, Invocation invocation, ResourceUsage usage) {
    inputs.add(now -> live.usage(new TaskKey(job, node), invocation, usage));
  }

  /**
   * Invocations that an earlier process recorded as started, with no end; of a runner that outlives
   * its scheduler, once, before the first configuration. The runner owes an end for each.
   *
   * @param running all rows with the status running, of whichever job
   */
  public void restoreRunning(List<StatusRow> running) {
    inputs.add(now -> recovery.resume(running, ports.runner(), now));
  }

  /** Pauses that outlived a restart; before the first step. */
  public void restorePauses(List<Pause> stored) {
    pauses.restore(stored);
    views.changed();
  }

  /**
   * How jobs stood when an earlier process ended; after {@link #restorePauses}, before the first
   * step. Those that have failed start nothing from the first step on.
   */
  public void restoreStandings(List<JobStateRecord> stored) {
    outcomes.restore(stored);
  }

  /** Overrides of limits that outlived a restart; before the first step. */
  public void restoreLimits(List<LimitOverride> stored) {
    limits.restore(stored);
  }

  /** What queues had used before a restart; before the first step. */
  public void restoreQueueUsage(List<QueueUsage> stored) {
    if (!stored.isEmpty()) {
      inputs.add(now -> core.restoreQueueUsage(stored, now));
    }
  }

  /** Starts nothing more; live tasks that the shutdown ends count as interrupted, not as killed. */
  public void stop() {
    inputs.add(
        now -> {
          stopping = true;
          queueSamples.take();
        });
  }

  /** See {@link io.espalier.core.api.SchedulerApi#forgive}. */
  public CompletionStage<Long> forgive(List<String> jobs) {
    CompletableFuture<Long> answer = new CompletableFuture<>();
    inputs.add(
        now -> {
          for (String job : jobs) {
            if (core.findJob(job) < 0 || core.job(core.findJob(job)) == null) {
              answer.completeExceptionally(unknownJob(job));
              return;
            }
          }
          chores.add(new ForgiveCommand(core, jobs, this::recordForgiven, this::forgiven, answer));
        });
    return answer;
  }

  /** See {@link io.espalier.core.api.SchedulerApi#forgive(TaskSelection)}. */
  public CompletionStage<SelectionResult> forgive(TaskSelection selection) {
    return select(
        selection, TaskOperations.FORGIVE, "forgiven", JobEvent.FORGIVE, this::recordForgiven);
  }

  /** See {@link io.espalier.core.api.SchedulerApi#rerun}. */
  public CompletionStage<SelectionResult> rerun(TaskSelection selection) {
    return select(selection, TaskOperations.RERUN, "rerun", JobEvent.RERUN, this::recordRerun);
  }

  private CompletionStage<SelectionResult> select(
      TaskSelection selection,
      SelectionCommand.Act act,
      String event,
      JobEvent lifts,
      ForgiveCommand.Changed changed) {
    SelectionCommand chore =
        new SelectionCommand(
            core,
            live,
            selection,
            act,
            new Slices(event, lifts, changed),
            new CompletableFuture<>());
    inputs.add(now -> chores.add(chore));
    return chore.answer();
  }

  /** Takes the changes of a chore into batches. */
  private final class Slices implements SelectionCommand.Sink {
    private final String event;
    private final JobEvent lifts;
    private final ForgiveCommand.Changed changed;

    Slices(String event, JobEvent lifts, ForgiveCommand.Changed changed) {
      this.event = event;
      this.lifts = lifts;
      this.changed = changed;
    }

    @Override
    public void changed(StatusRow row, long nowMillis) {
      changed.accept(row, nowMillis);
    }

    @Override
    public void sliced(Runnable durable) {
      commit().thenRun(() -> ports.owner().execute(() -> inputs.add(now -> durable.run())));
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
      if (tasks > 0 || selection.selector().equals(TaskSelector.ALL)) {
        outcomes.again(selection.job(), lifts, nowMillis);
        lookAtJobs(nowMillis);
      }
      commit().thenRun(durable);
    }
  }

  private void forgiven(List<String> jobs, long tasks, long nowMillis, Runnable durable) {
    jobs.forEach(job -> outcomes.again(job, JobEvent.FORGIVE, nowMillis));
    lookAtJobs(nowMillis);
    events.add(
        nowMillis,
        "forgiven",
        Json.object().put("jobs", Json.strings(jobs)).put("tasks", tasks).build());
    commit().thenRun(durable);
  }

  /** See {@link io.espalier.core.api.SchedulerApi#kill}; also tasks of deleted jobs. */
  public CompletionStage<Void> kill(String job, String node) {
    return changeDurably(
        now -> {
          if (!kills.kill(new TaskKey(job, node), now)) {
            throw new RefusedException(
                core.findJob(job) < 0
                    ? RefusedException.Reason.UNKNOWN
                    : RefusedException.Reason.CONFLICT,
                "task " + job + " on " + node + " is not running");
          }
          return null;
        });
  }

  /** See {@link io.espalier.core.api.SchedulerApi#extend}. */
  public CompletionStage<TaskDeadlines> extend(String job, String node, long millis) {
    CompletableFuture<TaskDeadlines> answer = new CompletableFuture<>();
    inputs.add(
        now -> {
          Live task = live.get(new TaskKey(job, node));
          String refusal = task == null ? "is not running" : TimeExtension.refusal(task, millis);
          if (task != null
              && refusal == null
              && !TimeExtension.extend(task, millis, ports.runner())) {
            refusal = "cannot be given more time by the runner " + ports.runner().name();
          }
          if (task == null || refusal != null) {
            answer.completeExceptionally(
                new RefusedException(
                    core.findJob(job) < 0
                        ? RefusedException.Reason.UNKNOWN
                        : RefusedException.Reason.CONFLICT,
                    "task " + job + " on " + node + " " + refusal));
            return;
          }
          events.extended(task, millis, now);
          live.changed(task);
          views.changed();
          answer.complete(task.limits);
        });
    return answer;
  }

  /** See {@link io.espalier.core.api.SchedulerApi#pause}. */
  public CompletionStage<Void> pause(String job, String author, String reason, long millis) {
    return changeDurably(
        now -> {
          pause(job, author, reason, millis, now);
          outcomes.paused(job, false);
          lookAtJobs(now);
          return null;
        });
  }

  private void pause(String job, String author, String reason, long millis, long nowMillis) {
    long until = millis <= 0 ? 0 : nowMillis + millis;
    Pause pause = new Pause(job, author, reason, nowMillis, until);
    pauses.pause(pause, nowMillis);
    batch.pause(pause);
    views.changed();
  }

  /** See {@link io.espalier.core.api.SchedulerApi#resume}. */
  public CompletionStage<Void> resume(String job, String author, String reason) {
    return changeDurably(
        now -> {
          outcomes.resume(job, now);
          pauses.resume(job, author, reason, now);
          batch.resume(job);
          lookAtJobs(now);
          return null;
        });
  }

  /** See {@link io.espalier.core.api.SchedulerApi#stop}. */
  public CompletionStage<Long> stopJob(String job, String author, String reason) {
    return changeDurably(
        now -> {
          pause(job, author, reason, 0, now);
          outcomes.paused(job, true);
          lookAtJobs(now);
          long signaled = 0;
          for (Live task : live.all()) {
            if (task.key.job().equals(job) && kills.kill(task.key, now)) {
              signaled++;
            }
          }
          return signaled;
        });
  }

  /** See {@link io.espalier.core.api.SchedulerApi#setLimit}. */
  public CompletionStage<LimitView> setLimit(LimitOverride wanted, long millis) {
    return changeDurably(
        now -> {
          LimitOverride override =
              new LimitOverride(
                  wanted.level(),
                  wanted.resource(),
                  wanted.node(),
                  wanted.limit(),
                  wanted.author(),
                  wanted.reason(),
                  now,
                  millis <= 0 ? 0 : now + millis);
          limits.set(override, now);
          batch.limit(override);
          return limits.view(override);
        });
  }

  /** See {@link io.espalier.core.api.SchedulerApi#endLimit}. */
  public CompletionStage<LimitView> endLimit(LimitOverride.Key key, String author, String reason) {
    return changeDurably(
        now -> {
          LimitView ended = limits.end(key, author, reason, now);
          batch.endLimit(key);
          return ended;
        });
  }

  /** Answers once what it changed is durable. */
  private <T extends @Nullable Object> CompletionStage<T> changeDurably(LongFunction<T> change) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    inputs.add(
        now -> {
          T result;
          try {
            result = change.apply(now);
          } catch (RefusedException e) {
            answer.completeExceptionally(e);
            return;
          }
          commit().thenRun(() -> answer.complete(result));
        });
    return answer;
  }

  /** See {@link io.espalier.core.api.SchedulerApi#hold}. */
  public CompletionStage<WorkerView> hold(
      String shard, WorkerCordon.Kind kind, String author, String reason) {
    return changePool(shard, now -> batch.hold(pool.hold(shard, kind, author, reason, now)));
  }

  /** See {@link io.espalier.core.api.SchedulerApi#release}. */
  public CompletionStage<WorkerView> release(String shard, String reason) {
    return changePool(
        shard,
        now -> {
          pool.release(shard, reason, now);
          batch.release(shard);
        });
  }

  private CompletionStage<WorkerView> changePool(String shard, LongConsumer change) {
    CompletableFuture<WorkerView> answer = new CompletableFuture<>();
    inputs.add(
        now -> {
          try {
            change.accept(now);
          } catch (RefusedException e) {
            answer.completeExceptionally(e);
            return;
          }
          WorkerView view = pool.view(shard);
          commit().thenRun(() -> answer.complete(view));
        });
    return answer;
  }

  // ---- questions: answered at once, on the owner's thread

  /** See {@link io.espalier.core.api.SchedulerApi#workers}. */
  public List<WorkerView> workers() {
    return pool.view();
  }

  /** All that takes more than a look. */
  public QueryQueue questions() {
    return questions;
  }

  public Explanation explain(String job, String node) {
    return core.explain(job, node);
  }

  /** See {@link io.espalier.core.api.SchedulerApi#queues}. */
  public List<QueueView> queues() {
    return core.queues();
  }

  /** See {@link io.espalier.core.api.SchedulerApi#limits}. */
  public List<LimitView> limits() {
    return limits.view();
  }

  /** See {@link io.espalier.core.api.SchedulerApi#histograms}. */
  public List<Histogram> histograms(List<String> jobs, int samples) {
    List<Histogram> histograms = new ArrayList<>();
    for (int job = 0; job < core.jobCount(); job++) {
      Job config = core.job(job);
      if (config != null && config.isValid() && (jobs.isEmpty() || jobs.contains(config.name()))) {
        histograms.add(core.histogram(job, samples));
      }
    }
    return histograms;
  }

  public TaskView task(String job, String node) {
    return TaskViews.one(core, live, ports.runner().shard(), job, node);
  }

  /** Scans in slices; completes in a later step. */
  public CompletionStage<TaskPage> tasks(TaskQuery query) {
    TaskPageQuery chore = new TaskPageQuery(core, live, ports.runner().shard(), query);
    inputs.add(now -> chores.add(chore));
    return chore.answer();
  }

  /** The counts of all configured jobs, by name, as of this moment. */
  public Map<String, JobProgress> progress() {
    return views.progress();
  }

  /** How all configured jobs stand, by name, as of this moment. */
  public Map<String, JobStateRecord> standings() {
    return outcomes.latest();
  }

  /** The highest use of every resource so far. */
  public List<PeakUsage> peaks() {
    return core.peaks();
  }

  /** Invocations that are alive. */
  public int liveCount() {
    return live.size();
  }

  /** What this loop has done so far; may be read by any thread. */
  public LoopStats stats() {
    return stats;
  }

  /** How many tasks this loop has started. */
  public long started() {
    return starts.count();
  }

  /**
   * Nothing runs, nothing may start, nothing waits for a time, and all of it is durable: only news
   * from outside could change that.
   */
  public boolean isQuiet() {
    return inputs.isEmpty()
        && chores.isEmpty()
        && questions.isEmpty()
        && live.size() == 0
        && !changes.underWay()
        && isDurable()
        && roundComplete
        && !placedInRound
        && !timersMatter()
        && !endsOfOverridesMatter();
  }

  /** Whether a back-off will end, or a start be allowed again, of a job that may start then. */
  private boolean timersMatter() {
    boolean rates = core.jobsHeldByRate() + core.nodesHeldByRate() > 0;
    return core.nextTimerMillis() != Long.MAX_VALUE
        && views.progress().values().stream()
            .anyMatch(
                job ->
                    (job.waiting() > 0 || (rates && job.ready() > 0)) && !core.isClosed(job.job()));
  }

  /** Whether tasks remain that the end of a pause or of another limit may start. */
  private boolean endsOfOverridesMatter() {
    if (pauses.nextMillis() == Long.MAX_VALUE && limits.nextMillis() == Long.MAX_VALUE) {
      return false;
    }
    return views.progress().values().stream()
        .anyMatch(
            job -> {
              Job config = core.job(core.findJob(job.job()));
              return job.ready() + job.blocked() > 0
                  && config != null
                  && config.canRun()
                  && !core.isClosed(job.job());
            });
  }

  // ---- the step

  /**
   * One step of the loop.
   *
   * @return how long to sleep at most before the next step, unless there is news
   */
  public Duration runOnce(long nowMillis) {
    core.setClock(nowMillis);
    for (int left = Math.min(inputs.size(), INPUTS_PER_STEP); left > 0; left--) {
      inputs.remove().accept(nowMillis);
    }
    boolean more = !inputs.isEmpty();
    pauses.step(nowMillis, this::resumed);
    limits.step(nowMillis, key -> batch.endLimit(key));
    more |= changes.step(nowMillis, row -> recordChanged(row, nowMillis));
    if (changes.tookForce()) {
      recovery.configured(this::taskEnded);
      kills.recheck();
      deadlines.recheck(nowMillis);
      views.inForce(changes.nodesAtMillis());
      views.error("statuses", changes.problem());
      paces.retain(core.config().jobs().keySet());
    }
    if (deadlines.step(nowMillis)) {
      views.changed();
    }
    more |= !core.advance(nowMillis, TIMERS_PER_SLICE);
    more |= !core.stepLimits(LIMIT_UNITS);
    more |= !core.stepOrphans(LIMIT_UNITS);
    more |= stepChores(nowMillis);
    lookAtJobs(nowMillis);
    more |= questions.step(nowMillis);
    more |= round(nowMillis);
    lookAtJobs(nowMillis);
    more |= changes.hasConfig() && core.isTouched();
    judgeStuck(nowMillis, more);
    if (!stopping && changes.hasConfig()) {
      more |= kills.checkOrphans(nowMillis);
      views.error("orphans", kills.problem());
      more |= overLimits.step(nowMillis);
    }
    checkpoints.step(nowMillis, task -> recordCheckpoint(task, nowMillis));
    more |= supervision.step(nowMillis, views);
    queueSamples.step(nowMillis, stats);
    commit();
    stats.now(live.size(), chores.size());
    stats.heldByRate(core.jobsHeldByRate(), core.nodesHeldByRate());
    stats.reserved(core.reservedNodes(), core.reservedSlots(), nowMillis);
    SchedulerView view = views.makeIfDue(nowMillis);
    if (view != null) {
      if (isDurable()) {
        views.publish(view, nowMillis, ports.views());
      } else {
        whenDurable(now -> views.publish(view, now, ports.views()));
      }
    }
    views.remind(nowMillis, ports.views());
    return more ? Duration.ZERO : untilNext(nowMillis, views.nextMillis());
  }

  private boolean isDurable() {
    CompletableFuture<Void> latest = written.toCompletableFuture();
    return latest.isDone() && !latest.isCompletedExceptionally();
  }

  /** Brings the states of jobs up to date, and closes those that are through. */
  private void lookAtJobs(long nowMillis) {
    if (changes.hasConfig() && outcomes.step(nowMillis, this::recordStanding)) {
      views.changed();
    }
  }

  /** When there is nothing better to do: a job that is stuck stays so. */
  private void judgeStuck(long nowMillis, boolean more) {
    if (!more
        && judgesStuck()
        && outcomes.judgeStuck(nowMillis, live.size() > 0, this::recordStanding)) {
      views.changed();
    }
  }

  private boolean judgesStuck() {
    return !stopping && changes.hasConfig() && !changes.underWay();
  }

  private void recordStanding(JobStateRecord standing, boolean moved) {
    batch.standing(standing);
    if (moved && standing.state() == JobState.FAILED) {
      ports.warnings().warn("the job has failed: " + standing.reason(), standing.job(), "");
    }
  }

  private void resumed(String job) {
    batch.resume(job);
    outcomes.pauseEnded(job);
    views.changed();
  }

  private Duration untilNext(long nowMillis, long viewAtMillis) {
    long next = Math.min(core.nextTimerMillis(), viewAtMillis);
    next = Math.min(next, Math.min(kills.nextMillis(), overLimits.nextMillis()));
    next = Math.min(next, Math.min(deadlines.nextMillis(), checkpoints.nextMillis()));
    next = Math.min(next, supervision.nextMillis());
    next = judgesStuck() ? Math.min(next, outcomes.nextMillis()) : next;
    next = Math.min(next, queueSamples.nextMillis());
    next = Math.min(next, Math.min(pauses.nextMillis(), limits.nextMillis()));
    if (retryPolicyAt > nowMillis) {
      next = Math.min(next, retryPolicyAt);
    }
    return Duration.ofMillis(Math.max(0, next - nowMillis));
  }

  private boolean stepChores(long nowMillis) {
    for (int left = Math.min(chores.size(), CHORES_PER_STEP); left > 0; left--) {
      SlicedWork chore = chores.remove();
      if (!chore.step(nowMillis)) {
        chores.add(chore);
      }
    }
    return chores.stream().anyMatch(chore -> !chore.waits());
  }

  /** Whether there is more to place. */
  private boolean round(long nowMillis) {
    if (stopping || !changes.hasConfig() || nowMillis < retryPolicyAt || core.isTouched()) {
      return false;
    }
    if (ports.commits().isSaturated()) {
      stats.saturatedStep();
      return false;
    }
    SchedulingPolicy policy = policies.get(core.config().settings().policy());
    if (policy == null) {
      views.error("policy", "no such policy: " + core.config().settings().policy());
      return false;
    }
    int before = live.size();
    boolean wasOver = roundComplete;
    try {
      roundComplete = core.round(policy, STARTS_PER_SLICE, run -> placed(run, nowMillis));
      views.error("policy", null);
    } catch (RuntimeException e) {
      // A plug-in's mistake must not take the scheduler down; what it placed is placed.
      views.error("policy", policy.name() + " failed: " + e);
      ports.warnings().warn("policy " + policy.name() + " failed: " + e, "", "");
      stats.policyFailed(live.size() - before);
      retryPolicyAt = nowMillis + POLICY_RETRY_MILLIS;
      roundComplete = false;
      return false;
    }
    placedInRound = live.size() > before;
    // A look that finds nothing after one that found nothing is no new round.
    stats.round(live.size() - before, roundComplete && (placedInRound || !wasOver));
    return !roundComplete;
  }

  private void placed(long run, long nowMillis) {
    Live task = starts.placed(run, nowMillis);
    toDispatch.add(task);
    StatusRow row = row(task);
    write(row);
    events.started(task, row, nowMillis);
    views.changed();
  }

  private void end(TaskResult end, long nowMillis) {
    if (recovery.keeps(end, changes.hasConfig())) {
      return;
    }
    TaskKey key = new TaskKey(end.job(), end.node());
    Live task = live.remove(key, end.invocation());
    toConfirm.add(end);
    if (task == null) {
      ports.warnings().warn("end of an unknown invocation ignored", end.job(), end.node());
      return;
    }
    TaskEvent event = statusText.meaning(withReason(end, task), task.statusFrom);
    if (stopping
        && end.kind() == TaskResult.Kind.KILLED
        && end.rawStatus() == null
        && end.stopReason() != StopReason.TIMEOUT
        && end.stopReason() != StopReason.NO_OUTPUT) {
      event = new TaskEvent.Interrupted("the scheduler was stopped");
    }
    if (task.isOfForgottenJob()) {
      event = new TaskEvent.Interrupted("it belonged to a deleted job of the same name");
    }
    task.checkpointIsDue = false;
    Transition transition = TaskTransitions.apply(task.status, event, task.retrying, nowMillis);
    WorkerRef worker = task.launch.worker();
    TaskResult explained = withReason(end, task);
    TaskStatus after =
        TaskTransitions.paced(
            task.status, bounded(transition.status()), core.config().settings().workingWait());
    boolean gotOn = task.status.retries().gotOn();
    Attempt attempt = Attempt.of(explained, task.launch.attempt(), worker, after, gotOn, nowMillis);
    TaskStatus status = after.withFailure(attempt.failure());
    if (transition.warning() != null) {
      ports.warnings().warn(transition.warning(), key.job(), key.node());
    }
    boolean outside = core.runNode(task.run) < 0;
    core.finish(task.run, status);
    if (outside) {
      knowOutside(key, status);
    }
    outcomes.ended(key.job(), status);
    paces.ended(task, end, status, nowMillis);
    StatusRow row = new StatusRow(key.job(), key.node(), status, end.invocation(), worker);
    write(row);
    if (end.kind() != TaskResult.Kind.NOT_STARTED) {
      batch.attempt(attempt);
      if (end.kind() == TaskResult.Kind.LOST && !task.isOfForgottenJob()) {
        lost.put(end.invocation(), attempt);
      }
    }
    events.ended(task, explained, row, nowMillis);
    views.changed();
  }

  /**
   * A run that was adopted before its job or node was known charges no path. Where both are there
   * by now, also as a removed job of which other tasks run, the core knows the task's other
   * statuses and nobody will read this one.
   */
  private void knowOutside(TaskKey key, TaskStatus status) {
    int job = core.findJob(key.job());
    int node = core.findNode(job, key.node());
    if (node >= 0) {
      core.setStatus(job, node, status);
    }
  }

  /** What the supervisor stopped in the runner's stead ended for that limit. */
  private static TaskResult withReason(TaskResult end, Live task) {
    boolean unexplained = end.stopReason() == null || end.stopReason() == StopReason.REQUESTED;
    if (task.overLimit != null && unexplained && end.kind() == TaskResult.Kind.KILLED) {
      return end.withStopReason(StopReason.OVER_LIMIT).withMessage(task.overLimit);
    }
    return task.overdue != null && unexplained && end.kind() == TaskResult.Kind.KILLED
        ? end.withStopReason(task.overdue)
        : end;
  }

  /** Applies {@code --max-attempts}: attempts since the task was last forgiven. */
  private TaskStatus bounded(@Nullable TaskStatus status) {
    if (status == null) {
      throw new IllegalStateException("a task that ran has no status");
    }
    boolean triesAgain = status.usesBackoff() || status.main() == TaskStatus.Main.ERROR;
    if (options.maxAttempts() == 0
        || status.attempts() < options.maxAttempts()
        || status.isFinal()
        || !triesAgain
        || stopping) {
      return status;
    }
    return new TaskStatus(
        TaskStatus.Main.FAILED,
        false,
        false,
        false,
        false,
        status.sinceMillis(),
        0,
        status.position(),
        status.attempts(),
        status.data(),
        status.checkpoint(),
        null,
        status.retries());
  }

  // ---- recording and dispatching

  private void write(StatusRow row) {
    batch.put(row);
    changes.wrote(row);
  }

  /** Notes a status that was changed by something else than a start, an end or a command. */
  private void recordChanged(StatusRow row, long nowMillis) {
    batch.put(row);
    events.changed(row, nowMillis);
    views.changed();
  }

  private void recordForgiven(StatusRow row, long nowMillis) {
    write(row);
    events.forgiven(row, nowMillis);
    views.changed();
  }

  private void recordRerun(StatusRow row, long nowMillis) {
    write(row);
    events.rerun(row, nowMillis);
    views.changed();
  }

  private CompletionStage<Void> commit() {
    events.take().forEach(batch::append);
    StoreTransaction changesOfThisStep = batch.build();
    List<TaskResult> ends = List.copyOf(toConfirm);
    List<JobStateRecord> standings = outcomes.takeRecorded();
    toConfirm.clear();
    if (changesOfThisStep.isEmpty()) {
      if (!ends.isEmpty()) {
        // What is known of their invocations may be in a batch that is not durable yet.
        whenDurable(now -> ends.forEach(ports.runner()::recorded));
      }
      return written;
    }
    batch = StoreTransaction.builder();
    List<Live> launches = List.copyOf(toDispatch);
    toDispatch.clear();
    written =
        ports
            .commits()
            .submit(changesOfThisStep)
            .thenRun(() -> ports.events().accept(changesOfThisStep.events()));
    if (!launches.isEmpty() || !ends.isEmpty() || !standings.isEmpty()) {
      whenDurable(now -> durable(launches, ends, standings, now));
    }
    return written;
  }

  /** In a later step, once all that was committed so far is durable. */
  private void whenDurable(LongConsumer then) {
    written.thenRun(() -> ports.owner().execute(() -> inputs.add(then)));
  }

  /**
   * For answers of this loop that must not be taken back by a crash.
   *
   * @return completes once all that was done in the steps so far is durable, on any thread
   */
  public CompletionStage<Void> durable() {
    return written;
  }

  private void durable(
      List<Live> launches, List<TaskResult> ends, List<JobStateRecord> standings, long nowMillis) {
    if (!standings.isEmpty()) {
      outcomes.show(standings);
      views.changed();
    }
    ends.forEach(ports.runner()::recorded);
    dispatch(launches, nowMillis);
  }

  private void dispatch(List<Live> launches, long nowMillis) {
    for (Live task : launches) {
      if (stopping) {
        LaunchSpec launch = task.launch;
        taskEnded(
            TaskResult.of(launch.job(), launch.node(), launch.invocation(), TaskResult.Kind.KILLED)
                .withMessage("not started: the scheduler was stopped"));
        continue;
      }
      task.dispatched = true;
      TimeExtension.begin(task, nowMillis);
      ports.runner().start(task.launch);
      TimeExtension.extendAtStart(task, ports.runner());
      if (task.killAtStart != null) {
        ports.runner().kill(task.key.job(), task.key.node(), task.invocation(), task.killAtStart);
      }
    }
  }

  private static RefusedException unknownJob(String job) {
    return new RefusedException(RefusedException.Reason.UNKNOWN, "no such job: " + job);
  }
}
