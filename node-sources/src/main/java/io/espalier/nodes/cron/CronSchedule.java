package io.espalier.nodes.cron;

import java.util.OptionalLong;

/** A set of instants in whole seconds since 1970. Immutable; safe for any number of threads. */
public interface CronSchedule {
  /** The last second of any schedule: the end of the year 9999 in UTC. */
  long LAST = 253_402_300_799L;

  /** Returns the first event at or after {@code epochSecond}; empty when no more follow. */
  OptionalLong next(long epochSecond);
}
