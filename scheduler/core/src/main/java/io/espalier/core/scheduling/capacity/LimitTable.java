package io.espalier.core.scheduling.capacity;

import io.espalier.core.status.store.LimitOverride;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What changes limits beside the configuration, by name: the operators' overrides, and factors. One
 * table serves all states of a core. The base of the limit of a resource on a node is, in order of
 * precedence: the override for the node, the override for its level, the configured limit of the
 * node, the configured limit of its level ({@link ConfiguredLimits}).
 */
public final class LimitTable {
  private final Map<LimitOverride.Key, LimitOverride> all = new LinkedHashMap<>();
  private final Map<String, LimitFactor> factors = new LinkedHashMap<>();

  public void put(LimitOverride override) {
    all.put(override.key(), override);
  }

  public boolean remove(LimitOverride.Key key) {
    return all.remove(key) != null;
  }

  public boolean isEmpty() {
    return all.isEmpty();
  }

  public Collection<LimitOverride> all() {
    return all.values();
  }

  /** Returns the override for the node alone, or null. */
  public @Nullable LimitOverride ofNode(String level, String resource, String node) {
    return node.isEmpty() ? null : all.get(new LimitOverride.Key(level, resource, node));
  }

  /** Returns the override for a whole level, or null. */
  public @Nullable LimitOverride ofLevel(String level, String resource) {
    return all.get(new LimitOverride.Key(level, resource, ""));
  }

  /** Returns the override in effect on a node; null: the configured limit applies. */
  public @Nullable LimitOverride on(String level, String resource, String node) {
    if (all.isEmpty()) {
      return null;
    }
    LimitOverride own = ofNode(level, resource, node);
    return own != null ? own : ofLevel(level, resource);
  }

  /** Returns the limit in effect on a node. */
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
}
