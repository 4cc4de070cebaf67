package io.espalier.server.process;

import java.util.function.LongSupplier;

/**
 * For how long a leadership is certain without asking anybody. Each proof counts from before it was
 * asked for, and holds for the session's time-out less a margin: by then the servers cannot have
 * given the lead to another, whatever happened in between to this process or its network.
 *
 * <p>Time is the larger of what the monotonic clock and the wall clock say has passed: one of them
 * goes on while a machine sleeps, and a jump can only make the leadership end early. Thread-safe.
 */
public final class Validity {
  /** The reading of both clocks, in milliseconds. */
  public record Moment(long monotonicMillis, long wallMillis) {
    public long millisSince(Moment earlier) {
      return Math.max(monotonicMillis - earlier.monotonicMillis, wallMillis - earlier.wallMillis);
    }
  }

  private record Proof(Moment asked, long holdsMillis) {}

  private final LongSupplier monotonicMillis;
  private final LongSupplier wallMillis;
  private volatile Proof proof = new Proof(new Moment(0, 0), 0);
  private boolean ended;

  /** By two clocks, in milliseconds. */
  public Validity(LongSupplier monotonicMillis, LongSupplier wallMillis) {
    this.monotonicMillis = monotonicMillis;
    this.wallMillis = wallMillis;
  }

  /** By the clocks of this machine. */
  public static Validity ofSystemClocks() {
    return new Validity(() -> System.nanoTime() / 1_000_000, System::currentTimeMillis);
  }

  /**
   * What is taken off a session: servers learn of a sign of life up to half a tick late, and clocks
   * may differ in their rates.
   */
  public static long marginMillis(long sessionMillis) {
    return Math.min(sessionMillis / 2, Math.max(2_000, sessionMillis / 5));
  }

  /** To be taken before a proof is asked for. */
  public Moment now() {
    return new Moment(monotonicMillis.getAsLong(), wallMillis.getAsLong());
  }

  /** We led at some moment after {@code asked}: nothing any more once it has ended. */
  public void proven(Moment asked, long sessionMillis) {
    provenFor(asked, sessionMillis - marginMillis(sessionMillis));
  }

  /**
   * We led at some moment after {@code asked}, and nobody else can for so long after it: nothing
   * any more once it has ended.
   */
  public synchronized void provenFor(Moment asked, long millis) {
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
