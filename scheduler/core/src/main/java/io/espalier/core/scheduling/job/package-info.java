/**
 * The jobs of one configuration, numbered from 0, with frequently used properties in arrays; and
 * the codes of task statuses.
 *
 * <p>A new configuration assigns new numbers; {@link io.espalier.core.scheduling.job.Renumbering}
 * maps the old numbers to the new ones.
 */
@NullMarked
package io.espalier.core.scheduling.job;

import org.jspecify.annotations.NullMarked;
