package io.espalier.core.scheduling.capacity;

import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.status.store.LimitOverride;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What changes limits beside the configuration, by name: the operators' overrides, factors, what
 * health leaves, and caps of jobs and queues. One table serves all states of a core. The base of
 * the limit of a resource on a node is, in order of precedence: the override for the node, the
 * override for its level, the configured limit of the node, the configured limit of its level
 * ({@link ConfiguredLimits}).
 */
public final class LimitTable {
  private final Map<LimitOverride.Key, LimitOverride> overrides = new LinkedHashMap<>();
  private final Map<String, LimitFactor> factors = new LinkedHashMap<>();
  private final Map<String, RunningCap> caps = new LinkedHashMap<>();

  /** By resource and node; the empty node is for all of its level that have none of their own. */
  private final Map<String, Map<String, HealthLimit>> health = new LinkedHashMap<>();

  public void put(LimitOverride override) {
    overrides.put(override.key(), override);
  }

  public void removeOverride(LimitOverride.Key key) {
    overrides.remove(key);
  }

  public boolean hasOverrides() {
    return !overrides.isEmpty();
  }

  public Collection<LimitOverride> overrides() {
    return overrides.values();
  }

  /** Returns the override for the node alone, or null. */
  public @Nullable LimitOverride ofNode(String level, String resource, String node) {
    return node.isEmpty() ? null : overrides.get(new LimitOverride.Key(level, resource, node));
  }

  /** Returns the override for a whole level, or null. */
  public @Nullable LimitOverride ofLevel(String level, String resource) {
    return overrides.get(new LimitOverride.Key(level, resource, ""));
  }

  /** Returns the override in effect on a node; null: the configured limit applies. */
  public @Nullable LimitOverride on(String level, String resource, String node) {
    if (overrides.isEmpty()) {
      return null;
    }
    LimitOverride own = ofNode(level, resource, node);
    return own != null ? own : ofLevel(level, resource);
  }

  /** Returns the base of a node: its limit before factors. */
  public int limit(String level, String resource, String node, int configured) {
    LimitOverride override = on(level, resource, node);
    return override == null ? configured : override.limit();
  }

  // ---- factors

  /** Returns the factor with the same id that it replaces, or null. */
  public @Nullable LimitFactor put(LimitFactor factor) {
    return factors.put(factor.id(), factor);
  }

  /** Returns the factor that was removed, or null. */
  public @Nullable LimitFactor removeFactor(String id) {
    return factors.remove(id);
  }

  public Collection<LimitFactor> factors() {
    return factors.values();
  }

  // ---- health

  /** Returns the one of the same resource and node that it replaces, or null. */
  public @Nullable HealthLimit put(HealthLimit limit) {
    return health
        .computeIfAbsent(limit.resource(), name -> new LinkedHashMap<>())
        .put(limit.node(), limit);
  }

  /**
   * Removes what health leaves on a node.
   *
   * @param node empty: removes it for the level and for all its nodes
   * @return whether there was one
   */
  public boolean removeHealth(String resource, String node) {
    if (node.isEmpty()) {
      return health.remove(resource) != null;
    }
    Map<String, HealthLimit> ofNodes = health.get(resource);
    return ofNodes != null && ofNodes.remove(node) != null;
  }

  /** Returns what health leaves, by that for the node alone, or for all of the level. */
  public @Nullable HealthLimit ownHealth(String resource, String node) {
    Map<String, HealthLimit> ofNodes = health.get(resource);
    return ofNodes == null ? null : ofNodes.get(node);
  }

  /** Returns what health leaves on a node; null: it does not follow the resource. */
  public @Nullable HealthLimit healthOn(String resource, String node) {
    HealthLimit own = ownHealth(resource, node);
    return own != null ? own : ownHealth(resource, "");
  }

  public List<HealthLimit> health() {
    List<HealthLimit> all = new ArrayList<>();
    health.values().forEach(ofNodes -> all.addAll(ofNodes.values()));
    return all;
  }

  // ---- caps of jobs and queues

  /** Returns the cap with the same id that it replaces, or null. */
  public @Nullable RunningCap put(RunningCap cap) {
    return caps.put(cap.id(), cap);
  }

  /** Returns the cap that was removed, or null. */
  public @Nullable RunningCap removeCap(String id) {
    return caps.remove(id);
  }

  public Collection<RunningCap> caps() {
    return caps.values();
  }

  /** Returns the smallest cap of a job or queue, or null. */
  public @Nullable RunningCap cap(Scope scope) {
    RunningCap least = null;
    for (RunningCap cap : caps.values()) {
      boolean isLess = least == null || cap.most() < least.most();
      least = isLess && cap.scope().equals(scope) ? cap : least;
    }
    return least;
  }

  /**
   * Returns how many tasks of a job or queue may run at once by its caps; {@link
   * Integer#MAX_VALUE}: it has none.
   */
  public int mostRunning(Scope scope) {
    RunningCap cap = caps.isEmpty() ? null : cap(scope);
    return cap == null ? Integer.MAX_VALUE : cap.most();
  }
}
