package io.espalier.core.loop;

import io.espalier.core.call.CallbackSigner;

/**
 * Options of a scheduler loop.
 *
 * @param epoch epoch of this scheduler; part of every fencing token
 * @param name name of the scheduler: as the leader, and as the host of its own worker
 * @param workerHost value of {@code worker_host} in the arguments of tasks that run here
 * @param maxAttempts number of attempts after which a task fails instead of being retried; 0:
 *     unlimited
 * @param firstEvent sequence number of the first event to publish
 * @param callbacks gives calls the URL at which their service reports their end
 */
public record LoopOptions(
    long epoch,
    String name,
    String workerHost,
    int maxAttempts,
    long firstEvent,
    CallbackSigner callbacks) {}
