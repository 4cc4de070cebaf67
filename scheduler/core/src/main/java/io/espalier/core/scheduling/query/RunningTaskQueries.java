package io.espalier.core.scheduling.query;

import io.espalier.core.running.WorkerInfo;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.gate.GateTable;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.scheduling.state.RunNames;
import io.espalier.core.scheduling.state.SchedulingState;
import io.espalier.core.scheduling.task.RunningTasks;
import io.espalier.core.scheduling.worker.WorkerTable;
import io.espalier.core.status.TaskStatus;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Questions to the core about running tasks. A running task is a long that stays valid while the
 * task runs.
 *
 * <p>{@code SchedulingCore.running} returns it; use it on the thread of the core.
 */
public final class RunningTaskQueries {
  private final Supplier<SchedulingState> current;
  private final RunningTasks runs;
  private final WorkerTable pool;

  public RunningTaskQueries(
      Supplier<SchedulingState> current, RunningTasks runs, WorkerTable pool) {
    this.current = current;
    this.runs = runs;
    this.pool = pool;
  }

  private SchedulingState state() {
    return current.get();
  }

  /**
   * Returns the worker of a running task, or null when it has none or the worker has left the pool.
   */
  public @Nullable WorkerInfo worker(long run) {
    int worker = state().places.worker(runs.index(run));
    return worker < 0 ? null : pool.info(worker);
  }

  /**
   * Returns whether a running task whose invocation has ended may go on with another one, on the
   * same path and worker and for the same charge: its job and its node are as open as for a start,
   * and its worker takes tasks. Otherwise it must end.
   */
  public boolean mayGoOn(long run) {
    int index = runs.index(run);
    int job = state().places.job(index);
    int node = state().places.node(index);
    if (job < 0 || node < 0 || !state().jobs.isActive(job)) {
      return false;
    }
    int parent = -1;
    for (int level = 0; level < state().topology.levels().count(); level++) {
      int at = state().places.node(index, level);
      if (at >= 0) {
        if (state().closed.isClosed(at, job) || !isAllowed(at, parent, job)) {
          return false;
        }
        parent = at;
      }
    }
    if (parent != node) {
      return false;
    }
    int worker = state().places.worker(index);
    WorkerInfo info = worker < 0 ? null : pool.info(worker);
    return worker < 0 || (info != null && info.takesTasks());
  }

  private boolean isAllowed(int node, int parent, int job) {
    for (int i = 0; i < state().topology.slotCount(node); i++) {
      int slot = state().topology.slot(node, i);
      if (state().topology.parent(slot) == parent && state().index.isAllowed(slot, job)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Returns a closed gate, of a job or of a node of its path, that keeps a task from starting;
   * null: none of these kinds does. It may have been closed since the task was placed.
   */
  public @Nullable Gate closed(long run, GateKind... kinds) {
    for (GateKind kind : kinds) {
      Gate gate = state().gateTable.areOpen(kind) ? null : closed(run, kind);
      if (gate != null) {
        return gate;
      }
    }
    return null;
  }

  private @Nullable Gate closed(long run, GateKind kind) {
    GateTable gates = state().gateTable;
    String job = jobName(run);
    if (kind.closes() == Scope.Kind.JOB) {
      return gates.get(kind, Scope.job(job));
    }
    boolean ofJob = kind.closes() == Scope.Kind.JOB_ON_NODE;
    List<String> levels = levels(run);
    List<String> path = path(run);
    for (int i = 0; i < levels.size(); i++) {
      String level = levels.get(i);
      Gate gate =
          gates.get(
              kind,
              ofJob ? Scope.jobOnNode(job, level, path.get(i)) : Scope.node(level, path.get(i)));
      if (gate != null) {
        return gate;
      }
    }
    return null;
  }

  public int count() {
    return runs.count();
  }

  public boolean isRunning(long run) {
    return runs.isRunning(run);
  }

  /** Returns the running task of a job and node, or -1. */
  public long find(int job, int node) {
    int run = state().places.find(job, node);
    return run < 0 ? -1 : runs.id(run);
  }

  /** Returns all running tasks, unordered, as a new array. */
  public long[] all() {
    long[] all = new long[runs.count()];
    int n = 0;
    for (int run = 0; run < runs.high(); run++) {
      if (runs.isUsed(run)) {
        all[n++] = runs.id(run);
      }
    }
    return all;
  }

  /** Returns the job number of a running task; -1 when it was adopted and its job is unknown. */
  public int job(long run) {
    return state().places.job(runs.index(run));
  }

  /**
   * Returns the status of a running task, like that of a task, but also when the job or node is
   * gone.
   */
  public @Nullable TaskStatus status(long run) {
    return runs.status(runs.index(run));
  }

  /**
   * Returns since when a task that was placed just now could have started: the latest of the end of
   * its back-off, or of its status without one; the moment since which its job may start tasks; and
   * the end of the last task on which it depends (docs/adr/0063-wait-times.md).
   *
   * @return epoch milliseconds
   */
  public long eligibleMillis(long run) {
    int at = runs.index(run);
    return state().eligibleMillis(state().places.job(at), state().places.node(at), runs.status(at));
  }

  /**
   * Returns the node of a running task, or -1 when the node is gone or no longer on the job's
   * level.
   */
  public int node(long run) {
    return state().places.node(runs.index(run));
  }

  public String jobName(long run) {
    return RunNames.job(state(), runs, runs.index(run));
  }

  public String nodeName(long run) {
    return RunNames.node(state(), runs, runs.index(run));
  }

  /**
   * Returns the names of the nodes that a running task is charged on, from the instance down to its
   * own. It is only its own node when the task was adopted while its job or node was unknown.
   */
  public List<String> path(long run) {
    return RunNames.path(state(), runs, runs.index(run)).nodes();
  }

  /**
   * Returns the role of a running task, such as {@code replica}: the role of the lowest edge on its
   * path that has one. Empty when no edge has a role or the path is unknown.
   */
  public String role(long run) {
    return state().whereabouts.roleOf(runs.index(run));
  }

  /**
   * Returns the level names of the nodes in {@link #path}; empty when only the task's own node is
   * known.
   */
  public List<String> levels(long run) {
    return RunNames.path(state(), runs, runs.index(run)).levels();
  }

  /**
   * Returns the name of the batch with whose tasks a running task shares a charge, unique among
   * those of the core; empty: it shares none.
   */
  public String batch(long run) {
    return runs.batches().name(runs.index(run));
  }

  /** Returns whether a running task is the one of its batch that carries what they share. */
  public boolean isCarrier(long run) {
    return runs.batches().isCarrier(runs.index(run));
  }

  /**
   * Returns what a running task was charged when it started, and what it carries for its batch:
   * node to resource to slots, in path order, with the worker's shard last.
   */
  public Map<String, Map<String, Integer>> resourcesByNode(long run) {
    return RunNames.chargesByNode(state(), runs, runs.index(run));
  }

  /**
   * Returns the running tasks that should not run: the job is gone, disabled or invalid, or the
   * node is gone or disabled on every path (docs/design/bistro.md#orphans). Filters make no
   * orphans. After an in-place update the result is complete only when {@code stepOrphans} has
   * returned true.
   */
  public long[] orphans() {
    int[] numbers = state().places.orphans();
    long[] all = new long[numbers.length];
    for (int i = 0; i < all.length; i++) {
      all[i] = runs.id(numbers[i]);
    }
    return all;
  }
}
