/**
 * The queues: the slots and the decayed usage of their running tasks, their caps, and which of
 * their jobs fit under these.
 */
@NullMarked
package io.espalier.core.scheduling.queue;

import org.jspecify.annotations.NullMarked;
