package io.espalier.core.api;

import java.util.List;
import java.util.Map;

/**
 * How many nodes of each level are in which status, for one job (docs/design/bistro.md#histograms).
 *
 * @param levels level name to status bits (docs/design/bistro.md#status-bits) to bucket
 */
public record Histogram(String job, Map<String, Map<Integer, Bucket>> levels) {

  /**
   * Nodes with the same bits.
   *
   * @param samples some of their names, at most as many as were asked for
   */
  public record Bucket(long count, List<String> samples) {
    public Bucket {
      samples = List.copyOf(samples);
    }
  }
}
