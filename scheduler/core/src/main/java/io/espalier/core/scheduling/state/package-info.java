/**
 * The scheduling state: all data numbered by the jobs and nodes of one configuration, assembled in
 * {@link io.espalier.core.scheduling.state.SchedulingState}. {@link
 * io.espalier.core.scheduling.state.TaskAllocator} charges a task's resources and releases them,
 * {@link io.espalier.core.scheduling.state.LimitUpdater} changes limits in slices, and {@link
 * io.espalier.core.scheduling.state.Wakeups} handles what is due.
 */
@NullMarked
package io.espalier.core.scheduling.state;

import org.jspecify.annotations.NullMarked;
