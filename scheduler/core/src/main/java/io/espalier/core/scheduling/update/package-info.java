/**
 * Replacing the scheduling state when the configuration or the nodes change.
 *
 * <p>{@link io.espalier.core.scheduling.update.UpdatePlan} is computed outside the scheduler
 * thread. What cannot be updated in place, {@link
 * io.espalier.core.scheduling.update.StateMigration} moves into a new state in slices, while the
 * old state remains in use.
 */
@NullMarked
package io.espalier.core.scheduling.update;

import org.jspecify.annotations.NullMarked;
