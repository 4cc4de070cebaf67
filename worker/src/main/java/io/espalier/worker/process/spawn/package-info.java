/**
 * Starts the process of a task: its program, arguments, environment and user, and the two
 * mechanisms behind {@link io.espalier.worker.process.spawn.ProcessBackend}.
 */
@NullMarked
package io.espalier.worker.process.spawn;

import org.jspecify.annotations.NullMarked;
