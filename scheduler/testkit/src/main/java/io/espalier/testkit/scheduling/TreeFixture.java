package io.espalier.testkit.scheduling;

import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeOrder;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Result;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.Topology;
import io.espalier.core.topology.TopologyBuilder;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Builds trees from short descriptions. */
public final class TreeFixture {
  /** The name of the instance node of all trees of the testkit. */
  public static final String INSTANCE = "instance1";

  private TreeFixture() {}

  /**
   * Builds a tree from paths below the instance, one level per part: {@code "h1/d11"}. A part that
   * ends in {@code !} is disabled there. The same name under two parents is a replica.
   */
  public static Topology of(Levels levels, String... paths) {
    TopologyBuilder builder = new TopologyBuilder(levels, INSTANCE);
    Set<String> seen = new HashSet<>();
    for (String path : paths) {
      String parent = null;
      int level = 1;
      for (String part : path.split("/", -1)) {
        boolean enabled = !part.endsWith("!");
        String name = enabled ? part : part.substring(0, part.length() - 1);
        if (seen.add(level + "/" + parent + "/" + name)) {
          builder.add(
              new NodeSpec(level, name, parent, level - 1, enabled, Set.of(), Json.Obj.EMPTY));
        }
        parent = name;
        level++;
      }
    }
    return built(builder, NodeOrder.ORIGINAL);
  }

  /** Builds a tree from nodes, parents first. */
  public static Topology of(Levels levels, NodeOrder order, Collection<NodeSpec> nodes) {
    TopologyBuilder builder = new TopologyBuilder(levels, INSTANCE);
    nodes.forEach(builder::add);
    return built(builder, order);
  }

  /**
   * Builds a regular tree: {@code fanOuts[0]} nodes below the instance, {@code fanOuts[1]} below
   * each of these, and so on. Nodes are named n1, n2 and so on, level by level.
   */
  public static Topology regular(Levels levels, int... fanOuts) {
    TopologyBuilder builder = new TopologyBuilder(levels, INSTANCE);
    int parents = 1;
    for (int level = 1; level <= fanOuts.length; level++) {
      int fanOut = fanOuts[level - 1];
      for (int parent = 0; parent < parents; parent++) {
        String parentName = level == 1 ? null : "n" + (parent + 1);
        for (int i = 0; i < fanOut; i++) {
          builder.add(NodeSpec.child(level, "n" + (parent * fanOut + i + 1), parentName));
        }
      }
      parents = Math.multiplyExact(parents, fanOut);
    }
    return built(builder, NodeOrder.ORIGINAL);
  }

  /** Builds hosts h1 and so on, each with as many databases: d1.1, d1.2 and so on below h1. */
  public static Topology hosts(Levels levels, int hosts, int databases) {
    List<String> paths = new ArrayList<>();
    for (int host = 1; host <= hosts; host++) {
      for (int database = 1; database <= databases; database++) {
        paths.add("h" + host + "/d" + host + "." + database);
      }
    }
    return of(levels, paths.toArray(String[]::new));
  }

  private static Topology built(TopologyBuilder builder, NodeOrder order) {
    Result<Topology> result = builder.build(order);
    Topology topology = result.value();
    if (topology == null) {
      throw new IllegalArgumentException("no tree: " + result.problems());
    }
    return topology;
  }
}
