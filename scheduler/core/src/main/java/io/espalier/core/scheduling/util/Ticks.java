package io.espalier.core.scheduling.util;

/** The unit of timers: an event that is due within a tick happens at the end of the tick. */
public final class Ticks {
  /** The length of a tick in milliseconds. */
  public static final int MILLIS = 10;

  private Ticks() {}

  /** Returns the tick that contains an instant, or that begins at it. */
  public static long floor(long millis) {
    return Math.floorDiv(millis, (long) MILLIS);
  }

  /** Returns the first tick that does not begin before an instant. */
  public static long ceil(long millis) {
    return -Math.floorDiv(-millis, (long) MILLIS);
  }
}
