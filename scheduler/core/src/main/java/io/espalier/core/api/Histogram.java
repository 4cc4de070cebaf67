package io.espalier.core.api;

import java.util.List;
import java.util.Map;

/**
 * How many nodes of each level are in which status, for one job (behaviour 9.5).
 *
 * @param levels level name to status bits (behaviour 6.1) to bucket
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
