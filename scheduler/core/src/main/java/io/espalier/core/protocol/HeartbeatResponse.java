package io.espalier.core.protocol;

/**
 * The response to a heartbeat. Only {@link Verdict#ACCEPTED} renews the lease, which counts from
 * the moment the heartbeat was sent.
 *
 * @param number number of the heartbeat
 * @param epoch epoch of the responding scheduler; a worker ignores epochs older than the newest it
 *     knows
 * @param session session of the worker; 0 unless accepted
 * @param version protocol version to use; 0 unless accepted
 * @param timers timers of the whole pool; the worker uses those of the newest response
 * @param drain whether an operator wants the worker to be drained
 * @param message message for the worker's log when the heartbeat was not accepted
 * @param storeId id of the scheduler's status store; empty: unknown
 */
public record HeartbeatResponse(
    long number,
    Verdict verdict,
    long epoch,
    long session,
    int version,
    ProtocolTimers timers,
    boolean drain,
    String message,
    String storeId) {

  /** What the worker must do. */
  public enum Verdict {
    /** Continue. */
    ACCEPTED,
    /** The scheduler does not know this session: register at once; tasks continue. */
    REGISTER_AGAIN,
    /**
     * The worker counts as lost, or was replaced, or the scheduler does not know its tasks: stop
     * all of them, have them verified dead, then register.
     */
    STOP_ALL,
    /**
     * The worker is not in this pool: its shard name is taken, or there is no common version. Tasks
     * continue; try again later.
     */
    REFUSED,
    /**
     * This scheduler is not the leader, or not certain to be, or not ready yet: try again, also at
     * other addresses.
     */
    NOT_LEADER
  }
}
