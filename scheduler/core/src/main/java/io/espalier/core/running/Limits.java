package io.espalier.core.running;

/**
 * The time limits of one invocation; 0: none.
 *
 * @param timeoutMillis from its start
 * @param noOutputMillis since it last wrote anything: output, status or progress
 * @param deadlineMillis an instant, epoch milliseconds
 */
public record Limits(long timeoutMillis, long noOutputMillis, long deadlineMillis) {
  public static final Limits NONE = new Limits(0, 0, 0);

  public Limits {
    if (timeoutMillis < 0 || noOutputMillis < 0 || deadlineMillis < 0) {
      throw new IllegalArgumentException("a time limit is negative");
    }
  }
}
