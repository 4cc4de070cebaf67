package io.espalier.core.protocol;

import io.espalier.core.protocol.WorkResponse.StartAnswer;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.status.TaskKey;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The invocations that run on this worker: at most one of each task. A call that the worker lets go
 * of still runs until its end, but leaves room for another invocation.
 */
final class WorkerRuns {
  /** How long a scheduler sends nothing to the worker after it has refused a start. */
  static final long REFUSED_MILLIS = 1_000;

  /** The same when the worker takes nothing at the moment. */
  static final long BUSY_MILLIS = 5_000;

  private final WorkerOutput out;
  private final Map<RunId, Running> running = new LinkedHashMap<>();
  private final Map<TaskKey, RunId> tasks = new HashMap<>();

  /** How many of the running calls are let go of. */
  private int lettingGo;

  private static final class Running {
    final boolean isCall;
    long lastOrder;

    /** Whether the scheduler knows its end, so that it is about to go. */
    boolean isLetGo;

    Running(boolean isCall) {
      this.isCall = isCall;
    }
  }

  WorkerRuns(WorkerOutput out) {
    this.out = out;
  }

  boolean has(RunId run) {
    return running.containsKey(run);
  }

  boolean isEmpty() {
    return running.isEmpty();
  }

  int count() {
    return running.size();
  }

  /** Returns all invocations, in the order of their starts, as an immutable copy. */
  List<RunId> all() {
    return List.copyOf(running.keySet());
  }

  /**
   * Adds an invocation, unless its task runs here already or there is no room. Health checks need
   * neither.
   *
   * @param maxTasks 0: no limit
   */
  StartAnswer add(LaunchSpec launch, int maxTasks) {
    RunId run = RunId.of(launch);
    if (!HealthCheck.is(launch.job())) {
      TaskKey task = new TaskKey(launch.job(), launch.node());
      RunId other = tasks.get(task);
      Running before = other == null ? null : running.get(other);
      if (other != null && before != null && before.isCall) {
        // Its service has reported its end to the scheduler, which would not start the task
        // otherwise.
        letGo(other);
      } else if (other != null) {
        return StartAnswer.refused("still running here: " + other, REFUSED_MILLIS);
      }
      if (maxTasks > 0 && running.size() - lettingGo >= maxTasks) {
        return StartAnswer.refused(
            "the worker runs " + running.size() + " tasks already", BUSY_MILLIS);
      }
      tasks.put(task, run);
    }
    running.put(run, new Running(launch.call() != null));
    return StartAnswer.ACCEPTED;
  }

  /** Lets go of a call; of processes a scheduler hears from here only that they have ended. */
  void letGo(RunId run) {
    Running call = running.get(run);
    if (call != null && call.isCall && !call.isLetGo) {
      call.isLetGo = true;
      lettingGo++;
      tasks.remove(new TaskKey(run.job(), run.node()), run);
      out.letGo(run);
    }
  }

  /** Removes an invocation that has ended; returns whether it ran here. */
  boolean ended(RunId run) {
    Running ended = running.remove(run);
    if (ended == null) {
      return false;
    }
    lettingGo -= ended.isLetGo ? 1 : 0;
    tasks.remove(new TaskKey(run.job(), run.node()), run);
    return true;
  }

  /** Carries out an order, unless this or a newer one was carried out before. */
  void carryOut(TaskCommand order) {
    Running task = running.get(order.run());
    if (task == null || order.number() <= task.lastOrder) {
      return;
    }
    task.lastOrder = order.number();
    if (order.recall()) {
      out.recall(order.run());
    }
    if (order.extendMillis() != 0) {
      out.extend(order.run(), order.extendMillis());
    }
    if (order.throttle() != null) {
      out.throttle(order.run(), order.throttle());
    }
    if (order.kill() != null) {
      out.kill(order.run(), order.kill());
    }
  }

  /** Accepts orders from 1 on, as another scheduler numbers them. */
  void resetOrders() {
    running.values().forEach(task -> task.lastOrder = 0);
  }
}
