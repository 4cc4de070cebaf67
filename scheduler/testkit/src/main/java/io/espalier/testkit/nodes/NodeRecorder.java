package io.espalier.testkit.nodes;

import io.espalier.core.config.Levels;
import io.espalier.core.topology.NodeLookup;
import io.espalier.core.topology.NodeSink;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.NodeSourceException;
import io.espalier.core.topology.NodeSpec;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Supplies earlier nodes to a source and records what it delivers. Not thread-safe. */
public final class NodeRecorder implements NodeSink, NodeLookup {
  /** The name of the instance node. */
  public static final String INSTANCE = "instance-node";

  private final List<Set<String>> names = new ArrayList<>();
  private final List<NodeSpec> added = new ArrayList<>();

  /** Starts with the instance and the earlier nodes. */
  public NodeRecorder(Levels levels, List<NodeSpec> earlier) {
    levels.names().forEach(name -> names.add(new LinkedHashSet<>()));
    names.get(0).add(INSTANCE);
    earlier.forEach(node -> names.get(node.level()).add(node.name()));
  }

  @Override
  public void add(NodeSpec node) {
    added.add(node);
  }

  /** Returns an unmodifiable list, so that a source that modifies it fails. */
  @Override
  public List<String> names(int level) {
    return Collections.unmodifiableList(new ArrayList<>(names.get(level)));
  }

  /** Returns the delivered nodes in order. */
  public List<NodeSpec> added() {
    return List.copyOf(added);
  }

  /** Returns the nodes that one fetch delivers. */
  public static List<NodeSpec> fetch(
      NodeSource source, Levels levels, List<NodeSpec> earlier, Instant now)
      throws NodeSourceException, InterruptedException {
    NodeRecorder recorder = new NodeRecorder(levels, earlier);
    source.fetch(recorder, now, recorder);
    return recorder.added();
  }
}
