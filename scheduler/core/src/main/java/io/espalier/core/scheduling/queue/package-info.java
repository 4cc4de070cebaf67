/**
 * Queues: what their running tasks use, the usage that decays, their caps, and which of their jobs
 * these leave room for.
 */
@NullMarked
package io.espalier.core.scheduling.queue;

import org.jspecify.annotations.NullMarked;
