package io.espalier.server.nodes;

import io.espalier.core.problem.Problem;
import io.espalier.core.topology.NodeLookup;
import io.espalier.core.topology.NodeSink;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.NodeSourceException;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.PartitionReachability;
import io.espalier.core.topology.PushDown;
import io.espalier.core.topology.TopologyBuilder;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** What a source that may be asked for one partition only is shown, and what is taken from it. */
final class PushDownRules {
  private PushDownRules() {}

  /**
   * Returns the nodes that a source sees: of the levels below the instance those that can be
   * reached from a subtree of the partition.
   *
   * @param shown what it would see otherwise
   */
  static NodeLookup visible(NodeSource source, NodeLookup shown, TopologyBuilder soFar) {
    if (source.pushDown() == PushDown.NONE || soFar.division().isWhole()) {
      return shown;
    }
    PartitionReachability own = soFar.reach();
    return level -> level == 0 ? shown.names(0) : own.names(level);
  }

  /** Returns the sink of a source, which drops repetitions if answers overlap. */
  static NodeSink taking(NodeSource source, NodeSink sink) {
    if (source.pushDown() != PushDown.ALL_PARENTS) {
      return sink;
    }
    Set<NodeSpec> seen = new HashSet<>();
    return node -> {
      if (seen.add(node)) {
        sink.add(node);
      }
    };
  }

  /**
   * Checks an answer against what the source promises: two schedulers would each have a node with
   * two parents that promises to have one.
   */
  static void check(NodeSource source, String path, NodeBuffer answer) throws NodeSourceException {
    if (source.pushDown() != PushDown.ONE_PARENT) {
      return;
    }
    LongHashSet nodes = new LongHashSet();
    answer.forEach(node -> nodes.add(ChangeGuardCheck.hash(node)));
    LongHashSet repeated = nodes.repeated();
    if (repeated.isEmpty()) {
      return;
    }
    Map<String, String> parents = new HashMap<>();
    String[] wrong = {""};
    answer.forEach(
        node -> {
          if (repeated.contains(ChangeGuardCheck.hash(node))) {
            String parent = Objects.requireNonNullElse(node.parent(), "");
            String before = parents.putIfAbsent(node.name(), parent);
            if (before != null && !before.equals(parent) && wrong[0].isEmpty()) {
              wrong[0] =
                  "the source gives \"%s\" the parents \"%s\" and \"%s\""
                      .formatted(node.name(), before, parent);
            }
          }
        });
    if (!wrong[0].isEmpty()) {
      throw new NodeSourceException(
          List.of(
              Problem.error(path, wrong[0] + ", but has \"push_down\": \"one_parent\"")
                  .withHint(
                      "if each of its rows names all parents of a node, say \"all_parents\";"
                          + " otherwise leave push_down out")));
    }
  }
}
