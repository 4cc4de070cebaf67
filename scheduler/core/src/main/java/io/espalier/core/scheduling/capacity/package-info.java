/**
 * Slots and limits of nodes.
 *
 * <p>{@link io.espalier.core.scheduling.capacity.NodeCapacity} has the free slots of every node and
 * answers for 64 jobs at once which of them fit. Limits come from the configuration, from rules for
 * single nodes, and from operators, who have the last word. Where more is in use than a limit
 * allows, {@link io.espalier.core.scheduling.capacity.OverLimitTracker} knows since when.
 */
@NullMarked
package io.espalier.core.scheduling.capacity;

import org.jspecify.annotations.NullMarked;
