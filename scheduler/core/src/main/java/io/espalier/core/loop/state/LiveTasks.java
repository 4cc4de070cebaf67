package io.espalier.core.loop.state;

import io.espalier.core.api.view.RunningCall;
import io.espalier.core.api.view.RunningTaskView;
import io.espalier.core.api.view.RunningTaskView.Stopping;
import io.espalier.core.api.view.TaskDeadlines;
import io.espalier.core.config.task.KillRequest;
import io.espalier.core.config.task.Program;
import io.espalier.core.config.task.RetryPolicy;
import io.espalier.core.config.task.StatusSource;
import io.espalier.core.json.Json;
import io.espalier.core.running.Counters;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.InvocationLimits;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.Progress;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.Throttle;
import io.espalier.core.status.Attempt;
import io.espalier.core.status.ProgressParser;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskTransitions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The live invocations, from the decision to start them to their end. There is at most one per
 * task: this is what ensures at-most-once execution here.
 */
public final class LiveTasks {
  private final Map<TaskKey, Live> tasks = new HashMap<>();

  /** Indexed by the lower half of the number of the running task, which is small and reused. */
  private @Nullable Live[] byRun = new @Nullable Live[64];

  private static final double MOST_SECONDS = 1e9;

  /** The views for monitors, at the same indexes; an unchanged task is not examined again. */
  private @Nullable RunningTaskView[] shown = new @Nullable RunningTaskView[64];

  /** The number of live verifications by job; jobs without any are absent. */
  private final Map<String, Integer> verifications = new HashMap<>();

  private final List<Live> stale = new ArrayList<>();
  private List<RunningTaskView> published = List.of();
  private boolean changed;
  private long added;

  /** One live invocation; what its end requires is fixed at its start. */
  public static final class Live {
    public final TaskKey key;
    public final long run;

    /** Without its argument once it was handed to the runner: that is the largest part of it. */
    public LaunchSpec launch;

    /** Its node's role under the parent through which it runs; empty: none or unknown. */
    public final String role;

    /** For a resumed invocation, known with the first configuration, like {@code statusFrom}. */
    public RetryPolicy retrying;

    public StatusSource statusFrom;

    /** The program of its job; null: its job was removed before this scheduler knew it. */
    public @Nullable Program program;

    /** Whether it verifies a task that is done, of a job that is not forgotten. */
    boolean isVerification;

    /** Whether its step is gone, so that there is nothing to run. */
    public boolean isEmpty;

    /** The newest sample. */
    @Nullable ResourceUsage usage;

    private Json.@Nullable Obj checkpointAtStart;

    /** The status, including the newest checkpoint. */
    public TaskStatus status;

    /** When its time is over, by the scheduler's clock. */
    public TaskDeadlines limits;

    /** Whether the checkpoint is newer than the stored one. */
    public boolean checkpointIsDue;

    /** The earliest time for writing the next checkpoint. */
    public long nextCheckpointMillis;

    /** When the task was handed to the runner; 0: not yet. */
    public long dispatchedMillis;

    /** How long the task had been eligible when it was placed. */
    public long waitedMillis = Attempt.UNKNOWN_WAIT;

    /** See {@link RunningTaskView#batch}. */
    public String batch = "";

    /** Whether it shares a charge with the others of its batch, which must survive a restart. */
    public boolean sharesCharge;

    /** What it has counted, and how much of that is among the counters of its job. */
    public Counters counters = Counters.NONE;

    public Counters countersWritten = Counters.NONE;

    /** When its end was first requested; 0: never. */
    public long killAskedMillis;

    /** Why, for people. */
    public String killReason = "";

    /** The time between TERM and KILL in that request. */
    public long killWaitMillis;

    /** Whether that request was one that no task can survive. */
    public boolean killMustWork;

    /** Extension to be added to its limits once it is handed to the runner. */
    public long extendAtStart;

    /** Why it was stopped otherwise than by its runner: by the watchdog, or at a window's end. */
    public @Nullable StopReason overdue;

    /** The reason given for a kill that enforces a limit. */
    public @Nullable String overLimit;

    private @Nullable Progress progress;
    private long firstDone;
    private long firstDoneMillis;
    private double rate;
    private long heardMillis;

    /** How fast it was told to work; null: it was told nothing by this scheduler. */
    public @Nullable Throttle throttle;

