/** The options of a job's tasks: how their processes run, end, log and are retried. */
@NullMarked
package io.espalier.core.config.task;

import org.jspecify.annotations.NullMarked;
