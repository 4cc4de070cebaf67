package io.espalier.core.protocol;

import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.WorkerRef;
import java.util.List;

/**
 * Scheduler to worker: everything there is to say, in one round trip. At most one is under way per
 * worker. It is handled in this order: settled, starts, orders, asks.
 *
 * @param number grows with every batch of an epoch. A worker acts on a batch only if its number is
 *     above all it has seen in its session, so no copy of an older one can start anything later
 * @param starts each is sent once in its life, never again
 * @param orders for tasks that run there
 * @param asks what became of these? "Not running" binds the worker: see {@code number}
 * @param settled ends that are durable: the worker may forget them
 */
public record WorkBatch(
    long epoch,
    long session,
    WorkerRef worker,
    long number,
    List<LaunchSpec> starts,
    List<TaskCommand> orders,
    List<RunId> asks,
    List<RunId> settled) {
  public WorkBatch {
    starts = List.copyOf(starts);
    orders = List.copyOf(orders);
    asks = List.copyOf(asks);
    settled = List.copyOf(settled);
  }

  /** How many items it carries. */
  public int size() {
    return starts.size() + orders.size() + asks.size() + settled.size();
  }
}
