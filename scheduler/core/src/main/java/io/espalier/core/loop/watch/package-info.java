/**
 * Time-triggered checks: kills tasks over a limit, applies the deadlines and outcomes of jobs,
 * records checkpoints and the usage of queues.
 */
@NullMarked
package io.espalier.core.loop.watch;

import org.jspecify.annotations.NullMarked;
