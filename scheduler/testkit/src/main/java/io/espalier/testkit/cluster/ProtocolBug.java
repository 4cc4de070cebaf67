package io.espalier.testkit.cluster;

/**
 * Known errors in implementing the protocol. Each is injected at a seam between parts, so that
 * production code contains no trace of it. The suite must catch every one; {@code
 * thrift/PROTOCOL.md} lists them.
 */
public enum ProtocolBug {
  /**
   * The worker counts its lease from the receipt of the answer, not from the sending of the
   * heartbeat.
   */
  LEASE_FROM_ANSWER(Invariant.DEAD_IS_DEAD, 3_359),
  /** The workers' lease is longer than the time that the scheduler waits. */
  LEASE_LONGER_THAN_WAIT(Invariant.DEAD_IS_DEAD, 11),
  /** The guard's clock stops while its host is suspended. */
  GUARD_IGNORES_SUSPENSION(Invariant.DEAD_IS_DEAD, 104),
  /** A scheduler whose leadership has expired continues to answer heartbeats. */
  DEPOSED_LEADER_ANSWERS(Invariant.DEAD_IS_DEAD, 1_068),
  /** The scheduler considers the tasks of a silent worker dead without waiting for the margin. */
  LEASE_FORGOTTEN_EARLY(Invariant.DEAD_IS_DEAD, 26),
  /** A new leader considers unconfirmed invocations dead at once. */
  NO_TAKEOVER_WAIT(Invariant.DEAD_IS_DEAD, 1),
  /** A process gets the shard of another one, whose tasks nobody has verified to be dead. */
  REPLACED_UNVERIFIED(Invariant.DEAD_IS_DEAD, 12),
  /** A restarted worker does not search for tasks of the previous process. */
  JOURNAL_IGNORED(Invariant.DEAD_IS_DEAD, 291),
  /** The worker considers a task dead once it has sent TERM. */
  DEAD_WHEN_ASKED_TO_END(Invariant.DEAD_IS_DEAD, 2),
  /** Starts of an unanswered batch are sent again in the next one. */
  STARTS_SENT_AGAIN(Invariant.AT_MOST_ONCE, 6),
  /** A call that was not answered in time counts as never executed. */
  TIMEOUT_MEANS_NOT_STARTED(Invariant.NEVER_IS_NEVER, 1),
  /** "Not running" is not binding: copies of older batches are executed. */
  NO_FENCE(Invariant.NEVER_IS_NEVER, 6),
  /** The scheduler interprets "this copy was not executed" as "never started". */
  OLD_COPY_MEANS_REFUSED(Invariant.NEVER_IS_NEVER, 37),
  /** The worker checks neither the epoch nor the session of a batch. */
  SESSION_IGNORED(Invariant.NEVER_IS_NEVER, 302),
  /** The worker does not check the epoch of a batch. */
  EPOCH_IGNORED(Invariant.NEVER_IS_NEVER, 674),
  /** A start is dispatched before its row is durable. */
  DISPATCH_BEFORE_COMMIT(Invariant.DURABLE_BEFORE_DISPATCH, 1),
  /** The scheduler acknowledges an end before it is durable. */
  ACKNOWLEDGES_BEFORE_COMMIT(Invariant.NOTHING_ACKNOWLEDGED_IS_LOST, 1),
  /**
   * Without an election, the owner of a store never proves its ownership, and no scheduler waits.
   */
  OWNER_UNPROVED(Invariant.DEAD_IS_DEAD, 14),
  /** A task has ended when its first process has. */
  ENDS_WITH_FIRST_PROCESS(Invariant.DEAD_IS_DEAD, 1),
  /** The killer of a task does not look again whether a process of it is left. */
  KILLED_IN_ONE_ROUND(Invariant.DEAD_IS_DEAD, 9),
  /** The killer of a task does not find processes in groups of their own by its session. */
  SESSIONS_NOT_SEARCHED(Invariant.DEAD_IS_DEAD, 11),
  /** The killer of a task does not find processes by their environment. */
  ENVIRONMENTS_NOT_SEARCHED(Invariant.DEAD_IS_DEAD, 12),
  /** The killer of a task does not find processes by their control group. */
  CONTROL_GROUPS_NOT_SEARCHED(Invariant.DEAD_IS_DEAD, 1),
  /** The guard does not reach processes that have left their group. */
  GUARD_MISSES_SCATTERED(Invariant.DEAD_IS_DEAD, 96),
  /** A guard that was killed is not replaced. */
  GUARD_NOT_REPLACED(Invariant.DEAD_IS_DEAD, 169),
  /** A copy of a worker's directory vouches for the tasks of the original. */
  COPIED_DIRECTORY_VOUCHES(Invariant.DEAD_IS_DEAD, 15),
  /** A new leader waits for the expiry of its own leases, but not of the previous leader's. */
  OWN_LEASE_OUTWAITED(Invariant.DEAD_IS_DEAD, 84),
  /** A restarted worker considers what it cannot examine as gone. */
  UNSEEN_MEANS_GONE(Invariant.DEAD_IS_DEAD, 2_773),
  /** A store that was set back is considered complete, although the epoch continues. */
  SET_BACK_UNNOTICED(Invariant.LIMITS, 97),
  /** The scheduler of a new store does not wait when a worker has served an earlier one. */
  EARLIER_SCHEDULER_IGNORED(Invariant.AT_MOST_ONCE, 199),
  /** The epoch continues from the store's alone, even if the store was set back. */
  TOKENS_FROM_THE_STORE_ALONE(Invariant.TOKENS_GROW, 47),
  /** Each scheduler of a group knows only the epochs that its own data directory has seen. */
  GROUP_WITHOUT_MARK(Invariant.TOKENS_GROW, 1_918),
  /** The last answer to a batch with the most starts allowed is lost, and counts as a refusal. */
  FULL_BATCH_CUT(Invariant.NEVER_IS_NEVER, 263),
  /** A worker whose heartbeat fails tries the same scheduler again. */
  ONE_SCHEDULER_TRIED(Invariant.EVERYTHING_ENDS, 59),
  /** The guard exits although a start is under way. */
  GUARD_LEAVES_EARLY(Invariant.DEAD_IS_DEAD, 2_556),
  /** A merged transaction forgets a job after writing its rows. */
  MERGED_WITHOUT_ORDER(Invariant.AT_MOST_ONCE, 205),
  /** A transaction of unknown outcome is retried with more batches and the same mark. */
  MARK_REUSED(Invariant.DURABLE_BEFORE_DISPATCH, 21),
  /**
   * Stored rows of new tasks are read before their writes are tracked, and a task that runs by a
   * row of the own epoch is considered interrupted.
   */
  STALE_ROWS(Invariant.FINAL_IS_FINAL, 1),
  /** Rows written during the reading are forgotten when their update begins. */
  WRITES_FORGOTTEN_AT_BEGIN(Invariant.FINAL_IS_FINAL, 2),
  /** Rows are read before all earlier writes are durable. */
  ROWS_READ_BEFORE_DURABLE(Invariant.EVERYTHING_ENDS, 45),
  /** The set of recreated jobs is read before what is known of it is durable. */
  INCARNATIONS_READ_EARLY(Invariant.FINAL_IS_FINAL, 12),
  /** Monitors see changes that are not durable yet. */
  SHOWN_BEFORE_DURABLE(Invariant.SHOWN_IS_DURABLE, 2),
  /** When a probe does not answer, its last values count as sampled now. */
  OLD_VALUES_AS_NEW(Invariant.PROBED, 3),
  /** A new leader does not read the brakes that were set under the one before it. */
  BRAKES_FORGOTTEN(Invariant.BRAKED, 265),
  /**
   * The worker returns what the process of a batch has not begun when it asks the process to end,
   * not when the process is dead.
   */
  UNBEGUN_RETURNED_EARLY(Invariant.NEVER_IS_NEVER, 282),
  /** The worker says that a start was recalled, and begins it. */
  RECALLED_BEGINS(Invariant.NEVER_IS_NEVER, 12),
  /** The scheduler takes a recall for confirmed before its worker has heard of it. */
  RECALL_CONFIRMED_UNHEARD(Invariant.BRAKED, 1_276),
  /** A new leader does not read at which step a task is. */
  STEPS_FORGOTTEN(Invariant.STEPS_IN_ORDER, 26),
  /** A new leader takes tasks that await their verification for verified. */
  VERIFICATIONS_FORGOTTEN(Invariant.VERIFIED_BEFORE_SUCCESS, 13);

  private final Invariant breaks;
  private final long caughtBy;

  ProtocolBug(Invariant breaks, long caughtBy) {
    this.breaks = breaks;
    this.caughtBy = caughtBy;
  }

  /** Returns the invariant that it breaks, seldom or often; others may break with it. */
  public Invariant breaks() {
    return breaks;
  }

  /** Returns the seed from which tests look for a life that catches it, at best that of one. */
  public long caughtBy() {
    return caughtBy;
  }
}
