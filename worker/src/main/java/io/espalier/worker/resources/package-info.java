/**
 * Measures what a host offers and what its tasks use: cores and memory as limited by control
 * groups, NUMA nodes, GPU cards; samples of live tasks (docs/design/bistro.md#measuring).
 *
 * <p>Everything is read below a root directory, so that tests supply their own {@code /proc} and
 * {@code /sys}. An unreadable value is reported as unknown and logged, never an exception.
 */
@NullMarked
package io.espalier.worker.resources;

import org.jspecify.annotations.NullMarked;
