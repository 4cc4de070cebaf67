/**
 * Capacity that is kept for jobs which lighter jobs would starve (docs/adr/0035-reservations.md).
 *
 * <p>Nodes, queues and workers can be kept. Capacity is reserved in a fixed order (queue, then
 * nodes from below upwards, then worker), which rules out deadlock. {@link
 * io.espalier.core.scheduling.reservation.ReservationContext} is all that reservations ask of the
 * rest of the state.
 */
@NullMarked
package io.espalier.core.scheduling.reservation;

import org.jspecify.annotations.NullMarked;
