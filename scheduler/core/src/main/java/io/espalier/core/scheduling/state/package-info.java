/**
 * Everything that is numbered by the jobs and nodes of one configuration, put together: {@link
 * io.espalier.core.scheduling.state.SchedulingState}. {@link
 * io.espalier.core.scheduling.state.TaskAllocator} takes what a start needs and gives it back,
 * {@link io.espalier.core.scheduling.state.LimitUpdater} changes limits in slices, and {@link
 * io.espalier.core.scheduling.state.Wakeups} does what is due.
 */
@NullMarked
package io.espalier.core.scheduling.state;

import org.jspecify.annotations.NullMarked;
