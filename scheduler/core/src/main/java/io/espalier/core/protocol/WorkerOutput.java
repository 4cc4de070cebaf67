package io.espalier.core.protocol;

import io.espalier.core.config.KillRequest;
import io.espalier.core.running.LaunchSpec;

/**
 * What {@link WorkerProtocol} wants done. Called while an input is handled, on its thread; must not
 * block nor call back.
 */
public interface WorkerOutput {
  /**
   * Send this to the scheduler; then call {@link WorkerProtocol#heartbeatAnswered} or {@link
   * WorkerProtocol#heartbeatFailed}, once, within {@link ProtocolTimers#callMillis}.
   */
  void send(Heartbeat heartbeat);

  /**
   * Send this to the scheduler; then call {@link WorkerProtocol#reportAnswered} or {@link
   * WorkerProtocol#reportFailed}, once, within {@link ProtocolTimers#callMillis}.
   */
  void send(Report report);

  /**
   * Start it, journalled first; {@link WorkerProtocol#ended} follows exactly once, also when it
   * could not be started. Between this call and the process much time may pass (the JVM may be
   * stopped): once the guard's deadline has come no process may start any more, so the last look at
   * the deadline belongs to the guard or to the child, not to this JVM.
   */
  void start(LaunchSpec launch);

  /** Stop one task. */
  void kill(RunId run, KillRequest how);

  /** Move the time limits of one task. */
  void extend(RunId run, long millis);

  /**
   * Stop all tasks: TERM, wait, KILL. Each ends through {@link WorkerProtocol#ended} once it is
   * verified dead, not before. May be called again while it is under way.
   */
  void stopAll(long killWaitMillis);

  /**
   * Tell the guard: when the age of {@code since} (see {@link ClockReading#millisSince}) reaches
   * this, kill every task and whatever is started later, until told anew.
   */
  void guard(ClockReading since, long killAfterMillis);

  /** The worker was drained and has nothing left: its process may end. */
  void drained();

  /** Something an operator should read. */
  void warn(String message);
}
