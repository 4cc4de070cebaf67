package io.espalier.core.running;

/** Why a runner stopped a task that had not ended by itself. */
public enum StopReason {
  /** Somebody asked for it: an operator, or the scheduler because of an orphan. */
  REQUESTED,
  /** It ran longer than {@link InvocationLimits#timeoutMillis}. */
  TIMEOUT,
  /** The instant {@link InvocationLimits#deadlineMillis} came. */
  DEADLINE,
  /** It wrote nothing for {@link InvocationLimits#noOutputMillis}. */
  NO_OUTPUT,
  /** It went over its hard memory limit and the kernel killed it. */
  OUT_OF_MEMORY,
  /** Its runner ended, or was found to have ended. */
  SHUTDOWN,
  /** Its worker had lost touch with the scheduler for too long. */
  LEASE_LOST,
  /** More than the limit of something it held was in use for {@code kill_over_limit_after_sec}. */
  OVER_LIMIT
}
