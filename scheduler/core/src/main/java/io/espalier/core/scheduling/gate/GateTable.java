package io.espalier.core.scheduling.gate;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * All closed gates, by kind and by name of the job or node; one table serves all states of a core.
 * {@link JobGates} has the bits that follow from those of jobs, the index those of nodes. This
 * class only keeps them: who closes a gate also opens it, when its end is {@link #due} or earlier.
 */
public final class GateTable {
  private final EnumMap<GateKind, Map<Scope, Gate>> closed = new EnumMap<>(GateKind.class);

  /** By kind: an instant before which no gate ends; missing: none ever does. */
  private final EnumMap<GateKind, Long> next = new EnumMap<>(GateKind.class);

  public GateTable() {
    for (GateKind kind : GateKind.values()) {
      // In the order of closing: that of hash codes would differ from one process to the next.
      closed.put(kind, new LinkedHashMap<>());
    }
  }

  /** By name of the job, in the order of closing. */
  private final Map<String, StageGate> stages = new LinkedHashMap<>();

  private Map<Scope, Gate> all(GateKind kind) {
    return closed.getOrDefault(kind, Map.of());
  }

  /** Closes the later stages of a job; it replaces an older gate of that job. */
  public void close(StageGate gate) {
    stages.put(gate.job(), gate);
  }

  /** Opens all stages of a job. */
  public void openStages(String job) {
    stages.remove(job);
  }

  /** Returns the gate in front of the later stages of a job, or null. */
  public @Nullable StageGate stages(String job) {
    return stages.get(job);
  }

  /** Returns the jobs whose later stages are closed, as an immutable copy. */
  public List<String> staged() {
    return List.copyOf(stages.keySet());
  }

  /** Closes a gate; it replaces an older one of the same kind and scope. */
  public void close(Gate gate) {
    all(gate.kind()).put(gate.scope(), gate);
    if (gate.untilMillis() > 0) {
      endsAt(gate);
    }
  }

  private void endsAt(Gate gate) {
    next.merge(gate.kind(), gate.untilMillis(), Math::min);
  }

  /** Opens a gate; returns the one that was closed, or null. */
  public @Nullable Gate open(GateKind kind, Scope scope) {
    return all(kind).remove(scope);
  }

  /** Returns a closed gate, or null. */
  public @Nullable Gate get(GateKind kind, Scope scope) {
    return all(kind).get(scope);
  }

  /** Returns whether no gate of a kind is closed. */
  public boolean areOpen(GateKind kind) {
    return all(kind).isEmpty();
  }

  /** Returns whether a job or node is closed for any reason but a lack of room. */
  public boolean isClosed(Scope scope) {
    for (Map.Entry<GateKind, Map<Scope, Gate>> gates : closed.entrySet()) {
      if (!gates.getValue().isEmpty()
          && gates.getValue().containsKey(scope)
          && !gates.getKey().isLackOfRoom()) {
        return true;
      }
    }
    return false;
  }

  /** Returns whether a gate ends a job: it has failed, succeeded, or missed its deadline. */
  public boolean isEnded(String job) {
    for (Gate gate : of(Scope.job(job))) {
      if (gate.kind().endsJob()) {
        return true;
      }
    }
    return false;
  }

  /** Returns the closed gates of a job or node, in the order of the kinds. */
  public List<Gate> of(Scope scope) {
    List<Gate> gates = new ArrayList<>();
    for (Map<Scope, Gate> ofKind : closed.values()) {
      Gate gate = ofKind.isEmpty() ? null : ofKind.get(scope);
      if (gate != null) {
        gates.add(gate);
      }
    }
    return gates;
  }

  /** Returns the closed gates of a kind, in the order of closing, as an immutable copy. */
  public Collection<Gate> of(GateKind kind) {
    return List.copyOf(all(kind).values());
  }

  /** Returns the jobs or nodes that are closed, each at least once. */
  public List<Scope> closed(Scope.Kind kind) {
    List<Scope> scopes = new ArrayList<>();
    closed.forEach(
        (each, gates) -> scopes.addAll(each.closes() == kind ? gates.keySet() : List.<Scope>of()));
    return scopes;
  }

  /**
   * Returns an instant before which no gate of a kind is to be opened; {@link Long#MAX_VALUE}: none
   * is.
   */
  public long nextMillis(GateKind kind) {
    return next.getOrDefault(kind, Long.MAX_VALUE);
  }

  /**
   * Returns the gates of a kind whose end has come, in the order of their names; the caller opens
   * them. Costs a pass over all gates of the kind when one may be due.
   */
  public List<Gate> due(GateKind kind, long nowMillis) {
    if (nowMillis < nextMillis(kind)) {
      return List.of();
    }
    next.remove(kind);
    List<Gate> due = new ArrayList<>();
    for (Gate gate : all(kind).values()) {
      if (gate.untilMillis() > nowMillis) {
        endsAt(gate);
      } else if (gate.untilMillis() > 0) {
        due.add(gate);
      }
    }
    due.sort(Comparator.comparing(Gate::name).thenComparing(gate -> gate.scope().level()));
    return due;
  }
}
