package io.espalier.core.loop.watch;

import io.espalier.core.config.Config;
import io.espalier.core.loop.state.NameOrderedMap;
import io.espalier.core.outcome.JobStateRecord;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The durable states of jobs, which are what monitors see. The view of the configured jobs is made
 * again only when one of them has changed.
 */
final class DurableJobStates {
  private final Map<String, JobStateRecord> all = new HashMap<>();
  private @Nullable Config config;
  private String[] names = {};
  private JobStateRecord[] values = {};
  private Map<String, JobStateRecord> view = Map.of();

  /** Whether {@link #view} has the current {@link #values}. */
  private boolean isFresh;

  void put(JobStateRecord state) {
    all.put(state.job(), state);
    int at = Arrays.binarySearch(names, state.job());
    if (at >= 0) {
      values[at] = state;
      isFresh = false;
    } else {
      config = null;
    }
  }

  void remove(String job) {
    all.remove(job);
    config = null;
  }

  /** Returns the states of the jobs of a configuration, by name; immutable. */
  @SuppressWarnings("ReferenceEquality") // Each configuration is a new object.
  Map<String, JobStateRecord> of(Config inForce) {
    if (config != inForce) {
      List<String> known = new ArrayList<>();
      for (String job : inForce.jobs().keySet()) {
        if (all.containsKey(job)) {
          known.add(job);
        }
      }
      names = known.toArray(new String[0]);
      values = known.stream().map(all::get).toArray(JobStateRecord[]::new);
      config = inForce;
      isFresh = false;
    }
    if (!isFresh) {
      view = new NameOrderedMap<>(names, values.clone());
      isFresh = true;
    }
    return view;
  }
}
