package io.espalier.server.ha;

import java.util.function.LongSupplier;

/**
 * For how long a leadership is certain without asking anybody. Each proof counts from before it was
 * asked for, and holds for the session's time-out less a margin: by then the servers cannot have
 * given the lead to another, whatever happened in between to this process or its network.
 *
 * <p>Time is the larger of what the monotonic clock and the wall clock say has passed: one of them
 * goes on while a machine sleeps, and a jump can only make the leadership end early. Thread-safe.
 */
final class Validity {
  /** The reading of both clocks, in milliseconds. */
  record Moment(long monotonicMillis, long wallMillis) {
    long millisSince(Moment earlier) {
      return Math.max(monotonicMillis - earlier.monotonicMillis, wallMillis - earlier.wallMillis);
    }
  }

  private record Proof(Moment asked, long holdsMillis) {}

  private final LongSupplier monotonicMillis;
  private final LongSupplier wallMillis;
  private volatile Proof proof = new Proof(new Moment(0, 0), 0);

  Validity(LongSupplier monotonicMillis, LongSupplier wallMillis) {
    this.monotonicMillis = monotonicMillis;
    this.wallMillis = wallMillis;
  }

  static Validity ofSystemClocks() {
    return new Validity(() -> System.nanoTime() / 1_000_000, System::currentTimeMillis);
  }

  /**
   * What is taken off a session: servers learn of a sign of life up to half a tick late, and clocks
   * may differ in their rates.
   */
  static long marginMillis(long sessionMillis) {
    return Math.min(sessionMillis / 2, Math.max(2_000, sessionMillis / 5));
  }

  /** To be taken before a proof is asked for. */
  Moment now() {
    return new Moment(monotonicMillis.getAsLong(), wallMillis.getAsLong());
  }

  /** We led at some moment after {@code asked}. */
  void proven(Moment asked, long sessionMillis) {
    proof = new Proof(asked, sessionMillis - marginMillis(sessionMillis));
  }

  /** Nothing is certain any more. */
  void end() {
    proof = new Proof(now(), 0);
  }

  /** How much longer it is certain; 0 or less: it is not. */
  long remainingMillis() {
    Proof newest = proof;
    return newest.holdsMillis == 0 ? 0 : newest.holdsMillis - now().millisSince(newest.asked);
  }
}
