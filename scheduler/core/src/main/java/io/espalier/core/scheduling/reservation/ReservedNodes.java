package io.espalier.core.scheduling.reservation;

import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.topology.Topology;
import java.util.ArrayDeque;
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
final class ReservedNodes {
  /** A job can reserve at most one in this many nodes of a level, but at least one. */
  private static final int SHARE = 20;

  private final ReservationContext context;
  private final Topology topology;
  private final JobTable jobs;
  private final StarvableJobs heavy;
  private final WaitingNodes nodes;
  private final int levels;

  /**
   * By job and level: the number of nodes reserved for it, and the queue of its further waiting
   * nodes.
   */
  private final int[] holds;

  private final Map<Integer, Queue<Integer>> lines = new HashMap<>();

  private int size;

  ReservedNodes(ReservationContext context, StarvableJobs heavy, WaitingNodes nodes) {
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
    Wait holder = holder(node, level);
    if (holder == null) {
      return -1L;
    }
    long own = holder.job >>> 6 == word ? 1L << holder.job : 0;
    return own | context.ledger().fitBeside(node, level, word, jobs.needs[holder.job]);
  }

  /** Returns the wait that a node is reserved for; null: the node is not reserved. */
  @Nullable Wait holder(int node, int level) {
    if (size == 0 || heavy.onLevel(level) == null) {
      return null;
    }
    NodeWaiters at = nodes.get(node);
    return at == null ? null : at.holder;
  }

  // ---- updates

  /** Reserves a node for a waiting job. */
  void add(NodeWaiters at, Wait wait) {
    at.holder = wait;
    size++;
    holds[wait.job * levels + at.level]++;
  }

  /** Ends the reservation of the node that is reserved for a job. */
  void remove(NodeWaiters at, Wait wait) {
    at.holder = null;
    size--;
    holds[wait.job * levels + at.level]--;
  }

  /** Returns whether a job has reserved its maximum number of nodes on a level. */
  boolean isFull(int job, int level) {
    return holds[job * levels + level] >= Math.max(1, count(level) / SHARE);
  }

  private int count(int level) {
    return topology.levelEnd(level) - topology.levelStart(level);
  }

  /** Returns whether any node is reserved for a job. */
  boolean holdsAny(int job) {
    for (int level = 0; level < levels; level++) {
      if (holds[job * levels + level] > 0) {
        return true;
      }
    }
    return false;
  }

  // ---- queues for another reservation

  /** Appends the node to the queue of a waiting job. */
  void queue(NodeWaiters at, Wait wait) {
    Queue<Integer> line =
        lines.computeIfAbsent(wait.job * levels + at.level, k -> new ArrayDeque<>());
    if (line.size() > 2L * count(at.level)) {
      line.removeIf(node -> queued(node, wait.job) == null);
    }
    wait.ready = true;
    line.add(at.node);
  }

  private @Nullable Wait queued(int node, int job) {
    Wait wait = nodes.find(job, node);
    return wait != null && wait.ready ? wait : null;
  }

  /**
   * Removes the first node from a job's queue if the job can reserve another node.
   *
   * @return the wait there; null when the queue is empty or the job cannot
   */
  @Nullable Wait next(int job, int level) {
    Queue<Integer> line = lines.isEmpty() ? null : lines.get(job * levels + level);
    while (line != null && !line.isEmpty() && !isFull(job, level)) {
      Wait wait = queued(line.remove(), job);
      if (wait != null) {
        wait.ready = false;
        return wait;
      }
    }
    return null;
  }

  // ---- figures

  int size() {
    return size;
  }

  /** Returns the free slots of a reserved node that other jobs cannot use. */
  long idleSlots(Wait holder) {
    int level = context.index().level(holder.site);
    long idle = 0;
    for (int r : context.ledger().resources(level)) {
      int free = context.ledger().free(holder.site, level, r);
      idle += Math.max(0, Math.min(free, jobs.needs[holder.job][r]));
    }
    return idle;
  }

  /**
   * Compares the data with the reservations.
   *
   * @throws IllegalStateException when they differ
   */
  void check(List<Wait> held) {
    int[] counts = new int[holds.length];
    for (Wait wait : held) {
      int level = context.index().level(wait.site);
      counts[wait.job * levels + level]++;
      if (holder(wait.site, level) != wait) {
        throw new IllegalStateException("node " + wait.site + " is held in vain");
      }
    }
    if (size != held.size() || !Arrays.equals(counts, holds)) {
      throw new IllegalStateException("the counts of held nodes are wrong");
    }
  }
}
