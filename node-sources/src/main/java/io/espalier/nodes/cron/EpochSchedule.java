package io.espalier.nodes.cron;

import java.util.OptionalLong;

/** A schedule that selects seconds since 1970 by number, independent of time zones. */
record EpochSchedule(Selector seconds) implements CronSchedule {
  @Override
  public OptionalLong next(long epochSecond) {
    Selector.Match match = seconds.next(epochSecond);
    return match.carry() ? OptionalLong.empty() : OptionalLong.of(match.value());
  }

  @Override
  public String toString() {
    return "epoch " + seconds;
  }
}
