package io.espalier.core.loop.state;

import io.espalier.core.api.RunningTaskView;
import io.espalier.core.api.TaskDeadlines;
import io.espalier.core.config.KillRequest;
import io.espalier.core.config.RetryPolicy;
import io.espalier.core.config.StatusSource;
import io.espalier.core.json.Json;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.InvocationLimits;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.Progress;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.StopReason;
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
 * The invocations that are alive, from the decision to start them to their end. There is at most
 * one per task: that is what at most once means here.
 */
public final class LiveTasks {
  private final Map<TaskKey, Live> tasks = new HashMap<>();

  /** By the lower half of its number as a running task, which is small and used again. */
  private @Nullable Live[] byRun = new @Nullable Live[64];

  private static final double MOST_SECONDS = 1e9;

  /** What monitors see, in the same places: a task that did not change costs no look at it. */
  private @Nullable RunningTaskView[] shown = new @Nullable RunningTaskView[64];

  private final List<Live> stale = new ArrayList<>();
  private List<RunningTaskView> published = List.of();
  private boolean changed;

  /** One live invocation; what it needs at its end is fixed at its start. */
  public static final class Live {
    public final TaskKey key;
    public final long run;
    public final LaunchSpec launch;

    /** Of a resumed invocation both are known with the first configuration. */
    public RetryPolicy retrying;

    public StatusSource statusFrom;

    /** The newest sample. */
    @Nullable ResourceUsage usage;

    private Json.@Nullable Obj checkpointAtStart;

    /** With the newest checkpoint. */
    public TaskStatus status;

    /** Until when it may run, by the scheduler's clock. */
    public TaskDeadlines limits;

    /** Whether the checkpoint is newer than what is stored. */
    public boolean checkpointIsDue;

    /** The earliest time for writing the next one. */
    public long nextCheckpointMillis;

    /** When it was handed to the runner; 0: not yet. */
    public long dispatchedMillis;

    /** When somebody first asked for its end; 0: nobody did. */
    public long killAskedMillis;

    /** The wait of that request from TERM to KILL. */
    public long killWaitMillis;

    /** Whether that request was one that no task can outlive. */
    public boolean killMustWork;

    /** To be added to its limits once it is handed to the runner. */
    public long extendAtStart;

    /** Why the supervisor stopped it, because its runner had not. */
    public @Nullable StopReason overdue;

    /** What it was told to end for, of a kill that was not asked for by name. */
    public @Nullable String overLimit;

    private @Nullable Progress progress;
    private long firstDone;
    private long firstDoneMillis;
    private double rate;
    private long heardMillis;

    /** Handed to the runner. */
    public boolean dispatched;

    private boolean isOfForgottenJob;

    /** Whether monitors see it as it was. */
    private boolean isStale;

    /** Asked for before it was handed to the runner. */
    public @Nullable KillRequest killAtStart;

    public Live(TaskKey key, long run, LaunchSpec launch, TaskStatus status, RetryPolicy retrying) {
      this.key = key;
      this.run = run;
      this.launch = launch;
      this.status = status;
      this.checkpointAtStart = status.checkpoint();
      this.limits = timeLeft(launch);
      this.retrying = retrying;
      this.statusFrom = launch.statusFrom();
    }

    private static TaskDeadlines timeLeft(LaunchSpec launch) {
      InvocationLimits given = launch.limits();
      return new TaskDeadlines(
          given.timeoutMillis() == 0
              ? 0
              : launch.invocation().startMillis() + given.timeoutMillis(),
          given.noOutputMillis(),
          given.deadlineMillis());
    }

    /**
     * Its job was deleted and made again while it runs: the new one inherits nothing, and how it
     * ends says nothing of the new one.
     */
    public void forget(long nowMillis) {
      isOfForgottenJob = true;
      checkpointAtStart = null;
      checkpointIsDue = false;
      status = TaskTransitions.firstStart(nowMillis);
    }

    public boolean isOfForgottenJob() {
      return isOfForgottenJob;
    }

    /** The checkpoint that the attempt began with. */
    public Json.@Nullable Obj checkpointAtStart() {
      return checkpointAtStart;
    }

    /** The newest progress, and how fast it goes on since the first of this attempt. */
    public void heard(Progress newest, long nowMillis) {
      progress = newest;
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

    /** When it ends if it goes on as it says; 0: it does not say. */
    long endByProgress() {
      if (progress == null) {
        return 0;
      }
      double left = view("").secondsLeft();
      return left < 0 || left > MOST_SECONDS ? 0 : heardMillis + (long) (left * 1000);
    }

    /** When its process began, as far as it is known here. */
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
          TaskArgument.roleIn(launch.argument()));
    }

    public Invocation invocation() {
      return launch.invocation();
    }

    /** Which task it is and where, for people. */
    public String name(String ownShard) {
      String shard = shard(ownShard);
      return key.job() + " on " + key.node() + (shard.isEmpty() ? "" : ", worker " + shard);
    }

    /** Its worker's. */
    String shard(String ownShard) {
      return launch.worker().isLocal() ? ownShard : launch.worker().shard();
    }
  }

  /**
   * @throws IllegalStateException when the task is alive already
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
    changed(live);
  }

  /** The invocation of a running task of the core; null: it has none yet, or none any more. */
  public @Nullable Live ofRun(long run) {
    int at = (int) run;
    Live live = at >= 0 && at < byRun.length ? byRun[at] : null;
    return live != null && live.run == run ? live : null;
  }

  /** One more than the largest number for {@link #at}. */
  public int high() {
    return byRun.length;
  }

  /** One of them, to look at all in slices; null: none has this number now. */
  public @Nullable Live at(int number) {
    return number < byRun.length ? byRun[number] : null;
  }

  public @Nullable Live get(TaskKey key) {
    return tasks.get(key);
  }

  /** The live invocation if it is this one, removed. */
  public @Nullable Live remove(TaskKey key, Invocation invocation) {
    Live live = tasks.get(key);
    if (live == null || !live.invocation().equals(invocation)) {
      return null;
    }
    tasks.remove(key);
    if (byRun[(int) live.run] == live) {
      byRun[(int) live.run] = null;
      shown[(int) live.run] = null;
    }
    changed = true;
    return live;
  }

  /** Something that monitors see of it is another. */
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
   * All of them for monitors; the same list as last time when nothing changed. Makes anew what has
   * changed and copies references to the rest.
   *
   * @param shard of the scheduler's own host
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