    /** Whether it was ever told to work at less than full speed. */
    public boolean wasThrottled;

    /** Whether an earlier scheduler process has started it. */
    public boolean resumed;

    /** Whether the task has been handed to the runner. */
    public boolean dispatched;

    private boolean isOfForgottenJob;

    private long addedAs;

    /** Whether its view for monitors is out of date. */
    private boolean isStale;

    /** Kill request from before the task was handed to the runner. */
    public @Nullable KillRequest killAtStart;

    public Live(TaskKey key, long run, LaunchSpec launch, TaskStatus status, RetryPolicy retrying) {
      this.key = key;
      this.run = run;
      this.launch = launch;
      this.role = TaskArgument.roleIn(launch.argument());
      this.status = status;
      this.checkpointAtStart = status.checkpoint();
      this.limits = timeLeft(launch);
      this.retrying = retrying;
      this.statusFrom = launch.statusFrom();
      this.isVerification = status.step() != null && status.step().isVerification();
    }

    private static TaskDeadlines timeLeft(LaunchSpec launch) {
      InvocationLimits given = launch.limits();
      return new TaskDeadlines(
          given.timeoutMillis() == 0 || launch.batch() != 0
              ? 0
              : launch.invocation().startMillis() + given.timeoutMillis(),
          given.noOutputMillis(),
          given.deadlineMillis());
    }

    /**
     * Marks that its job was deleted and created again while it runs: the new job inherits nothing,
     * and the end of this invocation does not affect the new job.
     */
    public void forget(long nowMillis) {
      isOfForgottenJob = true;
      checkpointAtStart = null;
      checkpointIsDue = false;
      counters = Counters.NONE;
      countersWritten = Counters.NONE;
      status = TaskTransitions.firstStart(nowMillis);
    }

    /** Returns how many invocations were added before it. */
    public long addedAs() {
      return addedAs;
    }

    public boolean isOfForgottenJob() {
      return isOfForgottenJob;
    }

    /** The checkpoint from before this attempt. */
    public Json.@Nullable Obj checkpointAtStart() {
      return checkpointAtStart;
    }

    /**
     * Notes that an earlier scheduler process has started it. Its progress is the checkpoint, if
     * that is of this attempt.
     */
    public void resume() {
      resumed = true;
      boolean isOwn = status.attempts() == 1 || status.retries().gotOn();
      if (isOwn && checkpointAtStart != null) {
        progress = ProgressParser.of(checkpointAtStart);
      }
    }

    /** Notes the newest progress and updates its rate since the first report of this attempt. */
    public void heard(Progress newest, long nowMillis) {
      progress = newest.after(progress);
      if (newest.poll() != null && newest.isEmpty()) {
        return;
      }
      heardMillis = nowMillis;
      Long done = newest.done();
      if (done == null) {
        return;
      }
      if (firstDoneMillis == 0 || done < firstDone) {
        firstDone = done;
        firstDoneMillis = nowMillis;
        rate = 0;
      } else if (nowMillis > firstDoneMillis) {
        rate = (done - firstDone) * 1000.0 / (nowMillis - firstDoneMillis);
      }
    }

    /** The estimated end by its own progress; 0 when it reports none. */
    long endByProgress() {
      if (progress == null) {
        return 0;
      }
      double left = view("").secondsLeft();
      return left < 0 || left > MOST_SECONDS ? 0 : heardMillis + (long) (left * 1000);
    }

    /** When its process started, as far as known. */
    public long startedMillis() {
      return dispatchedMillis > 0 ? dispatchedMillis : invocation().startMillis();
    }

    public RunningTaskView view(String shard) {
      return new RunningTaskView(
          key.job(),
          key.node(),
          invocation(),
          launch.attempt(),
          shard,
          usage,
          limits,
          progress,
          rate,
          role,
          status.step() == null ? "" : status.step().label(),
          batch,
          waitedMillis,
          launch.call() == null
              ? null
              : RunningCall.of(launch.call(), progress == null ? null : progress.poll()),
          throttle == null || throttle.ratio() == 1 ? null : throttle,
          killAskedMillis == 0 ? null : new Stopping(killAskedMillis, killReason));
    }

    public Invocation invocation() {
      return launch.invocation();
    }

