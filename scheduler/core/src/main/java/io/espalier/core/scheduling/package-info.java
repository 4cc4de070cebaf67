/**
 * The incremental scheduling core: which task may start now.
 *
 * <p>{@link io.espalier.core.scheduling.SchedulingCore} is the facade. It knows the whole state; a
 * part in a package below knows only what its constructor is given. The packages, each of which
 * uses only those named before it:
 *
 * <ul>
 *   <li>{@code util}: collections, timers and token buckets without any knowledge of scheduling;
 *   <li>{@code spi}: what plug-ins implement or are given;
 *   <li>{@code job}: the jobs of one configuration, by number;
 *   <li>{@code capacity}: slots, limits, and what exceeds a limit;
 *   <li>{@code index}: below which nodes a job can start something;
 *   <li>{@code task}: the status of each task, and where the running tasks are;
 *   <li>{@code worker}: which worker takes the next task of a job;
 *   <li>{@code queue}: what queues use, and what their caps leave room for;
 *   <li>{@code reservation}: capacity that is kept for jobs which lighter jobs would starve;
 *   <li>{@code state}: all of these together, for one configuration and its nodes;
 *   <li>{@code query}: answers to people, among them why a task does not start;
 *   <li>{@code update}: how a new configuration or new nodes replace a state, in slices.
 * </ul>
 */
@NullMarked
package io.espalier.core.scheduling;

import org.jspecify.annotations.NullMarked;
