package io.espalier.core.outcome;

/** What changes the {@link JobFlags} of a job. */
public enum JobEvent {
  /** An operator pauses it, for a time or for good. */
  PAUSE,
  /** The time of a pause is over. */
  PAUSE_ENDS,
  /** An operator stops it. */
  STOP,
  /** An operator lets it go on: ends a pause, a stop, a failure, or an early success. */
  RESUME,
  /** An operator forgives tasks of it. */
  FORGIVE,
  /** An operator lets tasks of it run again. */
  RERUN,
  /** Its failure rule is broken. */
  RULE_BROKEN
}
