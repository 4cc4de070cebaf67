/**
 * Workers: which of them take tasks of a job, how many slots each has free, and which one comes
 * next.
 *
 * <p>Jobs with the same requirements share one ordering of the workers, so that the cost of a start
 * does not depend on the number of jobs.
 */
@NullMarked
package io.espalier.core.scheduling.worker;

import org.jspecify.annotations.NullMarked;
