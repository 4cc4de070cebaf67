package io.espalier.core.notification;

import java.util.Locale;

/** How bad what a notification tells is, from the least to the worst. */
public enum Severity {
  /** Nothing to do; also the end of what was worse. */
  INFO,
  /** To be looked at. */
  WARNING,
  /** Work has stopped or has failed. */
  ERROR;

  /** Returns the name in the configuration, in messages and in stores. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * Returns the severity with that {@link #word}.
   *
   * @throws IllegalArgumentException when there is none
   */
  public static Severity ofWord(String word) {
    return valueOf(word.toUpperCase(Locale.ROOT));
  }
}
