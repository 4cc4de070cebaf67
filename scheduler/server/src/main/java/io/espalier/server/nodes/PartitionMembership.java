package io.espalier.server.nodes;

import io.espalier.core.config.Levels;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.TopologyBuilder;
import java.util.function.Predicate;

/**
 * Finds the nodes of an answer that are below a node of this scheduler's partition, directly under
 * the instance or further down. A node below nodes of several partitions belongs to each of them
 * here: this class judges changes and does not partition the nodes.
 */
final class PartitionMembership {
  private PartitionMembership() {}

  /**
   * @param others the nodes of the preceding sources, which may be parents
   */
  static Predicate<NodeSpec> of(NodeBuffer tape, Levels levels, TopologyBuilder others) {
    if (others.division().isWhole()) {
      return node -> true;
    }
    LongHashSet here = new LongHashSet();
    boolean[] hasNodes = new boolean[levels.count()];
    tape.forEach(node -> hasNodes[node.level()] = true);
    // Level by level, because each read after an insertion sorts the set.
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
      return others.division().owns(node.name());
    }
    return here.contains(ChangeGuardCheck.parentHash(node))
        || others.isInShard(node.parentLevel(), parent);
  }
}
