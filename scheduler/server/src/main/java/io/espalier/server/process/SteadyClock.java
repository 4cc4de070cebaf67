package io.espalier.server.process;

import java.time.Instant;
import java.time.InstantSource;
import java.util.function.LongSupplier;

/**
 * The machine's clock, but never back: after it was set back, time goes on at half its pace until
 * the machine's clock has caught up. So what waits for an instant waits at most twice as long as
 * was meant, by whatever the clock was set back. A clock that is set forward is followed at once.
 * Not thread-safe.
 */
final class SteadyClock implements InstantSource {
  private static final long NANOS_PER_MILLI = 1_000_000;
  private static final long SLOWER = 2;

  private final InstantSource wall;
  private final LongSupplier nanos;
  private long latest;

  /** What {@link #nanos} said when the latest millisecond began. */
  private long latestNanos;

  /**
   * @param nanos a clock that only goes on, in nanoseconds since whenever
   */
  SteadyClock(InstantSource wall, LongSupplier nanos) {
    this.wall = wall;
    this.nanos = nanos;
    latest = wall.millis();
    latestNanos = nanos.getAsLong();
  }

  @Override
  public long millis() {
    long shown = wall.millis();
    long passed = nanos.getAsLong();
    long more = (passed - latestNanos) / (SLOWER * NANOS_PER_MILLI);
    if (shown >= latest + more) {
      latest = shown;
      latestNanos = passed;
    } else {
      latest += more;
      latestNanos += more * SLOWER * NANOS_PER_MILLI;
    }
    return latest;
  }

  @Override
  public Instant instant() {
    return Instant.ofEpochMilli(millis());
  }
}
