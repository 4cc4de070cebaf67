package io.espalier.core.scheduling.reservation;

import io.espalier.core.scheduling.capacity.NodeCapacity;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.topology.Topology;
import java.util.List;
import java.util.function.ToLongFunction;
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
  private final ReservationEngine engine;
  private final ToLongFunction<Wait> since;

  /**
   * @param since tells since when a job has been waiting at a node
   */
  ReservationViews(
      ReservationContext context,
      ReservedNodes held,
      ReservationEngine engine,
      ToLongFunction<Wait> since) {
    this.context = context;
    this.held = held;
    this.engine = engine;
    this.since = since;
    topology = context.topology();
    jobs = context.jobs();
  }

  /**
   * Returns whether a job lacks slots of a node after subtracting those reserved for another job.
   */
  public boolean keepsFrom(int job, int node, int level, int resource) {
    Wait holder = held.holder(node, level);
    return holder != null
        && holder.job != job
        && !NodeCapacity.fits(
            jobs.needs[job][resource],
            context.ledger().free(node, level, resource) - jobs.needs[holder.job][resource]);
  }

  /** Returns the reservation of a node, or null. */
  public @Nullable Reservation of(int node, int level) {
    Wait holder = held.holder(node, level);
    return holder == null ? null : reservation(holder);
  }

  private Reservation reservation(Wait wait) {
    int task = waitingTask(wait.site, wait.job);
    return new Reservation(
        topology.levels().name(context.index().level(wait.site)),
        topology.name(wait.site),
        jobs.name(wait.job),
        task < 0 ? null : topology.name(task),
        wait.heldSince,
        since.applyAsLong(wait),
        held.idleSlots(wait));
  }

  /** Returns the reservations of all nodes, unordered. */
  public List<Reservation> all() {
    return engine.held().stream().map(this::reservation).toList();
  }

  /** Returns the number of reserved nodes. */
  public int count() {
    return held.size();
  }

  /** Returns the free slots of all nodes that other jobs cannot use. */
  public long idleSlots() {
    return engine.held().stream().mapToLong(held::idleSlots).sum();
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
