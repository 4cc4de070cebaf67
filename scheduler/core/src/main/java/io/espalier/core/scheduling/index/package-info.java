/**
 * The index that finds the next task in time proportional to the depth of the tree rather than its
 * size.
 *
 * <p>{@link io.espalier.core.scheduling.index.StartableIndex} has one bit for each job and each
 * edge of the tree: whether the job can start a task below that edge. A change of one node is
 * propagated upwards only while bits change.
 */
@NullMarked
package io.espalier.core.scheduling.index;

import org.jspecify.annotations.NullMarked;
