package io.espalier.core.scheduling.gate;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * All closed gates, by kind and name of the job. {@link JobGates} has the bits that follow from
 * them. This class only keeps them: who closes a gate also opens it, when its end is {@link #due}
 * or earlier.
 */
public final class GateTable {
  private final EnumMap<GateKind, Map<String, Gate>> closed = new EnumMap<>(GateKind.class);

  /** No gate ends before this instant. */
  private long next = Long.MAX_VALUE;

  public GateTable() {
    for (GateKind kind : GateKind.values()) {
      closed.put(kind, new HashMap<>());
    }
  }

  private Map<String, Gate> all(GateKind kind) {
    return closed.getOrDefault(kind, Map.of());
  }

  /** Closes a gate; it replaces an older one of the same kind and job. */
  public void close(Gate gate) {
    all(gate.kind()).put(gate.job(), gate);
    if (gate.untilMillis() > 0) {
      next = Math.min(next, gate.untilMillis());
    }
  }

  /** Opens a gate; returns the one that was closed, or null. */
  public @Nullable Gate open(GateKind kind, String job) {
    return all(kind).remove(job);
  }

  /** Returns a closed gate, or null. */
  public @Nullable Gate get(GateKind kind, String job) {
    return all(kind).get(job);
  }

  /** Returns whether a job is closed for any reason. */
  public boolean isClosed(String job) {
    for (Map<String, Gate> gates : closed.values()) {
      if (!gates.isEmpty() && gates.containsKey(job)) {
        return true;
      }
    }
    return false;
  }

  /** Returns whether a gate ends a job: it has failed, succeeded, or missed its deadline. */
  public boolean isEnded(String job) {
    for (Map.Entry<GateKind, Map<String, Gate>> gates : closed.entrySet()) {
      if (gates.getKey().endsJob() && gates.getValue().containsKey(job)) {
        return true;
      }
    }
    return false;
  }

  /** Returns the closed gates of a job, in the order of the kinds. */
  public List<Gate> of(String job) {
    List<Gate> gates = new ArrayList<>();
    for (Map<String, Gate> ofKind : closed.values()) {
      Gate gate = ofKind.get(job);
      if (gate != null) {
        gates.add(gate);
      }
    }
    return gates;
  }

  /** Returns the closed gates of a kind, unordered, as an immutable copy. */
  public Collection<Gate> of(GateKind kind) {
    return List.copyOf(all(kind).values());
  }

  /** Returns an instant before which no gate is to be opened; {@link Long#MAX_VALUE}: none is. */
  public long nextMillis() {
    return next;
  }

  /**
   * Returns the gates whose end has come, in the order of their names; the caller opens them. Costs
   * a pass over all gates when one may be due.
   */
  public List<Gate> due(long nowMillis) {
    if (nowMillis < next) {
      return List.of();
    }
    next = Long.MAX_VALUE;
    List<Gate> due = new ArrayList<>();
    for (Map<String, Gate> gates : closed.values()) {
      for (Gate gate : gates.values()) {
        if (gate.untilMillis() > nowMillis) {
          next = Math.min(next, gate.untilMillis());
        } else if (gate.untilMillis() > 0) {
          due.add(gate);
        }
      }
    }
    due.sort(Comparator.comparing(Gate::job).thenComparing(Gate::kind));
    return due;
  }
}
