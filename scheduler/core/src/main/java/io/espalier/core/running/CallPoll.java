package io.espalier.core.running;

import io.espalier.core.text.ShortText;

/**
 * How a running call was last asked about, or why one that cannot be polled is in doubt, as the
 * process that has the call says.
 *
 * @param atMillis when the service answered, or did not in time, or the doubt came; epoch
 *     milliseconds by the clock of that host
 * @param answer {@code running}, or why the outcome is in doubt; at most {@link #MAX_ANSWER}
 *     characters
 * @param nextMillis when it is polled next, by the same clock; 0: it is not
 */
public record CallPoll(long atMillis, String answer, long nextMillis) {
  /** The answer about a call that is under way. */
  public static final String RUNNING = "running";

  /** Longer answers are cut. */
  public static final int MAX_ANSWER = 200;

  public CallPoll {
    answer = ShortText.cut(answer, MAX_ANSWER);
  }

  /** Returns whether the outcome is in doubt and nobody asks about it. */
  public boolean isInDoubt() {
    return nextMillis == 0 && !answer.equals(RUNNING);
  }
}
