package io.espalier.webui.fleet.poll;

import java.util.Locale;

/** The result of the last query to a scheduler. */
public enum FleetSchedulerState {
  /** Not queried yet, or the first answer is pending. */
  WAITING,
  ANSWERED,
  /** Reachable, but it did not answer in time, or does not answer at present. */
  SLOW,
  /** No connection. */
  DEAD,
  /** It requires another token, or another role. */
  REFUSED,
  /** It answered with an error, or not like a scheduler. */
  ERROR;

  /** Returns the state in lower case. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
