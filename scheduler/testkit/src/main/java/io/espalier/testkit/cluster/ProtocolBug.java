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
  ACKNOWLEDGES_BEFORE_COMMIT(Invariant.NOTHING_ACKNOWLEDGED_IS_LOST),
  /** Without an election the owner of a store never proves that it still is, and none waits. */
  OWNER_UNPROVED(Invariant.DEAD_IS_DEAD),
  /** The guard does not reach processes that have left their group. */
  GUARD_MISSES_SCATTERED(Invariant.DEAD_IS_DEAD),
  /** A guard that was killed is not replaced. */
  GUARD_NOT_REPLACED(Invariant.DEAD_IS_DEAD),
  /** A copy of a worker's directory vouches for the tasks of the original. */
  COPIED_DIRECTORY_VOUCHES(Invariant.DEAD_IS_DEAD),
  /** A new leader outwaits its own leases, and not those of the one before. */
  OWN_LEASE_OUTWAITED(Invariant.DEAD_IS_DEAD),
  /** A restarted worker takes what it cannot look at for gone. */
  UNSEEN_MEANS_GONE(Invariant.DEAD_IS_DEAD),
  /** A store that was set back is taken for complete, though the epoch goes on. */
  SET_BACK_UNNOTICED(Invariant.LIMITS),
  /** The epoch goes on from what the store has, also when it was set back. */
  TOKENS_FROM_THE_STORE_ALONE(Invariant.TOKENS_GROW),
  /** The guard leaves although a start is under way. */
  GUARD_LEAVES_EARLY(Invariant.DEAD_IS_DEAD),
  /**
   * Stored rows of new tasks are read before it is noted what is written of them, and what runs by
   * a row of the own epoch is taken for interrupted.
   */
  STALE_ROWS(Invariant.FINAL_IS_FINAL),
  /** What was written while rows were read is forgotten when their change begins. */
  WRITES_FORGOTTEN_AT_BEGIN(Invariant.FINAL_IS_FINAL),
  /** Rows are read before all that was written earlier is durable. */
  ROWS_READ_BEFORE_DURABLE(Invariant.EVERYTHING_ENDS),
  /** Which jobs were made again is read before what is known of it is durable. */
  INCARNATIONS_READ_EARLY(Invariant.FINAL_IS_FINAL),
  /** Monitors see what is not durable yet. */
  SHOWN_BEFORE_DURABLE(Invariant.SHOWN_IS_DURABLE);

  private final Invariant breaks;

  ProtocolBug(Invariant breaks) {
    this.breaks = breaks;
  }

  /** The invariant that it breaks, seldom or often; others may break with it. */
  public Invariant breaks() {
    return breaks;
  }
}
