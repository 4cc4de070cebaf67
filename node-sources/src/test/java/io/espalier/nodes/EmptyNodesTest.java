package io.espalier.nodes;

import io.espalier.core.config.Levels;
import io.espalier.core.json.Json;
import io.espalier.core.topology.NodeSourceType;
import io.espalier.core.topology.NodeSpec;
import io.espalier.testkit.nodes.NodeSourceContract;
import java.util.List;
import java.util.Map;

class EmptyNodesTest extends NodeSourceContract {
  @Override
  protected NodeSourceType type() {
    return new EmptyNodes.Type();
  }

  @Override
  protected Example example() {
    return new Example(
        Levels.of(List.of("host")),
        Json.Obj.EMPTY,
        List.of(NodeSpec.child(1, "h", null)),
        List.of());
  }

  @Override
  protected Map<Json.Obj, List<String>> badPrefs() {
    return Map.of();
  }
}
