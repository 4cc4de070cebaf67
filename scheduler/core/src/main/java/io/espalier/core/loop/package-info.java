/**
 * The scheduler loop: one method, no thread.
 *
 * <p>Each step takes what came in, lets the core decide, and writes what changed; a task starts
 * only after its row is durable. The packages, each of which uses only those named before it:
 *
 * <ul>
 *   <li>{@code state}: the running tasks and the ports to the world;
 *   <li>{@code query}: questions that are answered in slices;
 *   <li>{@code command}: what operators do to jobs, tasks, limits and workers;
 *   <li>{@code watch}: what happens by itself when its time has come.
 * </ul>
 */
@NullMarked
package io.espalier.core.loop;

import org.jspecify.annotations.NullMarked;
