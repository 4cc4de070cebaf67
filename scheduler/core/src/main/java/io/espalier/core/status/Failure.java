package io.espalier.core.status;

import io.espalier.core.text.ShortText;

/**
 * Why the latest attempt of a task failed. Stored with its status, so that failures can be grouped
 * by cause without reading their histories.
 *
 * @param fingerprint fingerprint of that attempt, see {@link FailureFingerprint}
 * @param message what went wrong, at most {@link #MAX_MESSAGE} characters
 */
public record Failure(String fingerprint, String message) {
  /** Longer messages are cut; the history contains the rest. */
  public static final int MAX_MESSAGE = 200;

  public Failure {
    message = ShortText.cut(message, MAX_MESSAGE);
  }

  /** The failure in one line, as stores write it. */
  String text() {
    return fingerprint + " " + message;
  }

  static Failure of(String text) {
    int blank = text.indexOf(' ');
    return blank < 0
        ? new Failure(text, "")
        : new Failure(text.substring(0, blank), text.substring(blank + 1));
  }
}
