package io.espalier.server.app;

import io.espalier.core.config.read.ConfigParser;
import io.espalier.core.scheduling.SchedulingPolicy;
import io.espalier.core.scheduling.spi.WorkerSelector;
import io.espalier.core.topology.NodeSourceType;
import java.util.Collections;
import java.util.ServiceLoader;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * Holds the plug-ins that {@link ServiceLoader} found, by name.
 *
 * @param policies scheduling policies
 * @param workerSelectors worker selectors, which order workers
 * @param nodeSources node source types
 */
public record Plugins(
    SortedMap<String, SchedulingPolicy> policies,
    SortedMap<String, WorkerSelector> workerSelectors,
    SortedMap<String, NodeSourceType> nodeSources) {
  /**
   * Loads all plug-ins on the class path.
   *
   * @throws IllegalStateException when two plug-ins of a kind have the same name
   */
  public static Plugins load() {
    return new Plugins(
        byName(ServiceLoader.load(SchedulingPolicy.class), SchedulingPolicy::name),
        byName(ServiceLoader.load(WorkerSelector.class), WorkerSelector::name),
        byName(ServiceLoader.load(NodeSourceType.class), NodeSourceType::name));
  }

  /** Creates a configuration parser that knows these plug-ins. */
  public ConfigParser configParser() {
    return new ConfigParser(policies.keySet(), workerSelectors.keySet(), nodeSources.keySet());
  }

  private static <T> SortedMap<String, T> byName(Iterable<T> found, Function<T, String> name) {
    TreeMap<String, T> plugins = new TreeMap<>();
    for (T plugin : found) {
      T other = plugins.put(name.apply(plugin), plugin);
      if (other != null) {
        throw new IllegalStateException(
            "two plug-ins are called "
                + name.apply(plugin)
                + ": "
                + other.getClass().getName()
                + " and "
                + plugin.getClass().getName());
      }
    }
    return Collections.unmodifiableSortedMap(plugins);
  }
}
