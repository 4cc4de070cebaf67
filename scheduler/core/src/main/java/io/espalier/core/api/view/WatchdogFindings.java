package io.espalier.core.api.view;

/**
 * The findings of the watchdog's latest pass, and the number of its repairs so far.
 *
 * @param passes complete passes since the start
 * @param overdue tasks past their time that their runner has not ended
 * @param starting tasks placed long ago and not yet handed to the runner
 * @param unanswered tasks still alive long after a request to kill them
 * @param leaked slots occupied without a live task, and live tasks without slots
 * @param repairs repeated kills and reported lost ends, since the start
 */
public record WatchdogFindings(
    long passes, int overdue, int starting, int unanswered, int leaked, long repairs) {
  public static final WatchdogFindings NONE = new WatchdogFindings(0, 0, 0, 0, 0, 0);
}
