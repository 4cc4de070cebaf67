package io.espalier.core.running;

/**
 * The time limits of one invocation; 0: none.
 *
 * @param timeoutMillis limit from its start
 * @param noOutputMillis limit since it last wrote anything: output, status or progress
 * @param deadlineMillis deadline, epoch milliseconds
 */
public record InvocationLimits(long timeoutMillis, long noOutputMillis, long deadlineMillis) {
  public static final InvocationLimits NONE = new InvocationLimits(0, 0, 0);

  public InvocationLimits {
    if (timeoutMillis < 0 || noOutputMillis < 0 || deadlineMillis < 0) {
      throw new IllegalArgumentException("a time limit is negative");
    }
  }
}
