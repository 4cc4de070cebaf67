package io.espalier.core.scheduling;

import io.espalier.core.config.Resource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The highest use of each resource over all worlds so far. */
final class Peaks {
  private record Name(String level, String resource) {}

  private final Map<Name, Peak> before = new LinkedHashMap<>();

  /** Keeps what a world has seen, when it is left. */
  void keep(World world) {
    for (Resource resource : world.config().settings().resources().all()) {
      Peak peak = peak(world, resource);
      before.put(new Name(peak.level(), peak.resource()), peak);
    }
  }

  private Peak peak(World world, Resource resource) {
    String level = world.topology.levels().name(resource.level());
    Peak old = before.get(new Name(level, resource.name()));
    int node = world.ledger.peakNode(resource.index());
    int used = world.ledger.peakUsed(resource.index());
    if (node < 0 || (old != null && old.used() >= used)) {
      return old != null ? old : new Peak(level, resource.name(), 0, resource.limit(), "");
    }
    return new Peak(
        level,
        resource.name(),
        used,
        world.ledger.peakLimit(resource.index()),
        world.topology.name(node));
  }

  /** Of the resources that are configured, in their order; workers have no nodes. */
  List<Peak> of(World world) {
    List<Peak> peaks = new ArrayList<>();
    for (Resource resource : world.config().settings().resources().all()) {
      if (resource.level() != world.topology.levels().worker()) {
        peaks.add(peak(world, resource));
      }
    }
    return peaks;
  }
}
