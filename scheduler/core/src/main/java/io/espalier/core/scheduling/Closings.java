package io.espalier.core.scheduling;

import io.espalier.core.api.Explanation.Kind;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;

/** Jobs that start nothing, known or not, each with all its reasons. */
final class Closings {
  private final Map<String, EnumMap<Kind, String>> closed = new HashMap<>();

  void close(String job, Kind kind, String why) {
    closed.computeIfAbsent(job, j -> new EnumMap<>(Kind.class)).put(kind, why);
  }

  void reopen(String job, Kind kind) {
    EnumMap<Kind, String> reasons = closed.get(job);
    if (reasons != null) {
      reasons.remove(kind);
      if (reasons.isEmpty()) {
        closed.remove(job);
      }
    }
  }

  boolean isClosed(String job) {
    return closed.containsKey(job);
  }

  /** In a fixed order; empty: it is not closed. */
  Map<Kind, String> reasons(String job) {
    EnumMap<Kind, String> reasons = closed.get(job);
    return reasons == null ? Map.of() : reasons;
  }
}
