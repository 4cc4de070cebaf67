package io.espalier.core.running;

/** Why a runner stopped a task that had not ended by itself. */
public enum StopReason {
  /** An operator requested it, or the scheduler because the task is an orphan. */
  REQUESTED,
  /** It ran longer than {@link InvocationLimits#timeoutMillis}. */
  TIMEOUT,
  /** It reached {@link InvocationLimits#deadlineMillis}. */
  DEADLINE,
  /** It wrote nothing for {@link InvocationLimits#noOutputMillis}. */
  NO_OUTPUT,
  /** It exceeded its hard memory limit and the kernel killed it. */
  OUT_OF_MEMORY,
  /** Its runner ended, or was found to have ended. */
  SHUTDOWN,
  /** Its worker had lost contact with the scheduler for too long. */
  LEASE_LOST,
  /** Usage of a resource it held exceeded the limit for {@code kill_over_limit_after_sec}. */
  OVER_LIMIT,
  /** The window in which it may run has ended. */
  WINDOW_ENDED
}
