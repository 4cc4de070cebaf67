package io.espalier.core.status;

/**
 * What a queue had used, as of a time: its current priority
 * (docs/design/features.md#history-of-queues).
 *
 * @param queue its name
 * @param value the decayed dominant share, 0 or more
 * @param atMillis since 1970
 */
public record QueueUsage(String queue, double value, long atMillis) {}
