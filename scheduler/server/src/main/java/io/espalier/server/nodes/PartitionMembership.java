package io.espalier.server.nodes;

import io.espalier.core.config.Levels;
import io.espalier.core.config.Partition;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.TopologyBuilder;
import java.util.function.Predicate;

/**
 * Which nodes of an answer hang under a node of this scheduler's shard, directly under the instance
 * or further down. A node that hangs under nodes of several shards counts for each of them: this
 * judges changes, and does not divide the nodes.
 */
final class PartitionMembership {
  private PartitionMembership() {}

  /**
   * @param others the nodes of the sources before, which may be parents
   */
  static Predicate<NodeSpec> of(NodeBuffer tape, Levels levels, TopologyBuilder others) {
    Partition shard = others.shard();
    if (shard.isWhole()) {
      return node -> true;
    }
    LongHashSet here = new LongHashSet();
    boolean[] hasNodes = new boolean[levels.count()];
    tape.forEach(node -> hasNodes[node.level()] = true);
    // Level by level, because the set is sorted whenever it is read after a change.
    for (int level = 0; level < hasNodes.length; level++) {
      if (hasNodes[level]) {
        LongHashSet ofLevel = new LongHashSet();
        int current = level;
        tape.forEach(
            node -> {
              if (node.level() == current && isHere(node, here, others)) {
                ofLevel.add(ChangeGuardCheck.hash(node));
              }
            });
        here.addAll(ofLevel);
      }
    }
    return node -> here.contains(ChangeGuardCheck.hash(node));
  }

  private static boolean isHere(NodeSpec node, LongHashSet here, TopologyBuilder others) {
    String parent = node.parent();
    if (parent == null || node.parentLevel() == 0) {
      return others.shard().owns(node.name());
    }
    return here.contains(ChangeGuardCheck.parentHash(node))
        || others.isInShard(node.parentLevel(), parent);
  }
}
