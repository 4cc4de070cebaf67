/**
 * Tasks: the status of each, what waits for time or for other tasks, and the running ones with the
 * path that they are charged on.
 */
@NullMarked
package io.espalier.core.scheduling.task;

import org.jspecify.annotations.NullMarked;
