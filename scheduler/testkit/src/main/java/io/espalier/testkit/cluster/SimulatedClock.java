package io.espalier.testkit.cluster;

/** A host's clock: starts at any value, runs slightly too fast or too slow, and never jumps. */
final class SimulatedClock {
  private final long offset;
  private final double rate;

  SimulatedClock(long offset, double rate) {
    this.offset = offset;
    this.rate = rate;
  }

  long local(long trueTime) {
    return offset + (long) Math.floor(trueTime * rate);
  }

  /** Returns the first true instant at which the clock shows {@code local}. */
  long trueTime(long local) {
    return (long) Math.ceil((local - offset) / rate);
  }
}
