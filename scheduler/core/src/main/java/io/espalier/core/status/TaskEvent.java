package io.espalier.core.status;

/** What can happen to a task: the inputs of the transition table. */
public sealed interface TaskEvent {
  /** The scheduler has decided to start it. */
  record Started() implements TaskEvent {}

  /** Its invocation ran, or failed to start for a reason of its own, and ended. */
  record Ended(ParsedStatus report) implements TaskEvent {}

  /**
   * Nothing was tried: refused, unreachable, shutting down. This does not count as an attempt.
   *
   * @param exception the reason
   * @param leastSeconds shortest wait that its runner requests
   */
  record NotStarted(String exception, int leastSeconds) implements TaskEvent {
    /** Creates the event without a requested wait. */
    public NotStarted(String exception) {
      this(exception, 0);
    }
  }

  /**
   * The worker that ran it is lost; the task may still be running there for a while.
   *
   * @param workerShard shard of the worker
   * @param exception how it was lost
   * @param safetySeconds how long the task may stay alive: the shortest wait before another start
   */
  record WorkerLost(String workerShard, String exception, int safetySeconds) implements TaskEvent {}

  /** The worker reports that an invocation it was asked to start does not run there. */
  record WasNotRunning(String exception) implements TaskEvent {}

  /**
   * It was running when the scheduler itself ended, and is known to be dead now: local runner,
   * journal cleared.
   */
  record Interrupted(String exception) implements TaskEvent {}

  /**
   * An operator does not want it to run any more, or to be started.
   *
   * @param exception who cancelled it and why, for people
   */
  record Cancelled(String exception) implements TaskEvent {}

  /** An operator forgives its failures and waits. */
  record Forgiven() implements TaskEvent {}
}
