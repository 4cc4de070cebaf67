package io.espalier.core.status;

/** What can happen to a task, as the transition table sees it. */
public sealed interface TaskEvent {
  /** The scheduler has decided to start it. */
  record Started() implements TaskEvent {}

  /** Its invocation ran, or failed to start for a reason of its own, and ended. */
  record Ended(ParsedStatus report) implements TaskEvent {}

  /**
   * Nothing was tried: refused, unreachable, shutting down. Costs no attempt.
   *
   * @param exception why
   * @param leastSeconds the least wait that its runner asks for
   */
  record NotStarted(String exception, int leastSeconds) implements TaskEvent {
    /** Its runner asks for no wait. */
    public NotStarted(String exception) {
      this(exception, 0);
    }
  }

  /**
   * The worker that ran it is lost; the task may still be running there for a while.
   *
   * @param workerShard which
   * @param exception how it was lost
   * @param safetySeconds how long it may live on: the least wait before another start
   */
  record WorkerLost(String workerShard, String exception, int safetySeconds) implements TaskEvent {}

  /** The worker says of an invocation it was asked to start that it does not run there. */
  record WasNotRunning(String exception) implements TaskEvent {}

  /**
   * It was running when the scheduler itself ended, and is known to be dead now: local runner,
   * journal cleared.
   */
  record Interrupted(String exception) implements TaskEvent {}

  /** An operator forgives it its failures and waits. */
  record Forgiven() implements TaskEvent {}
}
