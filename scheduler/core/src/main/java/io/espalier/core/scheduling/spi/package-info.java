/**
 * Interfaces for worker selector plug-ins, and what these receive: the load of each worker and a
 * seeded random generator, so that a replay makes the same choices.
 */
@NullMarked
package io.espalier.core.scheduling.spi;

import org.jspecify.annotations.NullMarked;
