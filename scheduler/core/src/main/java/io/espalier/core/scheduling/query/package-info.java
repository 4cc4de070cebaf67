/**
 * Queries for people: why a task does not start, how many tasks below a node are in which state,
 * which tasks use the slots of a node. Expensive queries run in slices. They use the same classes
 * that make scheduling decisions, so the answers match the actual behavior.
 */
@NullMarked
package io.espalier.core.scheduling.query;

import org.jspecify.annotations.NullMarked;
