package io.espalier.core.loop;

import io.espalier.core.api.RunningTask;
import io.espalier.core.api.TimeLeft;
import io.espalier.core.config.KillRequest;
import io.espalier.core.config.Retrying;
import io.espalier.core.config.StatusFrom;
import io.espalier.core.json.Json;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.Launch;
import io.espalier.core.running.Limits;
import io.espalier.core.running.Progress;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.Usage;
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
final class LiveTasks {
  private final Map<TaskKey, Live> tasks = new HashMap<>();

  /** By the lower half of its number as a running task, which is small and used again. */
  private @Nullable Live[] byRun = new @Nullable Live[64];

  private static final double MOST_SECONDS = 1e9;

  /** What monitors see, in the same places: a task that did not change costs no look at it. */
  private @Nullable RunningTask[] shown = new @Nullable RunningTask[64];

  private final List<Live> stale = new ArrayList<>();
  private List<RunningTask> published = List.of();
  private boolean changed;

  /** One live invocation; what it needs at its end is fixed at its start. */
  static final class Live {
    final TaskKey key;
    final long run;
    final Launch launch;

    /** Of a resumed invocation both are known with the first configuration. */
    Retrying retrying;

    StatusFrom statusFrom;

    /** The newest sample. */
    @Nullable Usage usage;

    private Json.@Nullable Obj checkpointAtStart;

    /** With the newest checkpoint. */
    TaskStatus status;

    /** Until when it may run, by the scheduler's clock. */
    TimeLeft limits;

    /** Whether the checkpoint is newer than what is stored. */
    boolean checkpointIsDue;

    /** The earliest time for writing the next one. */
    long nextCheckpointMillis;

    /** When it was handed to the runner; 0: not yet. */
    long dispatchedMillis;

    /** When somebody first asked for its end; 0: nobody did. */
    long killAskedMillis;

    /** The wait of that request from TERM to KILL. */
    long killWaitMillis;

    /** Whether that request was one that no task can outlive. */
    boolean killMustWork;

    /** To be added to its limits once it is handed to the runner. */
    long extendAtStart;

    /** Why the supervisor stopped it, because its runner had not. */
    @Nullable StopReason overdue;

    /** What it was told to end for, of a kill that was not asked for by name. */
    @Nullable String overLimit;

    private @Nullable Progress progress;
    private long firstDone;
    private long firstDoneMillis;
    private double rate;
    private long heardMillis;

    /** Handed to the runner. */
    boolean dispatched;

    private boolean isOfForgottenJob;

    /** Whether monitors see it as it was. */
    private boolean isStale;

    /** Asked for before it was handed to the runner. */
    @Nullable KillRequest killAtStart;

    Live(TaskKey key, long run, Launch launch, TaskStatus status, Retrying retrying) {
      this.key = key;
      this.run = run;
      this.launch = launch;
      this.status = status;
      this.checkpointAtStart = status.checkpoint();
      this.limits = timeLeft(launch);
      this.retrying = retrying;
      this.statusFrom = launch.statusFrom();
    }

    private static TimeLeft timeLeft(Launch launch) {
      Limits given = launch.limits();
      return new TimeLeft(
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
    void forget(long nowMillis) {
      isOfForgottenJob = true;
      checkpointAtStart = null;
      checkpointIsDue = false;
      status = TaskTransitions.firstStart(nowMillis);
    }

    boolean isOfForgottenJob() {
      return isOfForgottenJob;
    }

    /** The checkpoint that the attempt began with. */
    Json.@Nullable Obj checkpointAtStart() {
      return checkpointAtStart;
    }

    /** The newest progress, and how fast it goes on since the first of this attempt. */
    void heard(Progress newest, long nowMillis) {
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
    long startedMillis() {
      return dispatchedMillis > 0 ? dispatchedMillis : invocation().startMillis();
    }

    RunningTask view(String shard) {
      return new RunningTask(
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

    Invocation invocation() {
      return launch.invocation();
    }

    /** Which task it is and where, for people. */
    String name(String ownShard) {
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
  void add(Live live) {
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
  @Nullable Live ofRun(long run) {
    int at = (int) run;
    Live live = at >= 0 && at < byRun.length ? byRun[at] : null;
    return live != null && live.run == run ? live : null;
  }

  /** One more than the largest number for {@link #at}. */
  int high() {
    return byRun.length;
  }

  /** One of them, to look at all in slices; null: none has this number now. */
  @Nullable Live at(int number) {
    return number < byRun.length ? byRun[number] : null;
  }

  @Nullable Live get(TaskKey key) {
    return tasks.get(key);
  }

  /** The live invocation if it is this one, removed. */
  @Nullable Live remove(TaskKey key, Invocation invocation) {
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
  void changed(Live live) {
    changed = true;
    if (!live.isStale) {
      live.isStale = true;
      stale.add(live);
    }
  }

  void usage(TaskKey key, Invocation invocation, Usage usage) {
    Live live = tasks.get(key);
    if (live != null && live.invocation().equals(invocation)) {
      live.usage = usage;
      changed(live);
    }
  }

  Collection<Live> all() {
    return tasks.values();
  }

  int size() {
    return tasks.size();
  }

  /**
   * All of them for monitors; the same list as last time when nothing changed. Makes anew what has
   * changed and copies references to the rest.
   *
   * @param shard of the scheduler's own host
   */
  List<RunningTask> view(String shard) {
    if (changed) {
      for (Live live : stale) {
        live.isStale = false;
        int at = (int) live.run;
        if (byRun[at] == live) {
          shown[at] = live.view(live.shard(shard));
        }
      }
      stale.clear();
      List<RunningTask> list = new ArrayList<>(tasks.size());
      for (RunningTask task : shown) {
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
