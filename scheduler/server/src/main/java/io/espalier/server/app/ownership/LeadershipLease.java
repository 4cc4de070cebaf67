package io.espalier.server.app.ownership;

import io.espalier.core.protocol.ClockReading;
import io.espalier.worker.process.os.Uptime;
import java.io.IOException;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Computes for how long a leadership is certain without another request. Each proof counts from
 * before it was requested and is valid for the session time-out minus a margin. Until then the
 * servers cannot have given the leadership to another scheduler, whatever happened in between to
 * this process or its network.
 *
 * <p>The elapsed time is the maximum of what three clocks report. The monotonic clock stands still
 * while a machine is suspended, and the wall clock may be set back meanwhile; the uptime, where
 * available, does neither. A jump of a clock can only end the leadership early. Thread-safe.
 */
public final class LeadershipLease {
  private static final Logger LOG = LoggerFactory.getLogger(LeadershipLease.class);

  private record Proof(ClockReading asked, long holdsMillis) {}

  private final LongSupplier monotonicMillis;
  private final LongSupplier uptimeMillis;
  private final LongSupplier wallMillis;
  private volatile Proof proof = new Proof(new ClockReading(0, 0, 0), 0);
  private boolean ended;

  /** Creates a lease that reads three clocks, in milliseconds. */
  public LeadershipLease(
      LongSupplier monotonicMillis, LongSupplier uptimeMillis, LongSupplier wallMillis) {
    this.monotonicMillis = monotonicMillis;
    this.uptimeMillis = uptimeMillis;
    this.wallMillis = wallMillis;
  }

  /** Creates a lease that reads the clocks of this machine. */
  public static LeadershipLease ofSystemClocks() {
    return new LeadershipLease(
        () -> System.nanoTime() / 1_000_000, uptimeOfThisMachine(), System::currentTimeMillis);
  }

  /**
   * Returns the uptime clock, or a constant when the machine has none, so that the other two clocks
   * count.
   */
  private static LongSupplier uptimeOfThisMachine() {
    Uptime uptime;
    try {
      uptime = new Uptime();
    } catch (IOException e) {
      LOG.warn("a suspension counts by the wall clock alone: {}", e.getMessage());
      return () -> 0;
    }
    return () -> {
      try {
        return uptime.millis();
      } catch (IOException e) {
        LOG.error("nothing is certain of the leadership: {}", e.getMessage());
        return Long.MAX_VALUE / 2;
      }
    };
  }

  /**
   * Returns the margin to subtract from a session: servers notice a sign of life up to half a tick
   * late, and clocks may run at different rates.
   */
  public static long marginMillis(long sessionMillis) {
    return Math.min(sessionMillis / 2, Math.max(2_000, sessionMillis / 5));
  }

  /** Reads the clocks. Callers do this before they request a proof. */
  public ClockReading now() {
    return new ClockReading(
        monotonicMillis.getAsLong(), uptimeMillis.getAsLong(), wallMillis.getAsLong());
  }

  /**
   * Records that this scheduler led at some moment after {@code asked}. Has no effect once the
   * lease has ended.
   */
  public void proven(ClockReading asked, long sessionMillis) {
    provenFor(asked, sessionMillis - marginMillis(sessionMillis));
  }

  /**
   * Records that this scheduler led at some moment after {@code asked} and that no other scheduler
   * can lead for {@code millis} after it. Has no effect once the lease has ended.
   */
  public synchronized void provenFor(ClockReading asked, long millis) {
    if (!ended) {
      proof = new Proof(asked, millis);
    }
  }

  /** Ends the lease for good, because another scheduler may have led since. */
  public synchronized void end() {
    ended = true;
    proof = new Proof(now(), 0);
  }

  /** Returns for how many more milliseconds the leadership is certain; 0 or less: it is not. */
  public long remainingMillis() {
    Proof newest = proof;
    return newest.holdsMillis == 0 ? 0 : newest.holdsMillis - now().millisSince(newest.asked);
  }
}
