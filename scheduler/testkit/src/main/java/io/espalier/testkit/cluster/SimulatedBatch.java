package io.espalier.testkit.cluster;

import io.espalier.core.protocol.RunId;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A process that runs tasks one after the other, and those that it has not begun. It goes on by
 * itself, whatever happens to its worker; {@link SimulatedTask} is what it does for one task.
 */
final class SimulatedBatch {
  private final SimulatedCluster cluster;
  private final SimulatedHost host;
  private final SimulatedWorker.Jvm parent;
  private final Deque<LaunchSpec> waiting;

  SimulatedBatch(
      SimulatedCluster cluster,
      SimulatedHost host,
      SimulatedWorker.Jvm parent,
      List<LaunchSpec> members) {
    this.cluster = cluster;
    this.host = host;
    this.parent = parent;
    waiting = new ArrayDeque<>(members);
  }

  /** The process begins its next task; null: it has none, or ends before. */
  @Nullable SimulatedTask begin() {
    LaunchSpec next = waiting.poll();
    if (next == null) {
      return null;
    }
    SimulatedTask task = new SimulatedTask(cluster, host, parent, next, this);
    parent.began(task);
    return task;
  }

  /** A task of the process has ended by itself; returns what the process does next, or null. */
  @Nullable SimulatedTask goOn() {
    if (waiting.isEmpty()) {
      return null;
    }
    if (cluster.random.nextInt(8) == 0) {
      cluster.coverage.happened(SimulationEvent.BATCH_DIED_BY_ITSELF);
      died();
      return null;
    }
    cluster.coverage.happened(SimulationEvent.BATCH_WENT_ON);
    return begin();
  }

  /** Its supervisor asks the process to end. */
  void asked() {
    if (cluster.has(ProtocolBug.UNBEGUN_RETURNED_EARLY)) {
      parent.later(1, () -> waiting.forEach(this::returned));
    }
  }

  /** The process is dead: what it has not begun never will be. */
  void died() {
    List<LaunchSpec> never = List.copyOf(waiting);
    waiting.clear();
    if (!never.isEmpty()) {
      cluster.coverage.happened(SimulationEvent.BATCH_RETURNED);
      parent.later(1 + cluster.random.nextInt(5), () -> never.forEach(this::returned));
    }
  }

  private void returned(LaunchSpec launch) {
    parent.ended(
        TaskResult.notStarted(
            launch.job(),
            launch.node(),
            launch.invocation(),
            "the process of its batch has ended",
            0));
  }

  /** Takes a task back before there is a process. */
  void recall(RunId run) {
    waiting.removeIf(launch -> RunId.of(launch).equals(run));
  }

  /**
   * Takes a task that has not begun from the process, which is told on its control pipe. The last
   * one stays: a process begins at least one.
   */
  boolean withdraw(RunId run) {
    return waiting.size() > 1 && waiting.removeIf(launch -> RunId.of(launch).equals(run));
  }
}
