/**
 * The index that finds the next task in the depth of the tree instead of its size.
 *
 * <p>{@link io.espalier.core.scheduling.index.StartableIndex} has one bit for each job and each
 * edge of the tree: whether the job can start something below that edge. A change of one node is
 * carried upwards only while bits change.
 */
@NullMarked
package io.espalier.core.scheduling.index;

import org.jspecify.annotations.NullMarked;
