package io.espalier.core.api.view;

/**
 * The time limits of a live task.
 *
 * @param timeoutAtMillis when its attempt times out, epoch milliseconds; 0: never, or, for a task
 *     of a batch, unknown
 * @param noOutputMillis longest time without output; 0: no limit
 * @param deadlineMillis its job's {@code complete_by}, epoch milliseconds; 0: none
 */
public record TaskDeadlines(long timeoutAtMillis, long noOutputMillis, long deadlineMillis) {
  public static final TaskDeadlines UNLIMITED = new TaskDeadlines(0, 0, 0);

  /** The earlier of timeout and deadline, epoch milliseconds; {@link Long#MAX_VALUE}: never. */
  public long endMillis() {
    long timeout = timeoutAtMillis == 0 ? Long.MAX_VALUE : timeoutAtMillis;
    return deadlineMillis == 0 ? timeout : Math.min(timeout, deadlineMillis);
  }

  /** A copy with both instants extended, if set. */
  public TaskDeadlines extended(long millis) {
    return new TaskDeadlines(
        timeoutAtMillis == 0 ? 0 : timeoutAtMillis + millis,
        noOutputMillis,
        deadlineMillis == 0 ? 0 : deadlineMillis + millis);
  }
}
