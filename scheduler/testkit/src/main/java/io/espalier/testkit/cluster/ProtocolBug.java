package io.espalier.testkit.cluster;

/**
 * Known ways to get the protocol wrong, each brought in at a seam between parts, so that production
 * code knows nothing of them. The suite must catch every one; {@code thrift/PROTOCOL.md} lists
 * them.
 */
public enum ProtocolBug {
  /** The worker counts its lease from the receipt of the answer, not from the sending. */
  LEASE_FROM_ANSWER,
  /** "Not running" does not bind: copies of older batches are acted on. */
  NO_FENCE,
  /** A start is handed out before its row is durable. */
  DISPATCH_BEFORE_COMMIT,
  /** A new leader takes unconfirmed invocations for dead at once. */
  NO_TAKEOVER_WAIT,
  /** The worker takes a task for dead when it has sent TERM. */
  REGISTERS_BEFORE_DEAD,
  /** The scheduler acknowledges an end before it is durable. */
  ACKNOWLEDGES_BEFORE_COMMIT,
  /** The worker does not look at epoch and session of a batch. */
  SESSION_IGNORED,
  /** A scheduler whose leadership has run out goes on answering heartbeats. */
  DEPOSED_LEADER_ANSWERS,
  /** A restarted worker does not look for tasks of the process before. */
  JOURNAL_IGNORED,
  /** The workers' lease is longer than what the scheduler waits for. */
  LEASE_LONGER_THAN_WAIT,
  /** The scheduler takes "this copy was not acted on" for "never started". */
  OLD_COPY_MEANS_REFUSED,
  /** A call that was not answered in time counts as not done. */
  TIMEOUT_MEANS_NOT_STARTED
}
