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
 * The scheduler loop (docs/design/design.md#the-loop): takes inputs, starts the tasks that the
 * limits allow, records the changes in the store, hands the started tasks to the runner and
 * publishes the view.
 *
 * <p><b>Threads.</b> The loop has none of its own. A single owner thread calls all methods, above
 * all {@link #runOnce}; inputs are only queued and take effect in the next step, so that everything
 * in a step happens at the same instant. Other threads go through {@link LoopPorts#owner}.
 *
 * <p><b>Order of a start.</b> A task is first charged and set running in the core, then recorded in
 * the store, and handed to the runner only when that commit completes. After a crash the store
 * therefore knows every invocation that may be alive. The loop never waits for the store.
 *
 * <p><b>Slices.</b> Work that grows with the number of tasks, jobs or inputs is cut into slices; a
 * step that leaves work to do returns a pause of zero. Inputs beyond the budget of a step wait for
 * the next step, in order. All changed jobs are evaluated before the next round.
 */
public final class SchedulerLoop {
  /** The minimum interval between two views, in milliseconds. */
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

  /** Attempts recorded as lost; their real outcome may still be reported later. */
  private final Map<Invocation, Attempt> lost =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Invocation, Attempt> eldest) {
          return size() > MOST_LOST;
        }
      };

  private StoreTransaction.Builder batch = StoreTransaction.builder();

  /** The commit of the latest batch. Batches become durable in order. */
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
    this.outcomes = new JobStateTracker(core, events);
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

  // ---- inputs: queued now, effective in the next step

  /**
   * Announces that the stored rows of the update's new tasks are about to be read. The caller must
   * call this before each read, even when it reads for the same update again. Only one update may
   * be in progress at a time.
   *
   * @return a stage that completes once everything written before is durable. The rows may be read
   *     from then on: nothing that happens until the update is in force can be lost.
   */
  public CompletionStage<Void> willRead(UpdatePlan change) {
    return changeDurably(
        now -> {
          changes.willRead(change);
          return null;
        });
  }

  /**
   * Brings a new configuration and its nodes into force.
   *
   * @return a stage that completes, on the owner's thread, when they are in force
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
   * Discards what is stored of an earlier job of the same name, so that the new job does not
   * inherit it (docs/design/features.md#jobs-of-the-same-name).
   */
  private void forget(String job, long nowMillis) {
    batch.forget(job);
    events.add(
        nowMillis,
        StatusRowEvents.JOB_FORGOTTEN,
        Json.object().put("job", job).put("reason", "deleted and made again").build());
    for (Live task : live.all()) {
      if (task.key.job().equals(job)) {
        // The task is still alive, and the next scheduler process must know of it.
        task.forget(nowMillis);
        recordChanged(row(task), nowMillis);
      }
    }
    lost.values().removeIf(attempt -> attempt.job().equals(job));
    changes.forget(job);
    outcomes.forget(job);
  }

  /** Replaces the list of problems of the newest configuration. */
  public void configProblems(List<Problem> problems) {
    inputs.add(now -> views.configProblems(problems));
  }

  /** Sets or clears the current error of a source. Monitors see the error until it is cleared. */
  public void error(String source, @Nullable String message) {
    inputs.add(now -> views.error(source, message));
  }

  /** Notes the end of an invocation. */
  public void taskEnded(TaskResult end) {
    inputs.add(now -> end(end, now));
  }

  /** Notes the real outcome of an invocation that was recorded as lost. */
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

  /**
   * Replaces the list of all workers in the runner's pool; called after every change of the pool.
   * See {@link WorkerInfo}.
   */
  public void workers(List<WorkerInfo> workers) {
    inputs.add(now -> pool.set(workers, now));
  }

  /** Restores the cordons that outlived a restart. To be called before the first step. */
  public void restoreHolds(List<WorkerCordon> holds) {
    pool.restore(holds);
  }

  /** Notes the progress of a live invocation; progress of any other invocation is ignored. */
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

  /** Notes the resource usage of a live invocation; usage of any other invocation is ignored. */
  public void usage(String job, String node, Invocation invocation, ResourceUsage usage) {
    inputs.add(now -> live.usage(new TaskKey(job, node), invocation, usage));
  }

  /**
   * Resumes the invocations that an earlier process recorded as started and that have no recorded
   * end. Used with a runner that outlives its scheduler: once, before the first configuration. The
   * runner must report an end for each of them.
   *
   * @param running all rows with the status running, of any job
   */
  public void restoreRunning(List<StatusRow> running) {
    inputs.add(now -> recovery.resume(running, ports.runner(), now));
  }

  /** Restores the pauses that outlived a restart. To be called before the first step. */
  public void restorePauses(List<Pause> stored) {
    pauses.restore(stored);
    views.changed();
  }

  /**
   * Restores the states in which jobs were when the earlier process ended. To be called after
   * {@link #restorePauses} and before the first step. Failed jobs start nothing from the first step
   * on.
   */
  public void restoreStandings(List<JobStateRecord> stored) {
    outcomes.restore(stored);
  }

  /** Restores the limit overrides that outlived a restart. To be called before the first step. */
  public void restoreLimits(List<LimitOverride> stored) {
    limits.restore(stored);
  }

  /** Restores the usage of queues from before a restart. To be called before the first step. */
  public void restoreQueueUsage(List<QueueUsage> stored) {
    if (!stored.isEmpty()) {
      inputs.add(now -> core.restoreQueueUsage(stored, now));
    }
  }

  /**
   * Stops starting tasks. Live tasks that the shutdown ends count as interrupted, not as killed.
   */
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

  /** Adds the changes of a selection command to the batches. */
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

  /** See {@link io.espalier.core.api.SchedulerApi#kill}. Also kills tasks of deleted jobs. */
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

  /** Applies the change in the next step; the stage completes once the change is durable. */
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

  // ---- queries: answered at once, on the owner's thread

  /** See {@link io.espalier.core.api.SchedulerApi#workers}. */
  public List<WorkerView> workers() {
    return pool.view();
  }

  /** The queries that are too large to answer at once. */
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

  /** Collects a page of tasks in slices; the stage completes in a later step. */
  public CompletionStage<TaskPage> tasks(TaskQuery query) {
    TaskPageQuery chore = new TaskPageQuery(core, live, ports.runner().shard(), query);
    inputs.add(now -> chores.add(chore));
    return chore.answer();
  }

  /** Current progress of all configured jobs, by name. */
  public Map<String, JobProgress> progress() {
    return views.progress();
  }

  /** Current states of all configured jobs, by name. */
  public Map<String, JobStateRecord> standings() {
    return outcomes.latest();
  }

  /** The peak usage of every resource so far. */
  public List<PeakUsage> peaks() {
    return core.peaks();
  }

  /** The number of live invocations. */
  public int liveCount() {
    return live.size();
  }

  /** Statistics of this loop; any thread may read them. */
  public LoopStats stats() {
    return stats;
  }

  /** The number of tasks that this loop has started. */
  public long started() {
    return starts.count();
  }

  /**
   * Returns true when no task runs, none may start, none waits for a time, and everything is
   * durable: only an external input could change that.
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

  /**
   * Returns true when a job that may start tasks has a task that waits for its back-off or for its
   * start rate.
   */
  private boolean timersMatter() {
    boolean rates = core.jobsHeldByRate() + core.nodesHeldByRate() > 0;
    return core.nextTimerMillis() != Long.MAX_VALUE
        && views.progress().values().stream()
            .anyMatch(
                job ->
                    (job.waiting() > 0 || (rates && job.ready() > 0)) && !core.isEnded(job.job()));
  }

  /** Returns true when the end of a pause or of a limit override may start remaining tasks. */
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
                  && !core.isEnded(job.job());
            });
  }

  // ---- the step

  /**
   * Performs one step of the loop.
   *
   * @return the longest time to sleep before the next step, unless an input arrives
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

  /** Brings the states of jobs up to date and closes jobs that are finished. */
  private void lookAtJobs(long nowMillis) {
    if (changes.hasConfig() && outcomes.step(nowMillis, this::recordStanding)) {
      views.changed();
    }
  }

  /** Checks for stuck jobs, only when nothing else is left to do: a stuck job stays stuck. */
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

  /** Runs a slice of a scheduling round. Returns true when the round can place more tasks. */
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
      // A bug in a plug-in must not stop the scheduler; its placements so far remain valid.
      views.error("policy", policy.name() + " failed: " + e);
      ports.warnings().warn("policy " + policy.name() + " failed: " + e, "", "");
      stats.policyFailed(live.size() - before);
      retryPolicyAt = nowMillis + POLICY_RETRY_MILLIS;
      roundComplete = false;
      return false;
    }
    placedInRound = live.size() > before;
    // A round that places nothing, right after another one that placed nothing, is not counted.
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

  /**
   * Applies {@code --max-attempts}, the maximum number of attempts since the task was last
   * forgiven.
   */
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

  /** Records a status that changed for a reason other than a start, an end or a command. */
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
        // The start of these invocations may be in a batch that is not durable yet.
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

  /** Runs an action in a later step, once everything committed so far is durable. */
  private void whenDurable(LongConsumer then) {
    written.thenRun(() -> ports.owner().execute(() -> inputs.add(then)));
  }

  /**
   * The durability of the steps so far, for answers that a crash must not take back.
   *
   * @return a stage that completes, on any thread, once everything done in the steps so far is
   *     durable
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
