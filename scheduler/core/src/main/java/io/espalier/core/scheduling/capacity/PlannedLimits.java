package io.espalier.core.scheduling.capacity;

import io.espalier.core.config.Resource;
import io.espalier.core.config.ResourceCatalog;
import io.espalier.core.topology.Topology;

/**
 * The limits of the nodes of a tree that need not be in force, with all that changes limits: what
 * {@link EffectiveLimits} would have once it is. Computed when asked. Immutable.
 */
public final class PlannedLimits {
  private final Topology topology;
  private final ResourceCatalog catalog;
  private final ConfiguredLimits configured;
  private final LimitTable table;
  private final LimitFactors factors;
  private final boolean hasHealth;

  /**
   * @param table must not be modified afterwards
   */
  public PlannedLimits(
      Topology topology, ResourceCatalog catalog, ConfiguredLimits configured, LimitTable table) {
    this.topology = topology;
    this.catalog = catalog;
    this.configured = configured;
    this.table = table;
    factors = new LimitFactors(topology, catalog);
    factors.set(table.factors());
    hasHealth = !table.health().isEmpty();
  }

  /** Returns the limit of a resource on a node of its level. */
  public int of(int node, int resource) {
    int limit = configured.of(node, resource);
    if (!table.hasOverrides() && !hasHealth) {
      return factors.limit(limit, node, resource);
    }
    Resource of = catalog.get(resource);
    String name = topology.name(node);
    int base = table.limit(topology.levels().name(of.level()), of.name(), name, limit);
    HealthLimit health = table.healthOn(of.name(), name);
    int least = health == null ? HealthLimit.WHOLE : health.limit();
    return Math.min(factors.limit(base, node, resource), least);
  }
}
