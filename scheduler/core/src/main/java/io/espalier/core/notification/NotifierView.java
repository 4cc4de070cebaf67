package io.espalier.core.notification;

/**
 * A notifier as monitors see it. Counts begin with the leadership of this scheduler.
 *
 * @param kind kind of the notifier
 * @param target where it sends, without secrets
 * @param waiting number of notifications that are not sent yet
 * @param oldestMillis when the oldest of them happened, epoch milliseconds; 0: none waits
 * @param sent number of notifications that its receiver has taken
 * @param failures number of attempts that have failed
 * @param merged number of events that were merged into the notification of another one
 * @param failingSinceMillis since when no attempt has succeeded; 0: the latest one has
 * @param lastSentMillis when the receiver took the latest one; 0: none
 * @param lastError why the latest attempt failed; empty: it did not
 */
public record NotifierView(
    String name,
    String kind,
    String target,
    int waiting,
    long oldestMillis,
    long sent,
    long failures,
    long merged,
    long failingSinceMillis,
    long lastSentMillis,
    String lastError) {
  /** Returns the state in one word: {@code failing}, {@code waiting} or {@code idle}. */
  public String state() {
    return failingSinceMillis > 0 ? "failing" : waiting > 0 ? "waiting" : "idle";
  }
}
