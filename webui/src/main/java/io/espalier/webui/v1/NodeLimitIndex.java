package io.espalier.webui.v1;

import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.config.Config;
import io.espalier.core.config.Resource;
import io.espalier.core.scheduling.capacity.ConfiguredLimits;
import io.espalier.core.topology.Topology;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Indexes the nodes with configured limits of their own ({@code node_resources_override}). It is
 * computed once for each configuration and tree, at first use. Thread-safe.
 */
public final class NodeLimitIndex {
  private volatile Of newest = new Of(null, null, null);

  /** Returns the limits for the nodes of the view. */
  @SuppressWarnings("ReferenceEquality") // Both are immutable: identity suffices.
  public Of of(SchedulerView view) {
    Of known = newest;
    if (known.config != view.config() || known.topology != view.topology()) {
      known = compute(view.config(), view.topology());
      newest = known;
    }
    return known;
  }

  private static Of compute(@Nullable Config config, @Nullable Topology topology) {
    if (config == null
        || topology == null
        || config.settings().rules().nodeLimits().isEmpty()
        // For a moment the nodes may belong to another configuration.
        || !config.settings().levels().equals(topology.levels())) {
      return new Of(config, topology, null);
    }
    return new Of(config, topology, ConfiguredLimits.of(config, topology));
  }

  /** The limits of one configuration and tree. */
  public static final class Of {
    private final @Nullable Config config;
    private final @Nullable Topology topology;
    private final @Nullable ConfiguredLimits limits;

    private Of(
        @Nullable Config config, @Nullable Topology topology, @Nullable ConfiguredLimits limits) {
      this.config = config;
      this.topology = topology;
      this.limits = limits;
    }

    /** Returns the limits of a node that differ from its level, by resource; mostly none. */
    public Map<String, Integer> limits(int node) {
      if (config == null || topology == null || limits == null) {
        return Map.of();
      }
      Map<String, Integer> own = new LinkedHashMap<>();
      int level = topology.level(node);
      for (Resource resource : config.settings().resources().ofLevel(level)) {
        if (limits.isOwn(node, resource.index())) {
          own.put(resource.name(), limits.of(node, resource.index()));
        }
      }
      return own;
    }
  }
}
