/**
 * The scheduler loop: one owner thread calls it, step by step.
 *
 * <p>Each step takes the inputs, lets the core decide, and writes the changes; a task starts only
 * after its row is durable. The packages; each uses only those listed before it:
 *
 * <ul>
 *   <li>{@code state}: the running tasks, the ports to the outside, and the seam of what is done
 *       before each round;
 *   <li>{@code query}: queries that are answered in slices;
 *   <li>{@code command}: what operators do to jobs, tasks, limits and workers;
 *   <li>{@code watch}: checks and actions that time triggers.
 * </ul>
 */
@NullMarked
package io.espalier.core.loop;

import org.jspecify.annotations.NullMarked;
