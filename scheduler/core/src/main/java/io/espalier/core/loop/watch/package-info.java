/**
 * What happens when its time has come: tasks over a limit are killed, jobs meet their deadline or
 * their outcome, checkpoints and the usage of queues are recorded.
 */
@NullMarked
package io.espalier.core.loop.watch;

import org.jspecify.annotations.NullMarked;
