package io.espalier.core.scheduling.query;

import io.espalier.core.config.Resource;
import io.espalier.core.scheduling.state.SchedulingState;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Tracks the peak usage of each resource across all scheduling states so far. */
public final class PeakUsageTracker {
  private record Name(String level, String resource) {}

  private final Map<Name, PeakUsage> before = new LinkedHashMap<>();

  /** Keeps the peaks of a state that is going out of force. */
  public void keep(SchedulingState state) {
    for (Resource resource : state.config().settings().resources().all()) {
      PeakUsage peak = peak(state, resource);
      before.put(new Name(peak.level(), peak.resource()), peak);
    }
  }

  private PeakUsage peak(SchedulingState state, Resource resource) {
    String level = state.topology.levels().name(resource.level());
    PeakUsage old = before.get(new Name(level, resource.name()));
    int node = state.ledger.peakNode(resource.index());
    int used = state.ledger.peakUsed(resource.index());
    if (node < 0 || (old != null && old.used() >= used)) {
      return old != null ? old : new PeakUsage(level, resource.name(), 0, resource.limit(), "");
    }
    return new PeakUsage(
        level,
        resource.name(),
        used,
        state.ledger.peakLimit(resource.index()),
        state.topology.name(node));
  }

  /** Returns the peaks of the configured node resources, in their order; workers have no nodes. */
  public List<PeakUsage> of(SchedulingState state) {
    List<PeakUsage> peaks = new ArrayList<>();
    for (Resource resource : state.config().settings().resources().all()) {
      if (resource.level() != state.topology.levels().worker()) {
        peaks.add(peak(state, resource));
      }
    }
    return peaks;
  }
}
