package io.espalier.core.loop;

import io.espalier.core.config.Config;
import io.espalier.core.config.NodeSourceSpec;
import io.espalier.core.config.read.ConfigParser;
import io.espalier.core.problem.Result;
import io.espalier.core.scheduling.SchedulingPolicy;
import io.espalier.core.scheduling.spi.WorkerSelector;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.NodeSourceContext;
import io.espalier.core.topology.NodeSourceType;
import io.espalier.core.topology.Topology;
import io.espalier.core.topology.TopologyBuilder;
import io.espalier.json.JsonReader;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.ServiceLoader;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The policies, selectors and node sources on the class path, and the configurations that use them.
 */
final class PlugIns {
  final Map<String, SchedulingPolicy> policies =
      byName(SchedulingPolicy.class, SchedulingPolicy::name);

  final Map<String, WorkerSelector> selectors = byName(WorkerSelector.class, WorkerSelector::name);

  private final Map<String, NodeSourceType> sources =
      byName(NodeSourceType.class, NodeSourceType::name);
  private final Map<String, Topology> built = new HashMap<>();

  private static <T> Map<String, T> byName(Class<T> kind, Function<T, String> name) {
    return ServiceLoader.load(kind).stream()
        .map(ServiceLoader.Provider::get)
        .collect(Collectors.toMap(name, plugin -> plugin));
  }

  /** Reads a configuration, which must have no errors. */
  Config config(String json) {
    Result<Config> parsed =
        new ConfigParser(policies.keySet(), selectors.keySet(), sources.keySet())
            .parse(Objects.requireNonNull(JsonReader.config().read(json).value()));
    Config config = parsed.value();
    if (config == null) {
      throw new AssertionError(parsed.problems().toString());
    }
    return config;
  }

  /** Returns the nodes of a configuration; those of the same settings are the same. */
  Topology nodes(Config config, long now) {
    TopologyBuilder builder = new TopologyBuilder(config.settings().levels(), "instance-node");
    for (NodeSourceSpec spec : config.settings().nodeSources()) {
      NodeSourceType type = Objects.requireNonNull(sources.get(spec.source()));
      NodeSource source =
          type.create(spec, config.settings().levels(), new NodeSourceContext("", "")).value();
      try {
        Objects.requireNonNull(source).fetch(builder, Instant.ofEpochMilli(now), builder);
      } catch (Exception e) {
        throw new AssertionError(e);
      }
    }
    return built.computeIfAbsent(
        config.settings().nodesHash(),
        hash -> Objects.requireNonNull(builder.build(config.settings().nodeOrder()).value()));
  }
}
