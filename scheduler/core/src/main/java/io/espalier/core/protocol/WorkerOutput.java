package io.espalier.core.protocol;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.Throttle;
import java.util.List;

/**
 * The actions that {@link WorkerProtocol} requests. Its methods are called while an input is
 * handled, on that thread; they must neither block nor call back.
 */
public interface WorkerOutput {
  /**
   * Send a heartbeat to the scheduler; then call {@link WorkerProtocol#heartbeatAnswered} or {@link
   * WorkerProtocol#heartbeatFailed}, once, within {@link ProtocolTimers#callMillis}.
   */
  void send(Heartbeat heartbeat);

  /**
   * Send a report to the scheduler; then call {@link WorkerProtocol#reportAnswered} or {@link
   * WorkerProtocol#reportFailed}, once, within {@link ProtocolTimers#callMillis}.
   */
  void send(Report report);

  /**
   * Start a task, after recording it in the journal; {@link WorkerProtocol#ended} must follow
   * exactly once, even if the task could not be started. Much time may pass between this call and
   * the start of the process (the JVM may be stopped). Once the guard's deadline has passed no
   * process may start any more, so the guard or the child must check the deadline last, not this
   * JVM.
   */
  void start(LaunchSpec launch);

  /**
   * Start tasks of one batch in one process, each as {@link #start}; {@link WorkerProtocol#ended}
   * must follow once for each.
   *
   * @param members two or more, of one job
   */
  default void startBatch(List<LaunchSpec> members) {
    members.forEach(this::start);
  }

  /** Stop one task. */
  void kill(RunId run, KillRequest how);

  /**
   * Ask no more about a call: its service has reported its end to the scheduler. {@link
   * WorkerProtocol#ended} must follow.
   */
  default void letGo(RunId run) {
    // A worker without calls has nothing to let go of.
  }

  /**
   * Start a task no more if it has not begun. This is decided before the call returns: the task has
   * begun, or it never does and {@link WorkerProtocol#ended} follows with an end that says so.
   */
  void recall(RunId run);

  /** Extend the time limits of one task. */
  void extend(RunId run, long millis);

  /** Tell one task how fast to work. */
  default void throttle(RunId run, Throttle throttle) {
    // A worker without processes has nobody to tell.
  }

  /**
   * Stop all tasks: TERM, wait, KILL. Each ends with a call of {@link WorkerProtocol#ended}, but
   * only once it is verified dead. May be called again before all have ended.
   */
  void stopAll(long killWaitMillis);

  /**
   * Instruct the guard: when the age of {@code since} (see {@link ClockReading#millisSince})
   * reaches {@code killAfterMillis}, kill every task and whatever is started later, until the next
   * instruction.
   */
  void guard(ClockReading since, long killAfterMillis);

  /** The worker is drained and has nothing left: its process may exit. */
  void drained();

  /** Warn operators. */
  void warn(String message);
}
