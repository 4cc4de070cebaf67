package io.espalier.core.scheduling.capacity;

import io.espalier.core.status.LimitOverride;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What operators say of limits, by name. The limit of a resource on a node is that of the override
 * of the node, else that of its level, else the configured one of the node, else that of its level
 * ({@link ConfiguredLimits}).
 */
public final class LimitOverrides {
  private final Map<LimitOverride.Key, LimitOverride> all = new LinkedHashMap<>();

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

  /** That of the node alone. */
  public @Nullable LimitOverride ofNode(String level, String resource, String node) {
    return node.isEmpty() ? null : all.get(new LimitOverride.Key(level, resource, node));
  }

  /** That of a whole level. */
  public @Nullable LimitOverride ofLevel(String level, String resource) {
    return all.get(new LimitOverride.Key(level, resource, ""));
  }

  /** The one that counts on a node; null: the configured limit does. */
  public @Nullable LimitOverride on(String level, String resource, String node) {
    if (all.isEmpty()) {
      return null;
    }
    LimitOverride own = ofNode(level, resource, node);
    return own != null ? own : ofLevel(level, resource);
  }

  /** How many slots there are. */
  public int limit(String level, String resource, String node, int configured) {
    LimitOverride override = on(level, resource, node);
    return override == null ? configured : override.limit();
  }
}
