package io.espalier.core.status.store;

/**
 * The decayed usage of a queue at a point in time, which determines its priority
 * (docs/design/features.md#history-of-queues).
 *
 * @param queue name of the queue
 * @param value decayed dominant share, 0 or more
 * @param atMillis epoch milliseconds
 */
public record QueueUsage(String queue, double value, long atMillis) {}
