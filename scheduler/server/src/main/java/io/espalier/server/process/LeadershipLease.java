package io.espalier.server.process;

import io.espalier.core.protocol.ClockReading;
import io.espalier.worker.process.Uptime;
import java.io.IOException;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * For how long a leadership is certain without asking anybody. Each proof counts from before it was
 * asked for, and holds for the session's time-out less a margin: by then the servers cannot have
 * given the lead to another, whatever happened in between to this process or its network.
 *
 * <p>Time is the largest of what three clocks say has passed. The monotonic one stands still while
 * a machine is suspended, the wall clock may be set back meanwhile; the uptime does neither, where
 * there is one. A jump can only make the leadership end early. Thread-safe.
 */
public final class LeadershipLease {
  private static final Logger LOG = LoggerFactory.getLogger(LeadershipLease.class);

  private record Proof(ClockReading asked, long holdsMillis) {}

  private final LongSupplier monotonicMillis;
  private final LongSupplier uptimeMillis;
  private final LongSupplier wallMillis;
  private volatile Proof proof = new Proof(new ClockReading(0, 0, 0), 0);
  private boolean ended;

  /** By three clocks, in milliseconds. */
  public LeadershipLease(
      LongSupplier monotonicMillis, LongSupplier uptimeMillis, LongSupplier wallMillis) {
    this.monotonicMillis = monotonicMillis;
    this.uptimeMillis = uptimeMillis;
    this.wallMillis = wallMillis;
  }

  /** By the clocks of this machine. */
  public static LeadershipLease ofSystemClocks() {
    return new LeadershipLease(
        () -> System.nanoTime() / 1_000_000, uptimeOfThisMachine(), System::currentTimeMillis);
  }

  /** Where there is none it stands still, so that the other two clocks count. */
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
   * What is taken off a session: servers learn of a sign of life up to half a tick late, and clocks
   * may differ in their rates.
   */
  public static long marginMillis(long sessionMillis) {
    return Math.min(sessionMillis / 2, Math.max(2_000, sessionMillis / 5));
  }

  /** To be taken before a proof is asked for. */
  public ClockReading now() {
    return new ClockReading(
        monotonicMillis.getAsLong(), uptimeMillis.getAsLong(), wallMillis.getAsLong());
  }

  /** We led at some moment after {@code asked}: nothing any more once it has ended. */
  public void proven(ClockReading asked, long sessionMillis) {
    provenFor(asked, sessionMillis - marginMillis(sessionMillis));
  }

  /**
   * We led at some moment after {@code asked}, and nobody else can for so long after it: nothing
   * any more once it has ended.
   */
  public synchronized void provenFor(ClockReading asked, long millis) {
    if (!ended) {
      proof = new Proof(asked, millis);
    }
  }

  /** Nothing is certain any more, nor will be: another may have led since. */
  public synchronized void end() {
    ended = true;
    proof = new Proof(now(), 0);
  }

  /** How much longer it is certain; 0 or less: it is not. */
  public long remainingMillis() {
    Proof newest = proof;
    return newest.holdsMillis == 0 ? 0 : newest.holdsMillis - now().millisSince(newest.asked);
  }
}
