package io.espalier.core.api;

/**
 * What the latest pass of the supervisor found wrong, and how often it stepped in so far.
 *
 * @param passes complete passes since the start
 * @param overdue tasks past their time that their runner has not ended
 * @param starting tasks that were decided on long ago and not handed to the runner yet
 * @param unanswered tasks that live on long after they were to be killed
 * @param leaked slots held for tasks that are not alive, and live tasks without slots
 * @param repairs kills repeated and lost ends made up for, since the start
 */
public record WatchdogFindings(
    long passes, int overdue, int starting, int unanswered, int leaked, long repairs) {
  public static final WatchdogFindings NONE = new WatchdogFindings(0, 0, 0, 0, 0, 0);
}
