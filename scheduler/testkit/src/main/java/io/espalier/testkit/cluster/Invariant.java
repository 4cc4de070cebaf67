package io.espalier.testkit.cluster;

/**
 * An invariant: a condition that must hold at every instant of a simulated life
 * (docs/design/design.md#at-most-once).
 */
public enum Invariant {
  /** A task has at most one live invocation, and no invocation is started twice. */
  AT_MOST_ONCE,
  /** Each start of a task carries a greater fencing token than the previous one. */
  TOKENS_GROW,
  /** An invocation that is considered dead is dead, and never starts. */
  DEAD_IS_DEAD,
  /** An invocation that is reported as never started never starts. */
  NEVER_IS_NEVER,
  /** Live invocations exceed no limit of the instance, of a node, or of a worker. */
  LIMITS,
  /**
   * While a brake that stops everything, or a job, is durable, the leader hands no start of it to a
   * worker. A start from before the brake may follow until the brake's command is answered. When
   * the answer says that all workers have confirmed the brake, none begins a start of it.
   */
  BRAKED,
  /**
   * Where a limit follows a probe, with a floor of 0, a leader places no task on a host unless it
   * was given a value of the host that is not too old.
   */
  PROBED,
  /** A start is sent only after its assignment is durable. */
  DURABLE_BEFORE_DISPATCH,
  /** The durable store contains the result of every end that was acknowledged to its worker. */
  NOTHING_ACKNOWLEDGED_IS_LOST,
  /**
   * An invocation has one end: passed once to each leader, and always reported and stored the same.
   */
  ONE_END,
  /**
   * A task keeps its durable final status and is never started again, unless a recorded operator's
   * command requires it or its job is deleted.
   */
  FINAL_IS_FINAL,
  /**
   * A step begins only after the one before it has ended, and does not run again once its end was
   * acknowledged, unless its task was compensated, begins with the first step again, or an
   * operator's command requires it.
   */
  STEPS_IN_ORDER,
  /**
   * A verification begins only when its task is durably done. The task is over only when one has
   * ended as done, or it is not in the sample, and runs again when one has failed; its job has
   * succeeded only when no task awaits one.
   */
  VERIFIED_BEFORE_SUCCESS,
  /** No task is shown as done before its status is durable. */
  SHOWN_IS_DURABLE,
  /** Once the faults are over, every task completes within a time limit. */
  EVERYTHING_ENDS,
  /** No part throws an exception or loops endlessly. */
  NO_FAILURE
}
