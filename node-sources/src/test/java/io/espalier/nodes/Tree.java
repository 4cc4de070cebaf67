package io.espalier.nodes;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeOrder;
import io.espalier.core.config.NodeSourceSpec;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.NodeSourceContext;
import io.espalier.core.topology.NodeSourceException;
import io.espalier.core.topology.NodeSourceType;
import io.espalier.core.topology.Topology;
import io.espalier.core.topology.TopologyBuilder;
import io.espalier.json.JsonReader;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Short ways to sources and trees for tests. */
public final class Tree {
  public static final String PATH = "nodes.node_sources[0]";

  private Tree() {}

  /** Preferences from JSON with comments. */
  public static Json.Obj prefs(String json) {
    Result<Json> read = JsonReader.config().read(json);
    assertThat(read.problems()).isEmpty();
    return (Json.Obj) Objects.requireNonNull(read.value());
  }

  public static Result<NodeSource> create(
      NodeSourceType type, Levels levels, String json, String configDirectory) {
    return type.create(
        new NodeSourceSpec(type.name(), prefs(json), PATH),
        levels,
        new NodeSourceContext(configDirectory, ""));
  }

  public static Result<NodeSource> create(NodeSourceType type, Levels levels, String json) {
    return create(type, levels, json, "");
  }

  public static NodeSource source(NodeSourceType type, Levels levels, String json) {
    Result<NodeSource> result = create(type, levels, json);
    assertThat(result.problems()).isEmpty();
    return Objects.requireNonNull(result.value());
  }

  /** The problems as {@code path: message}. */
  public static List<String> problems(Result<NodeSource> result) {
    return result.problems().stream().map(p -> p.path() + ": " + p.message()).toList();
  }

  public static List<String> messages(List<Problem> problems) {
    return problems.stream().map(Problem::message).toList();
  }

  /** The tree that the sources yield one after the other under an instance called "instance". */
  public static Topology of(Levels levels, NodeSource... sources)
      throws NodeSourceException, InterruptedException {
    TopologyBuilder builder = new TopologyBuilder(levels, "instance");
    for (NodeSource source : sources) {
      source.fetch(builder, Instant.EPOCH, builder);
    }
    Result<Topology> result = builder.build(NodeOrder.ORIGINAL);
    assertThat(result.problems()).isEmpty();
    return Objects.requireNonNull(result.value());
  }

  /** The slots as {@code parent/child}, a minus behind those disabled. */
  public static List<String> lines(Topology t) {
    List<String> lines = new ArrayList<>();
    for (int slot = 1; slot < t.slots(); slot++) {
      String flag = t.enabled(slot) ? "" : "-";
      lines.add(t.name(t.parent(slot)) + "/" + t.name(t.node(slot)) + flag);
    }
    return lines;
  }

  public static List<String> names(Topology t, int level) {
    List<String> names = new ArrayList<>();
    for (int node = t.levelStart(level); node < t.levelEnd(level); node++) {
      names.add(t.name(node));
    }
    return names;
  }
}
