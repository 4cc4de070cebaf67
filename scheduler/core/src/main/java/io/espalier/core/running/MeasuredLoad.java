package io.espalier.core.running;

/**
 * How much of its own capacity a worker has measured to be in use, by whomever, in thousandths.
 *
 * @param cpu negative: unknown
 * @param memory negative: unknown
 */
public record MeasuredLoad(int cpu, int memory) {
  /** The thousandths of a capacity that is in use as a whole. */
  public static final int FULL = 1_000;

  /** Nothing is known. */
  public static final MeasuredLoad UNKNOWN = new MeasuredLoad(-1, -1);

  public MeasuredLoad {
    cpu = Math.max(-1, Math.min(FULL, cpu));
    memory = Math.max(-1, Math.min(FULL, memory));
  }

  /** Returns the greater of the two; negative: both are unknown. */
  public int fullest() {
    return Math.max(cpu, memory);
  }
}
