package io.espalier.core.protocol;

/**
 * The answer to a heartbeat. Only {@link Verdict#ACCEPTED} renews the lease, which is counted from
 * the moment the heartbeat was sent.
 *
 * @param number of the heartbeat that is answered
 * @param epoch of the scheduler that answers; a worker heeds none that is older than one it knows
 * @param session the worker's session; 0 unless accepted
 * @param version of the protocol to be used; 0 unless accepted
 * @param timers in force for the whole pool; the worker keeps those of the newest answer
 * @param drain an operator wants the worker to be drained
 * @param message for the worker's log, when it was not accepted
 * @param storeId of the status store that the scheduler serves; empty: not known
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

  /** What the worker is to do. */
  public enum Verdict {
    /** Go on. */
    ACCEPTED,
    /** This session is not known here: register at once, tasks go on. */
    REGISTER_AGAIN,
    /**
     * The worker was taken for lost, or replaced, or its tasks belong to nobody: stop all of them,
     * have them verified dead, then register.
     */
    STOP_ALL,
    /** Not in this pool: shard name taken, no common version. Tasks go on; try again later. */
    REFUSED,
    /** Not the leader, not for certain, or not yet ready: try again, elsewhere too. */
    NOT_LEADER
  }
}
