package io.espalier.nodes.cron;

import java.util.OptionalLong;

/** A set of instants in whole seconds since 1970. Immutable; safe for any number of threads. */
public interface Schedule {
  /** The last second that a schedule knows: the end of the year 9999 in UTC. */
  long LAST = 253_402_300_799L;

  /** The first event at or after {@code epochSecond}; empty when there is none any more. */
  OptionalLong next(long epochSecond);
}
