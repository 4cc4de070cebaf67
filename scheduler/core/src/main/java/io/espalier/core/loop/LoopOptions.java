package io.espalier.core.loop;

/**
 * How a loop behaves.
 *
 * @param epoch of this scheduler; part of every fencing token
 * @param workerHost what tasks see as {@code worker_host}
 * @param maxAttempts a task that would wait for another attempt fails after so many; 0: no bound
 * @param firstEvent sequence of the first event to publish
 */
public record LoopOptions(long epoch, String workerHost, int maxAttempts, long firstEvent) {}
