package io.espalier.core.loop.command;

import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.loop.state.LiveTasks.Live;
import io.espalier.core.loop.state.SlicedWork;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskRunner;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.status.store.Brake;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Takes starts back that were handed to the runner and are under a brake, in slices, and knows
 * which workers have not confirmed that: such a worker may still start what it was given. A worker
 * that is lost confirms nothing; what it was given ends with its lease, and what has ended need not
 * be confirmed.
 */
final class StartRecalls {
  private static final int TASKS_PER_SLICE = 2_000;

  private final SchedulingCore core;
  private final BrakeTargets targets;
  private final LiveTasks live;
  private final TaskRunner runner;
  private final Consumer<SlicedWork> chores;
  private final Runnable complete;
  private final Map<Brake.Key, Recall> recalls = new LinkedHashMap<>();

  /**
   * @param chores does the recalls, in slices
   * @param complete is called when a recall has looked at all tasks
   */
  StartRecalls(
      SchedulingCore core,
      BrakeTargets targets,
      LiveTasks live,
      TaskRunner runner,
      Consumer<SlicedWork> chores,
      Runnable complete) {
    this.core = core;
    this.targets = targets;
    this.live = live;
    this.runner = runner;
    this.chores = chores;
    this.complete = complete;
  }

  /**
   * Begins to take back what a brake stops. Nothing that it stops may be handed to the runner from
   * now on. Forgets what an earlier brake with the same key waits for.
   */
  void recall(Brake.Key key) {
    Recall recall = new Recall(key);
    recalls.put(key, recall);
    chores.accept(recall);
  }

  /** The runner has confirmed the recall of these. */
  void recalled(List<Invocation> invocations) {
    recalls.values().forEach(each -> invocations.forEach(each.unconfirmed::remove));
  }

  /** Waits no more for what was taken back because of a brake that is over. */
  void forget(Brake.Key key) {
    recalls.remove(key);
  }

  /** Returns whether no worker may start anything that a brake stops. */
  boolean isConfirmed(Brake.Key key) {
    Recall recall = recalls.get(key);
    return recall == null || (recall.isComplete && recall.shards().isEmpty());
  }

  /** Returns the workers that may start something that a brake stops, by name. */
  List<String> unconfirmed(Brake.Key key) {
    Recall recall = recalls.get(key);
    if (recall == null) {
      return List.of();
    }
    return recall.isComplete ? List.copyOf(recall.shards()) : allShards();
  }

  private List<String> allShards() {
    @Nullable List<WorkerInfo> workers = core.capacity().workers();
    return workers == null
        ? List.of(runner.shard())
        : workers.stream().map(worker -> shard(worker.ref())).sorted().toList();
  }

  private String shard(WorkerRef worker) {
    return worker.isLocal() ? runner.shard() : worker.shard();
  }

  /** The recall of one brake. */
  private final class Recall implements SlicedWork {
    private final Brake.Key key;
    private final Set<Invocation> unconfirmed = new HashSet<>();

    /** By worker what was recalled from it; what need not be confirmed any more goes first. */
    private final Map<String, Queue<Live>> recalled = new TreeMap<>();

    /** The number of the live task to be looked at next. */
    private int place;

    private boolean isComplete;

    Recall(Brake.Key key) {
      this.key = key;
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // Each brake has a recall of its own.
    public boolean step(long nowMillis) {
      if (recalls.get(key) != this) {
        return true;
      }
      List<Live> handed = new ArrayList<>();
      int end = Math.min(live.high(), place + TASKS_PER_SLICE);
      for (; place < end; place++) {
        Live task = live.at(place);
        if (task != null && task.dispatched && targets.isBelow(key, task)) {
          handed.add(task);
        }
      }
      List<LaunchSpec> launches = handed.stream().map(task -> task.launch).toList();
      if (!launches.isEmpty() && runner.recall(launches)) {
        for (Live task : handed) {
          unconfirmed.add(task.invocation());
          recalled
              .computeIfAbsent(task.shard(runner.shard()), shard -> new ArrayDeque<>())
              .add(task);
        }
      }
      if (place >= live.high()) {
        isComplete = true;
        complete.run();
      }
      return isComplete;
    }

    /** Returns the workers that have not confirmed everything, in order. */
    Set<String> shards() {
      recalled.values().removeIf(this::isConfirmed);
      return recalled.keySet();
    }

    private boolean isConfirmed(Queue<Live> tasks) {
      for (Live task = tasks.peek(); task != null; task = tasks.peek()) {
        if (unconfirmed.contains(task.invocation()) && live.ofRun(task.run) != null) {
          return false;
        }
        unconfirmed.remove(tasks.remove().invocation());
      }
      return true;
    }
  }
}
