package io.espalier.core.topology;

import io.espalier.core.config.Partition;
import java.util.BitSet;

/**
 * Which nodes of a builder can be reached from a node directly under the instance that is of the
 * builder's shard: its own, and those that it has to know because another scheduler may have them.
 * As of the moment it was made; immutable.
 */
public final class PartitionReachability {
  private final TopologyBuilder nodes;
  private final Partition shard;
  private final BitSet reached = new BitSet();

  PartitionReachability(TopologyBuilder nodes) {
    this.nodes = nodes;
    this.shard = nodes.shard();
    int slots = nodes.slotCount();
    // A further place of a parent may come after its children: hence until nothing changes.
    boolean changed = true;
    while (changed) {
      changed = false;
      for (int slot = 1; slot < slots; slot++) {
        int entry = nodes.slotEntry(slot);
        int parent = nodes.slotParent(slot);
        if (!reached.get(entry)
            && (parent == 0 ? shard.owns(nodes.entryName(entry)) : reached.get(parent))) {
          reached.set(entry);
          changed = true;
        }
      }
    }
  }

  /** Whether a node would be reached by this place of its. */
  public boolean reaches(NodeSpec node) {
    String parent = node.parent();
    if (parent == null || node.parentLevel() == 0) {
      return shard.owns(node.name());
    }
    int entry = nodes.entryOf(node.parentLevel(), parent);
    return entry > 0 && reached.get(entry);
  }

  /** Is told of nodes. */
  public interface Visitor {
    /** One node. */
    void visit(int level, String name);
  }

  /** Tells of all nodes that are reached. */
  public void forEach(Visitor visitor) {
    for (int entry = reached.nextSetBit(0); entry >= 0; entry = reached.nextSetBit(entry + 1)) {
      visitor.visit(nodes.entryLevel(entry), nodes.entryName(entry));
    }
  }
}
