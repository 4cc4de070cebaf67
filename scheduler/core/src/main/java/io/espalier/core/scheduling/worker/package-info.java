/**
 * The workers: which of them take tasks of a job, how many free slots each has, and which one is
 * selected next.
 *
 * <p>Jobs with the same requirements share one ordering of the workers, so the cost of a start does
 * not depend on the number of jobs.
 */
@NullMarked
package io.espalier.core.scheduling.worker;

import org.jspecify.annotations.NullMarked;
