package io.espalier.server.nodes;

import io.espalier.core.config.Levels;
import io.espalier.core.config.Shard;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.TopologyBuilder;
import java.util.function.Predicate;

/**
 * Which nodes of an answer hang under a node of this scheduler's shard, directly under the instance
 * or further down. A node that hangs under nodes of several shards counts for each of them: this
 * judges changes, and does not divide the nodes.
 */
final class ShardNodes {
  private ShardNodes() {}

  /**
   * @param others the nodes of the sources before, which may be parents
   */
  static Predicate<NodeSpec> of(NodeTape tape, Levels levels, TopologyBuilder others) {
    Shard shard = others.shard();
    if (shard.isWhole()) {
      return node -> true;
    }
    Hashes here = new Hashes();
    boolean[] hasNodes = new boolean[levels.count()];
    tape.forEach(node -> hasNodes[node.level()] = true);
    // Level by level, because the set is sorted whenever it is read after a change.
    for (int level = 0; level < hasNodes.length; level++) {
      if (hasNodes[level]) {
        Hashes ofLevel = new Hashes();
        int current = level;
        tape.forEach(
            node -> {
              if (node.level() == current && isHere(node, here, others)) {
                ofLevel.add(GuardCheck.hash(node));
              }
            });
        here.addAll(ofLevel);
      }
    }
    return node -> here.contains(GuardCheck.hash(node));
  }

  private static boolean isHere(NodeSpec node, Hashes here, TopologyBuilder others) {
    String parent = node.parent();
    if (parent == null || node.parentLevel() == 0) {
      return others.shard().owns(node.name());
    }
    return here.contains(GuardCheck.parentHash(node))
        || others.isInShard(node.parentLevel(), parent);
  }
}
