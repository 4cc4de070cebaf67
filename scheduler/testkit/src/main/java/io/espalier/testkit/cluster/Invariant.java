package io.espalier.testkit.cluster;

/** What must hold at every instant of a simulated life (docs/design/design.md#at-most-once). */
public enum Invariant {
  /** A task has at most one live invocation, and no invocation is started twice. */
  AT_MOST_ONCE,
  /** Each start of a task carries a greater fencing token than the one before. */
  TOKENS_GROW,
  /** What is taken for dead is dead, and never starts. */
  DEAD_IS_DEAD,
  /** What is said to have never started never starts. */
  NEVER_IS_NEVER,
  /** Live invocations exceed no limit of the instance, of a node, or of a worker. */
  LIMITS,
  /** A start is sent only once its assignment is durable. */
  DURABLE_BEFORE_DISPATCH,
  /** The result of an end that was acknowledged to its worker is in the durable store. */
  NOTHING_ACKNOWLEDGED_IS_LOST,
  /** An invocation has one end: told once to each leader, reported and stored always the same. */
  ONE_END,
  /**
   * A task whose final status is durable keeps it and is never started again, until an operator's
   * command is recorded that says otherwise, or its job is deleted.
   */
  FINAL_IS_FINAL,
  /** Nobody is shown a task as done whose status is not durable. */
  SHOWN_IS_DURABLE,
  /** When nothing goes wrong any more, every task comes to its end within a bound. */
  EVERYTHING_ENDS,
  /** No part throws an exception, and nothing goes round in circles. */
  NO_FAILURE
}
