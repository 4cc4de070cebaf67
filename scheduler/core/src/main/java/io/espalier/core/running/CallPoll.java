package io.espalier.core.running;

import io.espalier.core.text.ShortText;

/**
 * How a running call was last asked about, as the process that asks says.
 *
 * @param atMillis when the service answered, or did not in time; epoch milliseconds by the clock of
 *     the host that asks
 * @param answer {@code running}, or why the outcome is in doubt; at most {@link #MAX_ANSWER}
 *     characters
 * @param nextMillis when it is asked next, by the same clock; 0: it is not
 */
public record CallPoll(long atMillis, String answer, long nextMillis) {
  /** Longer answers are cut. */
  public static final int MAX_ANSWER = 200;

  public CallPoll {
    answer = ShortText.cut(answer, MAX_ANSWER);
  }
}
