package io.espalier.core.loop;

import io.espalier.core.config.Job;
import io.espalier.core.config.Retrying;
import io.espalier.core.json.Json;
import io.espalier.core.running.Invocation;
import io.espalier.core.scheduling.NewTasks;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.status.StatusRow;
import io.espalier.core.status.TaskEvent;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskTransitions;
import io.espalier.core.status.Transition;
import io.espalier.core.topology.Topology;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Brings prepared changes into force, one at a time and in slices: first the core's index, then the
 * stored statuses of the tasks that are new. Jobs that wait for stored statuses are held, so that
 * nothing done is started again.
 */
final class Changes {
  private static final int INDEX_UNITS = 20_000;
  private static final int ROWS = 1_000;
  private static final int LATE_ENDS = 10_000;
  private static final int JOBS = 1_000;

  private final SchedulingCore core;
  private final LiveTasks live;
  private final LoopEvents events;
  private final JobOutcomes outcomes;

  /** Ends that the core could not keep, because job or node was gone; newest last. */
  private final Map<TaskKey, LateEnd> lateEnds = new LinkedHashMap<>();

  /** Jobs that were made again while tasks of the old ones ran. */
  private final ArrayDeque<String> toClear = new ArrayDeque<>();

  private int nextNode;

  private @Nullable PreparedChange current;
  private @Nullable CompletableFuture<Void> answer;

  /**
   * Jobs that wait for stored statuses: still to be held, held, and held for longer than needed.
   */
  private Set<String> held = Set.of();

  private final ArrayDeque<String> toHold = new ArrayDeque<>();
  private final ArrayDeque<String> toRelease = new ArrayDeque<>();

  /** Jobs all of whose tasks are new, as after a restart. */
  private Set<String> fresh = Set.of();

  private boolean begun;
  private boolean indexed;
  private int nextRow;
  private boolean hasConfig;
  private boolean tookForce;
  private long nodesAtMillis;

  private record LateEnd(Invocation invocation, TaskStatus status) {}

  Changes(SchedulingCore core, LiveTasks live, LoopEvents events, JobOutcomes outcomes) {
    this.core = core;
    this.live = live;
    this.events = events;
    this.outcomes = outcomes;
  }

  boolean hasConfig() {
    return hasConfig;
  }

  boolean underWay() {
    return current != null;
  }

  /** Whether a change came into force in the last step. */
  boolean tookForce() {
    return tookForce;
  }

  long nodesAtMillis() {
    return nodesAtMillis;
  }

  /** Ends of the job's tasks are not for a later job of the same name. */
  void forget(String job) {
    lateEnds.keySet().removeIf(key -> key.job().equals(job));
  }

  /**
   * @throws IllegalStateException when another change is under way
   */
  void begin(PreparedChange change, CompletableFuture<Void> inForce) {
    if (current != null) {
      throw new IllegalStateException("a change is under way");
    }
    NewTasks news = change.change().newTasks();
    fresh = Set.copyOf(news.jobs());
    held = new HashSet<>(fresh);
    news.nodes().forEach(nodes -> held.addAll(nodes.jobs()));
    held.addAll(change.forgotten());
    toHold.addAll(held);
    begun = false;
    current = change;
    answer = inForce;
    indexed = false;
    nextRow = 0;
    toClear.clear();
    change.forgotten().stream().filter(j -> !fresh.contains(j)).forEach(toClear::add);
    nextNode = 0;
  }

