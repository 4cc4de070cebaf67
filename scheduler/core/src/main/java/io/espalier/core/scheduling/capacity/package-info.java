/**
 * The slots and limits of nodes.
 *
 * <p>{@link io.espalier.core.scheduling.capacity.NodeCapacity} has the free slots of every node and
 * finds, for 64 jobs at once, those that fit. Limits come from the configuration, from rules for
 * single nodes, and from overrides by operators, which take precedence; factors lower them
 * (docs/adr/0054-effective-limits.md). {@link
 * io.espalier.core.scheduling.capacity.OverLimitTracker} records since when usage has exceeded a
 * limit.
 */
@NullMarked
package io.espalier.core.scheduling.capacity;

import org.jspecify.annotations.NullMarked;
