package io.espalier.server.app.loop;

import java.time.Instant;
import java.time.InstantSource;
import java.util.function.LongSupplier;

/**
 * The machine's clock, except that it never goes back. After the machine's clock was set back, this
 * clock advances at half its pace until the machine's clock has caught up. A wait for an instant
 * therefore takes at most twice as long as intended. A clock that is set forward is followed
 * immediately. Not thread-safe.
 */
final class SteadyClock implements InstantSource {
  private static final long NANOS_PER_MILLI = 1_000_000;
  private static final long SLOWER = 2;

  private final InstantSource wall;
  private final LongSupplier nanos;
  private long latest;

  /** The value of {@link #nanos} at the beginning of the latest millisecond. */
  private long latestNanos;

  /**
   * @param nanos a monotonic clock, in nanoseconds since an arbitrary origin
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
