package example;

import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeSourceSpec;
import io.espalier.core.problem.Result;
import io.espalier.core.topology.NodeLookup;
import io.espalier.core.topology.NodeSink;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.NodeSourceContext;
import io.espalier.core.topology.NodeSourceType;
import io.espalier.core.topology.NodeSpec;
import io.espalier.nodes.Prefs;
import java.time.Instant;
import java.util.List;

/** {@code labels}: the same few children under every node of {@code parent_level}. */
public final class LabelsNodes implements NodeSource {
  private final int parentLevel;
  private final List<String> labels;

  private LabelsNodes(int parentLevel, List<String> labels) {
    this.parentLevel = parentLevel;
    this.labels = List.copyOf(labels);
  }

  @Override
  public void fetch(NodeLookup soFar, Instant now, NodeSink sink) {
    for (String parent : soFar.names(parentLevel)) {
      for (String label : labels) {
        sink.add(NodeSpec.child(parentLevel + 1, parent + "." + label, parent));
      }
    }
  }

  /** Checks the preferences: {@code parent_level} and {@code labels}. */
  public static final class Type implements NodeSourceType {
    @Override
    public String name() {
      return "labels";
    }

    @Override
    public Result<NodeSource> create(
        NodeSourceSpec spec, Levels levels, NodeSourceContext context) {
      Prefs prefs = new Prefs(spec);
      int parentLevel = prefs.parentLevel(levels);
      List<String> labels = prefs.strings("labels");
      return prefs.finish(() -> new LabelsNodes(parentLevel, labels));
    }
  }
}
