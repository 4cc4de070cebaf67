/**
 * Reservations of capacity for jobs that lighter jobs would otherwise starve
 * (docs/adr/0035-reservations.md).
 *
 * <p>Nodes, queues and workers can be reserved. Capacity is reserved in a fixed order (queue, then
 * nodes from the bottom up, then worker), which rules out deadlock. {@link
 * io.espalier.core.scheduling.reservation.ReservationContext} is the only part of the state that
 * reservations use.
 */
@NullMarked
package io.espalier.core.scheduling.reservation;

import org.jspecify.annotations.NullMarked;
