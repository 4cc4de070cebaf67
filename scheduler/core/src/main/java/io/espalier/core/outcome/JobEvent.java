package io.espalier.core.outcome;

/** The events that change the {@link JobFlags} of a job. */
public enum JobEvent {
  /** An operator pauses it, with or without an expiry. */
  PAUSE,
  /** Its pause has expired. */
  PAUSE_ENDS,
  /** An operator stops it. */
  STOP,
  /** An operator resumes it: ends a pause, a stop, a failure, or an early success. */
  RESUME,
  /** An operator forgives some of its tasks. */
  FORGIVE,
  /** An operator reruns some of its tasks. */
  RERUN,
  /** Its failure rule is violated. */
  RULE_BROKEN
}
