package io.espalier.core.scheduling.reservation;

import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.scheduling.util.LongMap;
import io.espalier.core.topology.Topology;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Which nodes are held, and what that keeps from others: everybody but the holder gets what is free
 * beside the holder's need. A job holds few nodes of a level at a time; where it has all it may,
 * the others stand in line. When a node is held and when that ends is decided by {@link
 * NodeReservations}.
 */
public final class ReservedNodes {
  /** One job holds at most one of so many nodes of a level, but at least one. */
  private static final int SHARE = 20;

  private final ReservationContext context;
  private final Topology topology;
  private final JobTable jobs;
  private final StarvableJobs heavy;
  private final LongMap<NodeWaiters> nodes;
  private final int levels;
  private final List<NodeWaiters> held = new ArrayList<>();

  /** By job and level: how many nodes it holds, and who waits to hold one more. */
  private final int[] holds;

  private final Map<Integer, Queue<Integer>> lines = new HashMap<>();

  /**
   * @param nodes all that anybody waits at
   */
  ReservedNodes(ReservationContext context, StarvableJobs heavy, LongMap<NodeWaiters> nodes) {
    this.context = context;
    this.heavy = heavy;
    this.nodes = nodes;
    topology = context.topology();
    jobs = context.jobs();
    levels = topology.levels().count();
    holds = new int[Math.multiplyExact(jobs.count(), levels)];
  }

  // ---- what is asked all the time

  /** Bits of the jobs that a node lets pass as far as it is held. */
  long mask(int node, int level, int word) {
    NodeWaiters at = at(node, level);
    if (at == null) {
      return -1L;
    }
    long own = at.holder >>> 6 == word ? 1L << at.holder : 0;
    return own | context.ledger().fitBeside(node, level, word, jobs.needs[at.holder]);
  }

  /** A node that is held; null: it is not. */
  @Nullable NodeWaiters at(int node, int level) {
    if (held.isEmpty() || heavy.onLevel(level) == null) {
      return null;
    }
    NodeWaiters at = nodes.get(node);
    return at == null || at.holder < 0 ? null : at;
  }

  // ---- changes

  /** A node is held for a job from now on. */
  void add(NodeWaiters at, int job) {
    at.holder = job;
    at.heldAt = held.size();
    held.add(at);
    holds[job * levels + at.level]++;
  }

  /** A node is held no more. */
  void remove(NodeWaiters at) {
    holds[at.holder * levels + at.level]--;
    at.holder = -1;
    NodeWaiters last = held.remove(held.size() - 1);
    if (last != at) {
      held.set(at.heldAt, last);
      last.heldAt = at.heldAt;
    }
  }

  /** Those that are held, in no order; the caller may end holds from the last to the first. */
  List<NodeWaiters> all() {
    return held;
  }

  /** Whether a job holds as many nodes of a level as it may. */
  boolean isFull(int job, int level) {
    return holds[job * levels + level] >= Math.max(1, count(level) / SHARE);
  }

  private int count(int level) {
    return topology.levelEnd(level) - topology.levelStart(level);
  }

  /** Whether a job holds any node. */
  public boolean holdsAny(int job) {
    for (int level = 0; level < levels; level++) {
      if (holds[job * levels + level] > 0) {
        return true;
      }
    }
    return false;
  }

  // ---- who waits to hold one more

  /** The i-th who waits at a node joins its job's line. */
  void queue(NodeWaiters at, int i) {
    int job = at.jobs[i];
    Queue<Integer> line = lines.computeIfAbsent(job * levels + at.level, k -> new ArrayDeque<>());
    if (line.size() > 2L * count(at.level)) {
      line.removeIf(node -> !isQueued(node, job));
    }
    at.queued[i] = true;
    line.add(at.node);
  }

  private boolean isQueued(int node, int job) {
    NodeWaiters at = nodes.get(node);
    int i = at == null ? -1 : at.find(job);
    return at != null && i >= 0 && at.queued[i];
  }

  /**
   * Takes the first out of a job's line if the job may hold another node.
   *
   * @return null: there is none, or the job may not
   */
  @Nullable NodeWaiters next(int job, int level) {
    Queue<Integer> line = lines.isEmpty() ? null : lines.get(job * levels + level);
    while (line != null && !line.isEmpty() && !isFull(job, level)) {
      NodeWaiters at = nodes.get(line.remove());
      int i = at == null ? -1 : at.find(job);
      if (at != null && i >= 0 && at.queued[i]) {
        at.queued[i] = false;
        return at;
      }
    }
    return null;
  }

  // ---- figures

  public int size() {
    return held.size();
  }

  /** Free slots of all nodes that others do not get. */
  public long idleSlots() {
    return held.stream().mapToLong(this::idleSlots).sum();
  }

  /** Free slots of a held node that others do not get. */
  public long idleSlots(NodeWaiters at) {
    long idle = 0;
    for (int r : context.ledger().resources(at.level)) {
      int free = context.ledger().free(at.node, at.level, r);
      idle += Math.max(0, Math.min(free, jobs.needs[at.holder][r]));
    }
    return idle;
  }

  /**
   * Compares with what every node says.
   *
   * @throws IllegalStateException names the first difference
   */
  void check() {
    int[] counts = new int[holds.length];
    int[] found = new int[1];
    for (int part = 0; part < nodes.parts(); part++) {
      nodes.visit(
          part,
          (node, at) -> {
            if (at.holder >= 0) {
              found[0]++;
              counts[at.holder * levels + at.level]++;
              if (held.get(at.heldAt) != at || !jobs.isActive(at.holder)) {
                throw new IllegalStateException("node " + node + " is held in vain");
              }
            }
          });
    }
    if (found[0] != held.size() || !Arrays.equals(counts, holds)) {
      throw new IllegalStateException("the counts of held nodes are wrong");
    }
  }
}
