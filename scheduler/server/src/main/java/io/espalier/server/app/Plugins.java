package io.espalier.server.app;

import io.espalier.core.config.read.ConfigParser;
import io.espalier.core.problem.Suggestions;
import io.espalier.core.running.TaskRunnerType;
import io.espalier.core.scheduling.SchedulingPolicy;
import io.espalier.core.scheduling.spi.WorkerSelector;
import io.espalier.core.topology.NodeSourceType;
import io.espalier.server.app.options.RunnerOptions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.ServiceLoader;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The plug-ins that {@link ServiceLoader} found, by name.
 *
 * @param policies scheduling policies
 * @param workerSelectors worker selectors, which order workers
 * @param nodeSources node source types
 * @param runners runners besides the built-in ones
 */
public record Plugins(
    SortedMap<String, SchedulingPolicy> policies,
    SortedMap<String, WorkerSelector> workerSelectors,
    SortedMap<String, NodeSourceType> nodeSources,
    SortedMap<String, TaskRunnerType> runners) {
  /**
   * Loads all plug-ins on the class path.
   *
   * @throws IllegalStateException when two plug-ins of a kind have the same name
   */
  public static Plugins load() {
    return new Plugins(
        byName(ServiceLoader.load(SchedulingPolicy.class), SchedulingPolicy::name),
        byName(ServiceLoader.load(WorkerSelector.class), WorkerSelector::name),
        byName(ServiceLoader.load(NodeSourceType.class), NodeSourceType::name),
        byName(ServiceLoader.load(TaskRunnerType.class), TaskRunnerType::name));
  }

  /** Creates a configuration parser that knows these plug-ins. */
  public ConfigParser configParser() {
    return new ConfigParser(policies.keySet(), workerSelectors.keySet(), nodeSources.keySet());
  }

  /** Returns all values of {@code --runner}, the built-in ones first. */
  public List<String> runnerNames() {
    List<String> names = new ArrayList<>(RunnerOptions.Kind.builtIn());
    runners.keySet().stream().filter(name -> !names.contains(name)).forEach(names::add);
    return names;
  }

  /**
   * Returns what is wrong with a value of {@code --runner}, for people; null: nothing.
   *
   * @param name as the operator gave it
   */
  public @Nullable String complaintAboutRunner(String name) {
    List<String> names = runnerNames();
    if (names.contains(name)) {
      return null;
    }
    String near = Suggestions.didYouMean(name, names);
    return "--runner "
        + name
        + " is none of "
        + String.join(", ", names)
        + (near == null ? "" : "; " + near);
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
