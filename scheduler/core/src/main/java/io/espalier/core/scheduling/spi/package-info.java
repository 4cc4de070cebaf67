/**
 * What plug-ins that choose workers implement, and what they are given: the load of each worker and
 * a seeded source of randomness, so that a replay chooses alike.
 */
@NullMarked
package io.espalier.core.scheduling.spi;

import org.jspecify.annotations.NullMarked;
