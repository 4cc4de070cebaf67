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
 * The reserved nodes, and the slots that this withholds from other jobs: every job except the
 * holder can use only the free slots beyond the holder's need. The number of nodes that a job can
 * reserve per level is limited; further waiting nodes are queued. {@link NodeReservations} decides
 * when a reservation begins and ends.
 */
public final class ReservedNodes {
  /** A job can reserve at most one in this many nodes of a level, but at least one. */
  private static final int SHARE = 20;

  private final ReservationContext context;
  private final Topology topology;
  private final JobTable jobs;
  private final StarvableJobs heavy;
  private final LongMap<NodeWaiters> nodes;
  private final int levels;
  private final List<NodeWaiters> held = new ArrayList<>();

  /**
   * By job and level: the number of nodes reserved for it, and the queue of its further waiting
   * nodes.
   */
  private final int[] holds;

  private final Map<Integer, Queue<Integer>> lines = new HashMap<>();

  /**
   * @param nodes all nodes with waiting jobs
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

  // ---- frequent queries

  /** Returns the bits of the jobs that the reservation of a node lets pass. */
  long mask(int node, int level, int word) {
    NodeWaiters at = at(node, level);
    if (at == null) {
      return -1L;
    }
    long own = at.holder >>> 6 == word ? 1L << at.holder : 0;
    return own | context.ledger().fitBeside(node, level, word, jobs.needs[at.holder]);
  }

  /** Returns the waiters of a reserved node; null: the node is not reserved. */
  @Nullable NodeWaiters at(int node, int level) {
    if (held.isEmpty() || heavy.onLevel(level) == null) {
      return null;
    }
    NodeWaiters at = nodes.get(node);
    return at == null || at.holder < 0 ? null : at;
  }

  // ---- updates

  /** Reserves a node for a job. */
  void add(NodeWaiters at, int job) {
    at.holder = job;
    at.heldAt = held.size();
    held.add(at);
    holds[job * levels + at.level]++;
  }

  /** Ends the reservation of a node. */
  void remove(NodeWaiters at) {
    holds[at.holder * levels + at.level]--;
    at.holder = -1;
    NodeWaiters last = held.remove(held.size() - 1);
    if (last != at) {
      held.set(at.heldAt, last);
      last.heldAt = at.heldAt;
    }
  }

  /**
   * Returns the reserved nodes, unordered; the caller may end reservations in descending order of
   * index.
   */
  List<NodeWaiters> all() {
    return held;
  }

  /** Returns whether a job has reserved its maximum number of nodes on a level. */
  boolean isFull(int job, int level) {
    return holds[job * levels + level] >= Math.max(1, count(level) / SHARE);
  }

  private int count(int level) {
    return topology.levelEnd(level) - topology.levelStart(level);
  }

  /** Returns whether any node is reserved for a job. */
  public boolean holdsAny(int job) {
    for (int level = 0; level < levels; level++) {
      if (holds[job * levels + level] > 0) {
        return true;
      }
    }
    return false;
  }

  // ---- queues for another reservation

  /** Appends the node to the queue of its i-th waiting job. */
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
   * Removes and returns the first node in a job's queue if the job can reserve another node.
   *
   * @return null when the queue is empty or the job cannot
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

  /** Returns the free slots of all nodes that other jobs cannot use. */
  public long idleSlots() {
    return held.stream().mapToLong(this::idleSlots).sum();
  }

  /** Returns the free slots of a reserved node that other jobs cannot use. */
  public long idleSlots(NodeWaiters at) {
    long idle = 0;
    for (int r : context.ledger().resources(at.level)) {
      int free = context.ledger().free(at.node, at.level, r);
      idle += Math.max(0, Math.min(free, jobs.needs[at.holder][r]));
    }
    return idle;
  }

  /**
   * Compares the data with the waiters of every node.
   *
   * @throws IllegalStateException with the first difference
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
