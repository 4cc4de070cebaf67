package io.espalier.nodes.cron;

import java.util.OptionalLong;

/** Seconds since 1970, chosen by number; no time zone matters. */
record EpochSchedule(Selector seconds) implements Schedule {
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
