package io.espalier.core.loop.state;

import io.espalier.core.running.Counters;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.TreeMap;

/** How fast the counters of one job grew in the last minute. */
final class CounterRates {
  private static final long MINUTE = 60_000;

  /** The shortest time from which a rate can be derived. */
  private static final long SHORTEST = 5_000;

  private static final long TOGETHER = 1_000;

  private final ArrayDeque<Growth> newest = new ArrayDeque<>();
  private long first = Long.MIN_VALUE;

  private record Growth(long atMillis, Counters more) {}

  void add(Counters more, long nowMillis) {
    first = first == Long.MIN_VALUE ? nowMillis : first;
    drop(nowMillis);
    Growth last = newest.peekLast();
    if (last != null && nowMillis - last.atMillis() < TOGETHER) {
      newest.removeLast();
      newest.add(new Growth(last.atMillis(), last.more().plus(more)));
    } else {
      newest.add(new Growth(nowMillis, more));
    }
  }

  private void drop(long nowMillis) {
    while (!newest.isEmpty() && newest.element().atMillis() <= nowMillis - MINUTE) {
      newest.remove();
    }
  }

  /** Returns the growth per second by name; names that have not grown are missing. */
  Map<String, Double> perSecond(long nowMillis) {
    drop(nowMillis);
    if (newest.isEmpty()) {
      return Map.of();
    }
    Counters sums = Counters.NONE;
    for (Growth growth : newest) {
      sums = sums.plus(growth.more());
    }
    double seconds = Math.max(SHORTEST, Math.min(MINUTE, nowMillis - first)) / 1000.0;
    Map<String, Double> rates = new TreeMap<>();
    sums.values().forEach((name, value) -> rates.put(name, value / seconds));
    return rates;
  }
}
