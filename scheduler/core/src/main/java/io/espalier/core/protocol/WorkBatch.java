package io.espalier.core.protocol;

import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.WorkerRef;
import java.util.List;

/**
 * All pending work for a worker, sent by the scheduler in one round trip. At most one batch per
 * worker is unanswered at a time. The worker handles it in this order: settled, starts, orders,
 * asks.
 *
 * @param number sequence number, growing with every batch of an epoch. A worker acts on a batch
 *     only if its number is above all that it has seen in its session, so no copy of an older batch
 *     can start anything later
 * @param starts tasks to start; each is sent only once, never again
 * @param orders commands for running tasks
 * @param asks runs whose state the scheduler asks for. The answer "not running" binds the worker:
 *     see {@code number}
 * @param settled durable ends: the worker can forget them, and lets go of a call among them that it
 *     still asks about: its service has reported the end to the scheduler
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
}
