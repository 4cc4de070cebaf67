/**
 * Answers to people: why a task does not start, how many tasks are in which state below a node, who
 * uses the slots of a node. What would take long is done in slices. The answers come from the same
 * parts that decide, so that they cannot differ from what happens.
 */
@NullMarked
package io.espalier.core.scheduling.query;

import org.jspecify.annotations.NullMarked;
