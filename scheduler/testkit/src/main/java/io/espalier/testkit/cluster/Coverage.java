package io.espalier.testkit.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** How often everything has happened. Not thread-safe. */
public final class Coverage {
  private static final Happening[] ALL = Happening.values();

  private final long[] counts = new long[ALL.length];

  void happened(Happening what) {
    counts[what.ordinal()]++;
  }

  void add(Coverage other) {
    for (int i = 0; i < counts.length; i++) {
      counts[i] += other.counts[i];
    }
  }

  /** How often that happened. */
  public long of(Happening what) {
    return counts[what.ordinal()];
  }

  /** What never happened: a suite of more than a few lives must not have any. */
  public List<Happening> never() {
    List<Happening> never = new ArrayList<>();
    for (Happening what : ALL) {
      if (counts[what.ordinal()] == 0) {
        never.add(what);
      }
    }
    return never;
  }

  /** A line for each. */
  public List<String> lines() {
    List<String> lines = new ArrayList<>();
    for (Happening what : ALL) {
      String words = what.name().toLowerCase(Locale.ROOT).replace('_', ' ');
      lines.add(String.format(Locale.ROOT, "%,15d  %s", counts[what.ordinal()], words));
    }
    return lines;
  }
}
