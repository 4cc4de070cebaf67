/**
 * The jobs of one configuration as numbers from 0 on, with the properties that are read most often
 * in arrays; and the codes that stand for task statuses.
 *
 * <p>A new configuration gives new numbers; {@link io.espalier.core.scheduling.job.Renumbering}
 * leads from the old ones to the new ones.
 */
@NullMarked
package io.espalier.core.scheduling.job;

import org.jspecify.annotations.NullMarked;
