package example;

import io.espalier.core.config.Levels;
import io.espalier.core.json.Json;
import io.espalier.core.topology.NodeSourceType;
import io.espalier.core.topology.NodeSpec;
import io.espalier.testkit.nodes.NodeSourceContract;
import java.util.List;
import java.util.Map;

/** Inherits the tests that every node source must pass. */
class LabelsNodesTest extends NodeSourceContract {
  private static Json.Obj prefs(String parentLevel, Json... labels) {
    return new Json.Obj(
        Map.of("parent_level", new Json.Str(parentLevel), "labels", new Json.Arr(List.of(labels))));
  }

  @Override
  protected NodeSourceType type() {
    return new LabelsNodes.Type();
  }

  @Override
  protected Example example() {
    return new Example(
        Levels.of(List.of("host", "volume")),
        prefs("host", new Json.Str("data"), new Json.Str("log")),
        List.of(NodeSpec.child(1, "h1", null)),
        List.of(NodeSpec.child(2, "h1.data", "h1"), NodeSpec.child(2, "h1.log", "h1")));
  }

  @Override
  protected Map<Json.Obj, List<String>> badPrefs() {
    return Map.of(prefs("nowhere", Json.Bool.TRUE), List.of("parent_level", "labels[0]"));
  }
}
