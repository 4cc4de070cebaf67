/**
 * How a new configuration or new nodes replace the state.
 *
 * <p>{@link io.espalier.core.scheduling.update.UpdatePlan} is computed beside the scheduler thread.
 * What it cannot change in place, {@link io.espalier.core.scheduling.update.StateMigration} moves
 * into a new state in slices, while the old one goes on scheduling.
 */
@NullMarked
package io.espalier.core.scheduling.update;

import org.jspecify.annotations.NullMarked;
