package io.espalier.testkit.cluster;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Counts how often each event has happened. Not thread-safe. */
public final class Coverage {
  private final Map<SimulationEvent, Long> counts = new EnumMap<>(SimulationEvent.class);

  void happened(SimulationEvent what) {
    counts.merge(what, 1L, Long::sum);
  }

  public void add(Coverage other) {
    other.counts.forEach((what, times) -> counts.merge(what, times, Long::sum));
  }

  /** Returns how often the event happened. */
  public long of(SimulationEvent what) {
    return counts.getOrDefault(what, 0L);
  }

  /** Returns the events that never happened; a suite of more than a few lives must have none. */
  public List<SimulationEvent> never() {
    List<SimulationEvent> never = new ArrayList<>();
    for (SimulationEvent what : SimulationEvent.values()) {
      if (of(what) == 0) {
        never.add(what);
      }
    }
    return never;
  }

  /** Returns a line for each event. */
  public List<String> lines() {
    List<String> lines = new ArrayList<>();
    for (SimulationEvent what : SimulationEvent.values()) {
      String words = what.name().toLowerCase(Locale.ROOT).replace('_', ' ');
      lines.add(String.format(Locale.ROOT, "%,15d  %s", of(what), words));
    }
    return lines;
  }
}
