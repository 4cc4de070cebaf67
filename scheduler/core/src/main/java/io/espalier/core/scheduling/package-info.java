/**
 * The incremental scheduling core, which finds the tasks that may start now.
 *
 * <p>{@link io.espalier.core.scheduling.SchedulingCore} is the facade and knows the whole state. A
 * class in a package below knows only what its constructor receives. Each package uses only the
 * packages listed before it:
 *
 * <ul>
 *   <li>{@code util}: collections, timers and token buckets without any knowledge of scheduling;
 *   <li>{@code spi}: the interfaces that plug-ins implement or receive;
 *   <li>{@code job}: the jobs of one configuration, by number;
 *   <li>{@code gate}: what closes jobs and nodes;
 *   <li>{@code capacity}: slots, limits, and usage that exceeds a limit;
 *   <li>{@code index}: the nodes below which a job can start a task;
 *   <li>{@code task}: the status of each task, and where the running tasks are;
 *   <li>{@code worker}: selection of the worker for the next task of a job;
 *   <li>{@code queue}: the usage of queues, and what their caps still allow;
 *   <li>{@code reservation}: capacity reserved for jobs that lighter jobs would starve;
 *   <li>{@code state}: all of these together, for one configuration and its nodes;
 *   <li>{@code query}: answers for people, for example why a task does not start;
 *   <li>{@code update}: replacing a state, in slices, when the configuration or the nodes change.
 * </ul>
 */
@NullMarked
package io.espalier.core.scheduling;

import org.jspecify.annotations.NullMarked;