    /** The task and its worker, for people. */
    public String name(String ownShard) {
      String shard = shard(ownShard);
      return key.job() + " on " + key.node() + (shard.isEmpty() ? "" : ", worker " + shard);
    }

    /** The shard of its worker. */
    public String shard(String ownShard) {
      return launch.worker().isLocal() ? ownShard : launch.worker().shard();
    }
  }

  /**
   * Adds an invocation.
   *
   * @throws IllegalStateException when the task is already alive
   */
  public void add(Live live) {
    Live older = tasks.putIfAbsent(live.key, live);
    if (older != null) {
      throw new IllegalStateException(
          live.key + " is alive as " + older.invocation() + " and was started again");
    }
    int at = (int) live.run;
    if (at >= byRun.length) {
      byRun = Arrays.copyOf(byRun, Math.max(at + 1, byRun.length * 2));
      shown = Arrays.copyOf(shown, byRun.length);
    }
    byRun[at] = live;
    live.addedAs = added++;
    if (live.isVerification) {
      verifications.merge(live.key.job(), 1, Integer::sum);
    }
    changed(live);
  }

  /** How many invocations were added so far. */
  public long added() {
    return added;
  }

  /** The number of live invocations of a job that verify tasks. */
  public int verifications(String job) {
    return verifications.isEmpty() ? 0 : verifications.getOrDefault(job, 0);
  }

  /**
   * Marks that the job of an invocation was deleted and created again: the invocation does not
   * count for the new job.
   */
  public void forget(Live live, long nowMillis) {
    live.forget(nowMillis);
    if (live.isVerification) {
      live.isVerification = false;
      uncountVerification(live.key.job());
    }
  }

  private void uncountVerification(String job) {
    verifications.computeIfPresent(job, (name, count) -> count == 1 ? null : count - 1);
  }

  /** The invocation of a running task of the core; null when it has none yet, or none any more. */
  public @Nullable Live ofRun(long run) {
    int at = (int) run;
    Live live = at >= 0 && at < byRun.length ? byRun[at] : null;
    return live != null && live.run == run ? live : null;
  }

  /** The exclusive upper bound of the numbers for {@link #at}. */
  public int high() {
    return byRun.length;
  }

  /** The invocation with a number, for iteration in slices; null when none has this number now. */
  public @Nullable Live at(int number) {
    return number < byRun.length ? byRun[number] : null;
  }

  public @Nullable Live get(TaskKey key) {
    return tasks.get(key);
  }

  /**
   * Removes and returns the live invocation of the task if it is this one; otherwise returns null.
   */
  public @Nullable Live remove(TaskKey key, Invocation invocation) {
    Live live = tasks.get(key);
    if (live == null || !live.invocation().equals(invocation)) {
      return null;
    }
    tasks.remove(key);
    if (live.isVerification) {
      uncountVerification(key.job());
    }
    if (byRun[(int) live.run] == live) {
      byRun[(int) live.run] = null;
      shown[(int) live.run] = null;
    }
    changed = true;
    return live;
  }

  /** Marks the view of an invocation as out of date. */
  public void changed(Live live) {
    changed = true;
    if (!live.isStale) {
      live.isStale = true;
      stale.add(live);
    }
  }

  public void usage(TaskKey key, Invocation invocation, ResourceUsage usage) {
    Live live = tasks.get(key);
    if (live != null && live.invocation().equals(invocation)) {
      live.usage = usage;
      changed(live);
    }
  }

  public Collection<Live> all() {
    return tasks.values();
  }

  public int size() {
    return tasks.size();
  }

  /**
   * The views of all invocations; the same list as last time when nothing changed. Recreates only
   * the views that changed.
   *
   * @param shard shard of the scheduler's own host
   */
  public List<RunningTaskView> view(String shard) {
    if (changed) {
      for (Live live : stale) {
        live.isStale = false;
        int at = (int) live.run;
        if (byRun[at] == live) {
          shown[at] = live.view(live.shard(shard));
        }
      }
      stale.clear();
      List<RunningTaskView> list = new ArrayList<>(tasks.size());
      for (RunningTaskView task : shown) {
        if (task != null) {
          list.add(task);
        }
      }
      published = List.copyOf(list);
      changed = false;
    }
    return published;
  }
}
