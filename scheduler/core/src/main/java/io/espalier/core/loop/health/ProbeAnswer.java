package io.espalier.core.loop.health;

import java.util.List;

/**
 * Values of a probe.
 *
 * @param probe the name of the probe
 * @param samples at most one per node; nodes may be unknown
 * @param problem why there are no values, or what is wrong with some; empty: nothing
 */
public record ProbeAnswer(String probe, List<Sample> samples, String problem) {
  public ProbeAnswer {
    samples = List.copyOf(samples);
  }

  /**
   * A value of one node.
   *
   * @param value finite
   * @param atMillis when it was sampled, epoch milliseconds; not in the future
   */
  public record Sample(String node, double value, long atMillis) {
    public Sample {
      if (!Double.isFinite(value)) {
        throw new IllegalArgumentException("a value of " + value);
      }
    }
  }
}
