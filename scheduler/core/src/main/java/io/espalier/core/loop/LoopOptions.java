package io.espalier.core.loop;

import io.espalier.core.call.CallbackSigner;

/**
 * Options of a scheduler loop.
 *
 * @param epoch epoch of this scheduler; part of every fencing token
 * @param workerHost value of {@code worker_host} in the arguments of tasks
 * @param maxAttempts number of attempts after which a task fails instead of being retried; 0:
 *     unlimited
 * @param firstEvent sequence number of the first event to publish
 * @param callbacks gives calls the URL at which their service reports their end
 */
public record LoopOptions(
    long epoch, String workerHost, int maxAttempts, long firstEvent, CallbackSigner callbacks) {}
