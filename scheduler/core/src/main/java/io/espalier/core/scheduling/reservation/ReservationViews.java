package io.espalier.core.scheduling.reservation;

import io.espalier.core.scheduling.capacity.NodeCapacity;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.topology.Topology;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Says to people what {@link ReservedNodes} holds, for whom, and what that keeps from others. */
public final class ReservationViews {
  /** Children of a node that are looked at for one to show. */
  private static final int MOST_SCANNED = 10_000;

  private final ReservationContext context;
  private final Topology topology;
  private final JobTable jobs;
  private final ReservedNodes held;
  private final Since since;

  /** Since when a job has been waiting at a node. */
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

  /** Whether a job lacks slots of a node when those that are kept for another one are left out. */
  public boolean keepsFrom(int job, int node, int level, int resource) {
    NodeWaiters at = held.at(node, level);
    return at != null
        && at.holder != job
        && !NodeCapacity.fits(
            jobs.needs[job][resource],
            context.ledger().free(node, level, resource) - jobs.needs[at.holder][resource]);
  }

  /** Of a node; null: it is kept free for nobody. */
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

  /** Of all nodes, in no order. */
  public List<Reservation> all() {
    return held.all().stream().map(this::reservation).toList();
  }

  /** The first task in node order of those for which the node is held; -1: none is found. */
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