  /**
   * Does a slice.
   *
   * @param changed receives statuses that differ from what is stored
   * @return whether there is more to do at once
   */
  boolean step(long nowMillis, Consumer<StatusRow> changed) {
    tookForce = false;
    PreparedChange change = current;
    CompletableFuture<Void> done = answer;
    if (change == null || done == null) {
      return false;
    }
    if (!begun) {
      take(toHold, core::hold);
      if (toHold.isEmpty()) {
        core.begin(change.change());
        begun = true;
      }
      return true;
    }
    if (!indexed) {
      indexed = core.step(INDEX_UNITS) != null;
      return true;
    }
    if (!toClear.isEmpty()) {
      clear(toClear.element());
      return true;
    }
    List<StatusRow> rows = change.rows();
    int end = Math.min(rows.size(), nextRow + ROWS);
    for (; nextRow < end; nextRow++) {
      restore(rows.get(nextRow), nowMillis, changed);
    }
    if (nextRow < rows.size()) {
      return true;
    }
    if (!held.isEmpty()) {
      toRelease.addAll(held);
      held = Set.of();
    }
    take(toRelease, core::release);
    if (!toRelease.isEmpty()) {
      return true;
    }
    current = null;
    answer = null;
    hasConfig = true;
    tookForce = true;
    nodesAtMillis = change.nodesAtMillis();
    lateEnds.clear();
    events.add(
        nowMillis,
        "config_in_force",
        Json.object()
            .put("jobs", core.config().jobs().size())
            .put("nodes", core.topology().size())
            .build());
    done.complete(null);
    return false;
  }

  private static void take(ArrayDeque<String> jobs, Consumer<String> what) {
    for (int left = JOBS; left > 0 && !jobs.isEmpty(); left--) {
      what.accept(jobs.remove());
    }
  }

  /** The core has kept the statuses of a removed job for as long as tasks of it ran. */
  private void clear(String name) {
    int job = core.findJob(name);
    Job config = core.job(job);
    if (config == null) {
      toClear.remove();
      return;
    }
    Topology nodes = core.topology();
    int first = nodes.levelStart(config.level());
    int end = nodes.levelEnd(config.level());
    int until = Math.min(end, first + nextNode + ROWS);
    for (int node = first + nextNode; node < until; node++) {
      if (core.status(job, node) != null && live.get(new TaskKey(name, nodes.name(node))) == null) {
        core.setStatus(job, node, null);
      }
    }
    nextNode = until - first;
    if (until == end) {
      toClear.remove();
      nextNode = 0;
    }
  }

  private void restore(StatusRow row, long nowMillis, Consumer<StatusRow> changed) {
    int job = core.findJob(row.job());
    Job config = job < 0 ? null : core.job(job);
    if (config == null || live.get(row.key()) != null) {
      return;
    }
    int node = core.topology().find(config.level(), row.node());
    if (node < 0) {
      return;
    }
    TaskStatus status = row.status();
    if (status.main() == TaskStatus.Main.RUNNING) {
      status = resolve(row, config.retrying(), nowMillis);
      changed.accept(new StatusRow(row.job(), row.node(), status, row.invocation()));
    }
    core.setStatus(job, node, status);
    if (fresh.contains(row.job())) {
      outcomes.restored(row.job(), status);
    }
  }

  /** A stored invocation that is not alive: it ended while its row was read, or we crashed. */
  private TaskStatus resolve(StatusRow row, Retrying retrying, long nowMillis) {
    LateEnd late = lateEnds.get(row.key());
    if (late != null && row.invocation().equals(late.invocation())) {
      return late.status();
    }
    Transition transition =
        TaskTransitions.apply(
            row.status(),
            new TaskEvent.Interrupted("the scheduler ended while the task ran"),
            retrying,
            nowMillis);
    TaskStatus status = transition.status();
    if (status == null) {
      throw new IllegalStateException("no status for an interrupted task");
    }
    return status;
  }

  /** Keeps the end of a task whose job or node is gone: they may come back with the next change. */
  void endedOutside(TaskKey key, Invocation invocation, TaskStatus status) {
    lateEnds.remove(key);
    lateEnds.put(key, new LateEnd(invocation, status));
    if (lateEnds.size() > LATE_ENDS) {
      lateEnds.remove(lateEnds.keySet().iterator().next());
    }
  }
}
