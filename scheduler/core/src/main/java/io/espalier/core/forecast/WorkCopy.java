package io.espalier.core.forecast;

import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.capacity.LimitTable;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.topology.Topology;
import java.util.BitSet;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Copies what is left to do in a core, and what changes its limits, in slices: three bits for a
 * task. Tasks that start or end meanwhile may be copied as they were. It is worthless once jobs or
 * nodes have been numbered again. Make it on the thread of the core; the complete copy may be read
 * on any thread.
 */
public final class WorkCopy {
  private final SchedulingCore core;
  private final LiveWork live;

  final Config config;
  final Topology topology;

  /** By name. */
  final SortedMap<String, OfJob> jobs = new TreeMap<>();

  final LimitTable limits = new LimitTable();
  List<Gate> closed = List.of();
  int workers;

  /** The next job, and its node, counted from the first one of its level. */
  private int next;

  private int at;

  /**
   * A job. Bits are counted from the first node of its level.
   *
   * @param isClosed whether a gate is closed for all of it
   * @param isEnded whether one of these gates ends it
   * @param left tasks that run or are still to run
   * @param over tasks with a final status
   */
  record OfJob(
      Job job,
      boolean isHeld,
      boolean isClosed,
      boolean isEnded,
      BitSet left,
      BitSet over,
      BitSet running) {}

  public WorkCopy(SchedulingCore core) {
    this.core = core;
    live = new LiveWork(core);
    config = core.config();
    topology = core.topology();
  }

  /**
   * Copies a slice; not to be called again when the copy is complete.
   *
   * @param units about how many tasks to visit
   * @return true when the copy is complete
   */
  public boolean step(int units) {
    int left = units;
    while (left > 0 && next < core.jobCount()) {
      left -= job(next, left);
    }
    boolean isDone = next == core.jobCount();
    if (isDone) {
      core.capacity().overrides().forEach(limits::put);
      core.capacity().factors().forEach(limits::put);
      core.capacity().health().forEach(limits::put);
      core.capacity().caps().forEach(limits::put);
      closed = live.closed();
      workers = live.workers();
    }
    return isDone;
  }

  /** Returns how many tasks were visited, at least 1. */
  private int job(int number, int units) {
    Job job = core.job(number);
    if (job == null) {
      next++;
      return 1;
    }
    OfJob copy = jobs.computeIfAbsent(job.name(), name -> ofJob(number, job));
    int first = live.firstNode(number);
    int count = live.endNode(number) - first;
    int from = at;
    for (int end = Math.min(count, at + units); at < end; at++) {
      copy.left.set(at, live.isLeft(number, first + at));
      copy.over.set(at, live.isOver(number, first + at));
      copy.running.set(at, live.isRunning(number, first + at));
    }
    int visited = at - from;
    if (at == count) {
      next++;
      at = 0;
    }
    return 1 + visited;
  }

  private OfJob ofJob(int number, Job job) {
    return new OfJob(
        job,
        live.isHeld(number),
        isClosed(job.name()),
        core.gates().isEnded(job.name()),
        new BitSet(),
        new BitSet(),
        new BitSet());
  }

  private boolean isClosed(String job) {
    for (GateKind kind : GateKind.values()) {
      if (kind.closes() == Scope.Kind.JOB
          && !kind.isLackOfRoom()
          && core.gates().get(kind, job) != null) {
        return true;
      }
    }
    return false;
  }
}
