package io.espalier.core.scheduling.job;

import io.espalier.core.api.Explanation.Kind;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;

/** The blocked jobs, known or not, each with all its reasons. */
public final class JobBlocks {
  private final Map<String, EnumMap<Kind, String>> closed = new HashMap<>();

  public void close(String job, Kind kind, String why) {
    closed.computeIfAbsent(job, j -> new EnumMap<>(Kind.class)).put(kind, why);
  }

  public void reopen(String job, Kind kind) {
    EnumMap<Kind, String> reasons = closed.get(job);
    if (reasons != null) {
      reasons.remove(kind);
      if (reasons.isEmpty()) {
        closed.remove(job);
      }
    }
  }

  public boolean isClosed(String job) {
    return closed.containsKey(job);
  }

  /** Returns the reasons in a fixed order; empty: the job is not blocked. */
  public Map<Kind, String> reasons(String job) {
    EnumMap<Kind, String> reasons = closed.get(job);
    return reasons == null ? Map.of() : reasons;
  }
}
