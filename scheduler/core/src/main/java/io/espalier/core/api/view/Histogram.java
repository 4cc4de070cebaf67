package io.espalier.core.api.view;

import java.util.List;
import java.util.Map;

/**
 * The number of nodes per level and status, for one job (docs/design/bistro.md#histograms).
 *
 * @param levels maps level name to status bits (docs/design/bistro.md#status-bits) to bucket
 */
public record Histogram(String job, Map<String, Map<Integer, Bucket>> levels) {

  /**
   * Nodes with the same bits.
   *
   * @param samples some of their names, at most as many as requested
   */
  public record Bucket(long count, List<String> samples) {
    public Bucket {
      samples = List.copyOf(samples);
    }
  }
}
