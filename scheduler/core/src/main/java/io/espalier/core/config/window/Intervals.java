package io.espalier.core.config.window;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Instants, as disjoint intervals [from, to) of epoch milliseconds in rising order. Immutable. */
final class Intervals {
  private static final Intervals NONE = new Intervals(new long[0]);

  /** Begin and end of each in turn; neighbours do not touch. */
  private final long[] bounds;

  private Intervals(long[] bounds) {
    this.bounds = bounds;
  }

  static Intervals of(long from, long to) {
    return from < to ? new Intervals(new long[] {from, to}) : NONE;
  }

  /** Returns all instants of some intervals, which may overlap and come in any order. */
  static Intervals union(List<long[]> some) {
    List<long[]> sorted = new ArrayList<>(some);
    sorted.sort((a, b) -> Long.compare(a[0], b[0]));
    long[] bounds = new long[2 * sorted.size()];
    int size = 0;
    for (long[] each : sorted) {
      if (each[0] >= each[1]) {
        continue;
      }
      if (size > 0 && each[0] <= bounds[size - 1]) {
        bounds[size - 1] = Math.max(bounds[size - 1], each[1]);
      } else {
        bounds[size++] = each[0];
        bounds[size++] = each[1];
      }
    }
    return new Intervals(Arrays.copyOf(bounds, size));
  }

  Intervals and(Intervals other) {
    List<long[]> both = new ArrayList<>();
    int i = 0;
    int j = 0;
    while (i < bounds.length && j < other.bounds.length) {
      both.add(
          new long[] {
            Math.max(bounds[i], other.bounds[j]), Math.min(bounds[i + 1], other.bounds[j + 1])
          });
      if (bounds[i + 1] < other.bounds[j + 1]) {
        i += 2;
      } else {
        j += 2;
      }
    }
    return union(both);
  }

  Intervals without(Intervals other) {
    if (bounds.length == 0 || other.bounds.length == 0) {
      return this;
    }
    List<long[]> rest = new ArrayList<>();
    long from = Long.MIN_VALUE;
    for (int i = 0; i < other.bounds.length; i += 2) {
      rest.add(new long[] {from, other.bounds[i]});
      from = other.bounds[i + 1];
    }
    rest.add(new long[] {from, Long.MAX_VALUE});
    return and(union(rest));
  }

  /** Returns the number of intervals. */
  int count() {
    return bounds.length / 2;
  }

  long from(int interval) {
    return bounds[2 * interval];
  }

  long to(int interval) {
    return bounds[2 * interval + 1];
  }
}
