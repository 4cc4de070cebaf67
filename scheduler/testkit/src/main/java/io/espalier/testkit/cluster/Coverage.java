package io.espalier.testkit.cluster;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** How often everything has happened. Not thread-safe. */
public final class Coverage {
  private final Map<Happening, Long> counts = new EnumMap<>(Happening.class);

  void happened(Happening what) {
    counts.merge(what, 1L, Long::sum);
  }

  void add(Coverage other) {
    other.counts.forEach((what, times) -> counts.merge(what, times, Long::sum));
  }

  /** How often that happened. */
  public long of(Happening what) {
    return counts.getOrDefault(what, 0L);
  }

  /** What never happened: a suite of more than a few lives must not have any. */
  public List<Happening> never() {
    List<Happening> never = new ArrayList<>();
    for (Happening what : Happening.values()) {
      if (of(what) == 0) {
        never.add(what);
      }
    }
    return never;
  }

  /** A line for each. */
  public List<String> lines() {
    List<String> lines = new ArrayList<>();
    for (Happening what : Happening.values()) {
      String words = what.name().toLowerCase(Locale.ROOT).replace('_', ' ');
      lines.add(String.format(Locale.ROOT, "%,15d  %s", of(what), words));
    }
    return lines;
  }
}
