/**
 * What a host offers and what its tasks use: cores and memory as seen through control groups, NUMA
 * nodes, GPU cards; samples of live tasks (docs/design/bistro.md#measuring).
 *
 * <p>Everything is read below a root directory, so that tests bring their own {@code /proc} and
 * {@code /sys}. What cannot be read is unknown and said, never an exception.
 */
@NullMarked
package io.espalier.worker.resources;

import org.jspecify.annotations.NullMarked;
