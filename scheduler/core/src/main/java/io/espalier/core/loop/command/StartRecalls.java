package io.espalier.core.loop.command;

import io.espalier.core.config.Job;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.loop.state.LiveTasks.Live;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskRunner;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.store.Brake;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Takes starts back that were handed to the runner and are under a brake, and knows which workers
 * have not confirmed that: such a worker may still start what it was given.
 */
final class StartRecalls {
  private final SchedulingCore core;
  private final LiveTasks live;
  private final TaskRunner runner;
  private final Map<Brake.Key, Map<Invocation, LaunchSpec>> waiting = new LinkedHashMap<>();

  StartRecalls(SchedulingCore core, LiveTasks live, TaskRunner runner) {
    this.core = core;
    this.live = live;
    this.runner = runner;
  }

  /** Takes back what a brake stops; forgets what an earlier brake with the same key waits for. */
  void recall(Brake.Key key) {
    waiting.remove(key);
    Map<Invocation, LaunchSpec> handed = new LinkedHashMap<>();
    for (Live task : live.all()) {
      // Whether a call of an earlier leadership was sent is for its service to say.
      boolean isHanded = task.dispatched || (task.resumed && task.launch.call() == null);
      if (isHanded && isBelow(key, task)) {
        handed.put(task.invocation(), task.launch);
      }
    }
    if (!handed.isEmpty() && runner.recall(List.copyOf(handed.values()))) {
      waiting.put(key, handed);
    }
  }

  private boolean isBelow(Brake.Key key, Live task) {
    Job job = core.config().job(task.key.job());
    return switch (key.target()) {
      case ALL -> true;
      case JOB -> key.name().equals(task.key.job());
      case QUEUE -> job != null && key.name().equals(job.scheduling().queue());
      case SET -> job != null && key.name().equals(job.set());
      case NODE -> isBelow(core.running().levels(task.run), core.running().path(task.run), key);
    };
  }

  private static boolean isBelow(List<String> levels, List<String> path, Brake.Key key) {
    int at = levels.indexOf(key.level());
    return at >= 0 && path.get(at).equals(key.name());
  }

  /** The runner has confirmed the recall of these. */
  void recalled(List<Invocation> invocations) {
    waiting.values().forEach(each -> invocations.forEach(each::remove));
  }

  /** Waits no more for what was taken back because of a brake that is over. */
  void forget(Brake.Key key) {
    waiting.remove(key);
  }

  /** Returns whether no worker may start anything that a brake stops. */
  boolean isConfirmed(Brake.Key key) {
    Map<Invocation, LaunchSpec> left = waiting.get(key);
    if (left == null) {
      return true;
    }
    // What has ended need not be confirmed.
    Iterator<LaunchSpec> each = left.values().iterator();
    while (each.hasNext()) {
      if (isLive(each.next())) {
        return false;
      }
      each.remove();
    }
    waiting.remove(key);
    return true;
  }

  /** Returns the workers that may start something that a brake stops, by name. */
  List<String> unconfirmed(Brake.Key key) {
    if (isConfirmed(key)) {
      return List.of();
    }
    @Nullable Map<Invocation, LaunchSpec> left = waiting.get(key);
    TreeSet<String> shards = new TreeSet<>();
    for (LaunchSpec launch :
        left == null ? List.<LaunchSpec>of() : new ArrayList<>(left.values())) {
      if (isLive(launch)) {
        shards.add(launch.worker().shard());
      }
    }
    return List.copyOf(shards);
  }

  private boolean isLive(LaunchSpec launch) {
    Live task = live.get(new TaskKey(launch.job(), launch.node()));
    return task != null && task.invocation().equals(launch.invocation());
  }
}
