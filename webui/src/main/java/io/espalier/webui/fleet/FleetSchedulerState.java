package io.espalier.webui.fleet;

import java.util.Locale;

/** How a scheduler answered when it was asked last. */
public enum FleetSchedulerState {
  /** It was not asked yet, or the first answer is still to come. */
  WAITING,
  ANSWERED,
  /** It was reached, and did not answer in time; or it does not answer now. */
  SLOW,
  /** No connection. */
  DEAD,
  /** It wants another token, or another role. */
  REFUSED,
  /** It answered with an error, or with something that is not a scheduler's answer. */
  ERROR;

  /** In small letters. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
