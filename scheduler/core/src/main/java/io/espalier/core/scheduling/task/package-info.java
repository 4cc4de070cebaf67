/**
 * The tasks: the status of each, waiting for time or for other tasks, and the running tasks with
 * the paths that they are charged on.
 */
@NullMarked
package io.espalier.core.scheduling.task;

import org.jspecify.annotations.NullMarked;
