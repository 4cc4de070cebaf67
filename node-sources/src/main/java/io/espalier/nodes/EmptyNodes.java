package io.espalier.nodes;

import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeSourceSpec;
import io.espalier.core.problem.Result;
import io.espalier.core.topology.NodeLookup;
import io.espalier.core.topology.NodeSink;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.NodeSourceContext;
import io.espalier.core.topology.NodeSourceType;
import java.time.Instant;

/**
 * {@code empty}: adds no nodes; for jobs whose tasks run on the instance
 * (docs/design/bistro.md#the-source-empty).
 */
public final class EmptyNodes implements NodeSource {
  @Override
  public boolean isComputed() {
    return true;
  }

  @Override
  public void fetch(NodeLookup soFar, Instant now, NodeSink sink) {
    // It delivers no nodes.
  }

  /** Creates the source, which has no preferences. */
  public static final class Type implements NodeSourceType {
    @Override
    public String name() {
      return "empty";
    }

    @Override
    public Result<NodeSource> create(
        NodeSourceSpec spec, Levels levels, NodeSourceContext context) {
      return new Prefs(spec).finish(EmptyNodes::new);
    }
  }
}
