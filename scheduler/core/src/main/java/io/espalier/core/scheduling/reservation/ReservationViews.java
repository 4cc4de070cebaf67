package io.espalier.core.scheduling.reservation;

import io.espalier.core.scheduling.capacity.NodeCapacity;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.topology.Topology;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Describes the reservations of {@link ReservedNodes} for people: the node, the holder, and the
 * slots withheld from others.
 */
public final class ReservationViews {
  /** The maximum number of children to scan for a waiting task to show. */
  private static final int MOST_SCANNED = 10_000;

  private final ReservationContext context;
  private final Topology topology;
  private final JobTable jobs;
  private final ReservedNodes held;
  private final Since since;

  /** Tells since when a job has been waiting at a node. */
  interface Since {
    long millis(NodeWaiters at, int i);
  }

  ReservationViews(ReservationContext context, ReservedNodes held, Since since) {
    this.context = context;
    this.held = held;
    this.since = since;
    topology = context.topology();
    jobs = context.jobs();
  }

  /**
   * Returns whether a job lacks slots of a node after subtracting those reserved for another job.
   */
  public boolean keepsFrom(int job, int node, int level, int resource) {
    NodeWaiters at = held.at(node, level);
    return at != null
        && at.holder != job
        && !NodeCapacity.fits(
            jobs.needs[job][resource],
            context.ledger().free(node, level, resource) - jobs.needs[at.holder][resource]);
  }

  /** Returns the reservation of a node, or null. */
  public @Nullable Reservation of(int node, int level) {
    NodeWaiters at = held.at(node, level);
    return at == null ? null : reservation(at);
  }

  private Reservation reservation(NodeWaiters at) {
    int task = waitingTask(at.node, at.holder);
    return new Reservation(
        topology.levels().name(at.level),
        topology.name(at.node),
        jobs.name(at.holder),
        task < 0 ? null : topology.name(task),
        at.heldSince,
        since.millis(at, at.find(at.holder)),
        held.idleSlots(at));
  }

  /** Returns the reservations of all nodes, unordered. */
  public List<Reservation> all() {
    return held.all().stream().map(this::reservation).toList();
  }

  /** Returns the first task, in node order, that the node is reserved for; -1: none is found. */
  private int waitingTask(int node, int job) {
    int at = node;
    while (!context.index().isReady(at, job)) {
      int end = Math.min(topology.childEnd(at), topology.childStart(at) + MOST_SCANNED);
      int next = -1;
      for (int slot = topology.childStart(at); next < 0 && slot < end; slot++) {
        next = context.index().isOpen(slot, job) ? topology.node(slot) : -1;
      }
      if (next < 0) {
        return -1;
      }
      at = next;
    }
    return at;
  }
}
