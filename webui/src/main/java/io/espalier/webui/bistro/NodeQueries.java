package io.espalier.webui.bistro;

import io.espalier.core.config.Config;
import io.espalier.core.config.Levels;
import io.espalier.core.config.Resource;
import io.espalier.core.json.Json;
import io.espalier.core.topology.Topology;
import io.espalier.webui.v1.NodeLimitIndex;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;

/** Answers {@code sorted_node_names} and {@code nodes}. */
final class NodeQueries {
  private final NodeLimitIndex limits = new NodeLimitIndex();

  private NodeQueries() {}

  static void addTo(Map<String, BistroQuery> table) {
    NodeQueries queries = new NodeQueries();
    table.put("sorted_node_names", NodeQueries::names);
    table.put("nodes", queries::nodes);
  }

  private static CompletionStage<Json> names(Arguments arguments, Snapshot snapshot) {
    Topology topology = topology(snapshot);
    Json.Builder data = Json.object();
    for (int level = 0; level < topology.levels().worker(); level++) {
      List<Json> names = new ArrayList<>();
      for (int n = topology.levelStart(level); n < topology.levelEnd(level); n++) {
        names.add(Json.of(topology.name(n)));
      }
      if (!names.isEmpty()) {
        data.put(topology.levels().name(level), new Json.Arr(names));
      }
    }
    return CompletableFuture.completedFuture(data.build());
  }

  private CompletionStage<Json> nodes(Arguments arguments, Snapshot snapshot) {
    List<String> fields = arguments.names("fields");
    for (String field : fields) {
      if (!field.equals("resources") && !field.equals("disabled")) {
        throw new BadArgumentsException(
            "Unknown field name: " + field + "; there are resources and disabled");
      }
    }
    Topology topology = topology(snapshot);
    NodeForm form =
        new NodeForm(
            snapshot.config(),
            topology.levels(),
            limits.of(snapshot.view()),
            fields.isEmpty() || fields.contains("resources"),
            fields.isEmpty() || fields.contains("disabled"));
    Map<Integer, Json.Builder> levels = new TreeMap<>();
    matching(topology, arguments.names("nodes"))
        .forEach(
            node ->
                levels
                    .computeIfAbsent(topology.level(node), level -> Json.object())
                    .put(
                        topology.name(node),
                        form.of(node, topology.level(node), isDisabled(topology, node))));
    Json.Builder results = Json.object();
    levels.forEach((level, nodes) -> results.put(topology.levels().name(level), nodes.build()));
    return CompletableFuture.completedFuture(Json.object().put("results", results.build()).build());
  }

  /** Returns the nodes with these names on any level, or all nodes, in node order. */
  private static IntStream matching(Topology topology, List<String> names) {
    if (names.isEmpty()) {
      return IntStream.range(0, topology.size());
    }
    TreeSet<Integer> found = new TreeSet<>();
    for (String name : names) {
      for (int level = 0; level < topology.levels().worker(); level++) {
        int node = topology.find(level, name);
        if (node >= 0) {
          found.add(node);
        }
      }
    }
    return found.stream().mapToInt(Integer::intValue);
  }

  /** Returns true when none of the node's places is enabled. */
  private static boolean isDisabled(Topology topology, int node) {
    for (int i = 0; i < topology.slotCount(node); i++) {
      if (topology.enabled(topology.slot(node, i))) {
        return false;
      }
    }
    return true;
  }

  private static Topology topology(Snapshot snapshot) {
    Topology topology = snapshot.view().topology();
    if (topology == null) {
      throw new BadArgumentsException("the nodes were not fetched yet");
    }
    return topology;
  }

  /** Caches the few distinct JSON forms of the nodes of a level. */
  private static final class NodeForm {
    private final Config config;
    private final Levels levels;
    private final NodeLimitIndex.Of own;
    private final boolean withResources;
    private final boolean withDisabled;
    private final Map<Integer, Json.Obj> enabledForms = new HashMap<>();
    private final Map<Integer, Json.Obj> disabledForms = new HashMap<>();

    NodeForm(
        Config config,
        Levels levels,
        NodeLimitIndex.Of own,
        boolean withResources,
        boolean withDisabled) {
      this.config = config;
      this.levels = levels;
      this.own = own;
      this.withResources = withResources;
      this.withDisabled = withDisabled;
    }

    Json.Obj of(int node, int level, boolean disabled) {
      Map<String, Integer> limits = withResources ? own.limits(node) : Map.of();
      if (!limits.isEmpty()) {
        Json.Obj form = Json.object().put("resources", resources(level, limits)).build();
        return disabled && withDisabled ? form.with("disabled", Json.Bool.TRUE) : form;
      }
      return disabled && withDisabled
          ? disabledForms.computeIfAbsent(level, l -> enabled(l).with("disabled", Json.Bool.TRUE))
          : enabled(level);
    }

    private Json.Obj enabled(int level) {
      return enabledForms.computeIfAbsent(
          level,
          l ->
              withResources
                  ? Json.object().put("resources", resources(l, Map.of())).build()
                  : Json.Obj.EMPTY);
    }

    /**
     * Encodes the resources. A limit of the node's own is what Bistro documents, but does not
     * implement, as {@code override}.
     */
    private Json.Obj resources(int level, Map<String, Integer> limits) {
      // Nodes of an older configuration are matched by the name of their level.
      int current = config.settings().levels().find(levels.name(level));
      Json.Builder all = Json.object();
      for (Resource resource : config.settings().resources().ofLevel(current)) {
        Json.Builder one =
            Json.object().put("default", resource.defaultNeed()).put("limit", resource.limit());
        if (resource.weight() > 0) {
          one.put("weight", resource.weight());
        }
        Integer override = limits.get(resource.name());
        if (override != null) {
          one.put("override", override);
        }
        all.put(resource.name(), one.build());
      }
      return all.build();
    }
  }
}
