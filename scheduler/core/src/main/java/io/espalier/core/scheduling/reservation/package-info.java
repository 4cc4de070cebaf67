/**
 * Reservations of capacity for jobs that lighter jobs would otherwise starve
 * (docs/adr/0035-reservations.md).
 *
 * <p>Nodes, queues and workers can be reserved. One {@link
 * io.espalier.core.scheduling.reservation.ReservationEngine} handles the time of each: its waits,
 * timers, rechecks and the carry-over to a new state. What is reserved, and what a job lacks of it,
 * is a {@link io.espalier.core.scheduling.reservation.Reservable}:
 *
 * <pre>
 *                wait begins            reserve_after is over     used
 *   (no wait) ---------------> waits ------------------------> holds -----> (no wait)
 *                                ^                               |
 *                                +-------------------------------+
 *                             of no more use, or not used for reserve_after;
 *                             rechecked each second
 * </pre>
 *
 * <p>Capacity is reserved in a fixed order: queue, then nodes from the bottom up, then worker. A
 * job gets a reservation only when it lacks nothing that comes earlier in this order, so the holder
 * of a reservation waits only for capacity of the same or a later row, and jobs cannot wait for
 * each other in a circle:
 *
 * <table>
 *   <caption>What a job may wait for while it holds a reservation</caption>
 *   <tr><th>Class</th><th>Reserves</th><th>The job fits already</th><th>It may wait for</th></tr>
 *   <tr>
 *     <td>{@code QueueReservations}</td><td>slots of its queue</td><td>nothing</td>
 *     <td>queue, nodes, worker</td>
 *   </tr>
 *   <tr>
 *     <td>{@link io.espalier.core.scheduling.reservation.NodeReservations}</td>
 *     <td>slots of a node</td><td>queue, nodes below</td><td>this node, nodes above, worker</td>
 *   </tr>
 *   <tr>
 *     <td>{@code WorkerReservations}</td><td>one worker</td><td>queue, nodes</td><td>worker</td>
 *   </tr>
 * </table>
 *
 * <p>{@link io.espalier.core.scheduling.reservation.ReservationContext} is the only part of the
 * state that reservations use. Without a heavy job the tree has no {@code NodeReservations}, and
 * queues and workers cost one comparison per round and 64 jobs.
 */
@NullMarked
package io.espalier.core.scheduling.reservation;

import org.jspecify.annotations.NullMarked;
