package io.espalier.core.api;

/**
 * Until when a live task may run.
 *
 * @param timeoutAtMillis when its attempt is too long, epoch milliseconds; 0: never
 * @param noOutputMillis the longest silence; 0: no limit
 * @param deadlineMillis its job's {@code complete_by}, epoch milliseconds; 0: none
 */
public record TaskDeadlines(long timeoutAtMillis, long noOutputMillis, long deadlineMillis) {
  public static final TaskDeadlines UNLIMITED = new TaskDeadlines(0, 0, 0);

  /** When it is stopped whatever it does, epoch milliseconds; {@link Long#MAX_VALUE}: never. */
  public long endMillis() {
    long timeout = timeoutAtMillis == 0 ? Long.MAX_VALUE : timeoutAtMillis;
    return deadlineMillis == 0 ? timeout : Math.min(timeout, deadlineMillis);
  }

  /** The same with both instants moved, where there are any. */
  public TaskDeadlines extended(long millis) {
    return new TaskDeadlines(
        timeoutAtMillis == 0 ? 0 : timeoutAtMillis + millis,
        noOutputMillis,
        deadlineMillis == 0 ? 0 : deadlineMillis + millis);
  }
}
