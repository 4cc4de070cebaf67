package io.espalier.testkit.cluster;

/**
 * Known ways to get the protocol wrong, each brought in at a seam between parts, so that production
 * code knows nothing of them. The suite must catch every one; {@code thrift/PROTOCOL.md} lists
 * them.
 */
public enum ProtocolBug {
  /** The worker counts its lease from the receipt of the answer, not from the sending. */
  LEASE_FROM_ANSWER(Invariant.DEAD_IS_DEAD),
  /** The workers' lease is longer than what the scheduler waits for. */
  LEASE_LONGER_THAN_WAIT(Invariant.DEAD_IS_DEAD),
  /** The guard's clock stands still while its host is suspended. */
  GUARD_IGNORES_SUSPENSION(Invariant.DEAD_IS_DEAD),
  /** A scheduler whose leadership has run out goes on answering heartbeats. */
  DEPOSED_LEADER_ANSWERS(Invariant.DEAD_IS_DEAD),
  /** A new leader takes unconfirmed invocations for dead at once. */
  NO_TAKEOVER_WAIT(Invariant.DEAD_IS_DEAD),
  /** A process gets the shard of another one, whose tasks nobody has verified to be dead. */
  REPLACED_UNVERIFIED(Invariant.DEAD_IS_DEAD),
  /** A restarted worker does not look for tasks of the process before. */
  JOURNAL_IGNORED(Invariant.DEAD_IS_DEAD),
  /** The worker takes a task for dead when it has sent TERM. */
  DEAD_WHEN_ASKED_TO_END(Invariant.AT_MOST_ONCE),
  /** Starts of an unanswered batch are sent again in the next one. */
  STARTS_SENT_AGAIN(Invariant.AT_MOST_ONCE),
  /** A call that was not answered in time counts as not done. */
  TIMEOUT_MEANS_NOT_STARTED(Invariant.NEVER_IS_NEVER),
  /** "Not running" does not bind: copies of older batches are acted on. */
  NO_FENCE(Invariant.NEVER_IS_NEVER),
  /** The scheduler takes "this copy was not acted on" for "never started". */
  OLD_COPY_MEANS_REFUSED(Invariant.NEVER_IS_NEVER),
  /** The worker does not look at the epoch of a batch, nor at its session. */
  SESSION_IGNORED(Invariant.NEVER_IS_NEVER),
  /** The worker does not look at the epoch of a batch. */
  EPOCH_IGNORED(Invariant.NEVER_IS_NEVER),
  /** A start is handed out before its row is durable. */
  DISPATCH_BEFORE_COMMIT(Invariant.DURABLE_BEFORE_DISPATCH),
  /** The scheduler acknowledges an end before it is durable. */
  ACKNOWLEDGES_BEFORE_COMMIT(Invariant.NOTHING_ACKNOWLEDGED_IS_LOST);

  private final Invariant breaks;

  ProtocolBug(Invariant breaks) {
    this.breaks = breaks;
  }

  /** The invariant that it breaks, seldom or often; others may break with it. */
  public Invariant breaks() {
    return breaks;
  }
}
