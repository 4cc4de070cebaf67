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
  public void keep(SchedulingState world) {
    for (Resource resource : world.config().settings().resources().all()) {
      PeakUsage peak = peak(world, resource);
      before.put(new Name(peak.level(), peak.resource()), peak);
    }
  }

  private PeakUsage peak(SchedulingState world, Resource resource) {
    String level = world.topology.levels().name(resource.level());
    PeakUsage old = before.get(new Name(level, resource.name()));
    int node = world.ledger.peakNode(resource.index());
    int used = world.ledger.peakUsed(resource.index());
    if (node < 0 || (old != null && old.used() >= used)) {
      return old != null ? old : new PeakUsage(level, resource.name(), 0, resource.limit(), "");
    }
    return new PeakUsage(
        level,
        resource.name(),
        used,
        world.ledger.peakLimit(resource.index()),
        world.topology.name(node));
  }

  /** Returns the peaks of the configured node resources, in their order; workers have no nodes. */
  public List<PeakUsage> of(SchedulingState world) {
    List<PeakUsage> peaks = new ArrayList<>();
    for (Resource resource : world.config().settings().resources().all()) {
      if (resource.level() != world.topology.levels().worker()) {
        peaks.add(peak(world, resource));
      }
    }
    return peaks;
  }
}
