package io.espalier.core.scheduling.util;

/** Timers go by ticks: what is due within a tick happens at its end. */
public final class Ticks {
  /** The length of a tick. */
  public static final int MILLIS = 10;

  private Ticks() {}

  /** The tick in which an instant lies, or which begins at it. */
  public static long floor(long millis) {
    return Math.floorDiv(millis, (long) MILLIS);
  }

  /** The first tick that is not before an instant. */
  public static long ceil(long millis) {
    return -Math.floorDiv(-millis, (long) MILLIS);
  }
}
