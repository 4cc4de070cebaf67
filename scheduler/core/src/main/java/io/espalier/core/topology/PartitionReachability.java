package io.espalier.core.topology;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * The nodes of a builder that can be reached from a child of the instance in the builder's
 * partition: its own nodes, and those that it must know because another scheduler may have them. A
 * snapshot, immutable.
 */
public final class PartitionReachability {
  private final TopologyBuilder nodes;
  private final Division division;
  private final BitSet reached = new BitSet();

  PartitionReachability(TopologyBuilder nodes) {
    this.nodes = nodes;
    this.division = nodes.division();
    int slots = nodes.slotCount();
    // A further edge of a parent may come after its children, so repeat until nothing changes.
    boolean changed = true;
    while (changed) {
      changed = false;
      for (int slot = 1; slot < slots; slot++) {
        int entry = nodes.slotEntry(slot);
        int parent = nodes.slotParent(slot);
        if (!reached.get(entry)
            && (parent == 0 ? division.owns(nodes.entryName(entry)) : reached.get(parent))) {
          reached.set(entry);
          changed = true;
        }
      }
    }
  }

  /** Returns true when the node would be reached through this edge. */
  public boolean reaches(NodeSpec node) {
    String parent = node.parent();
    if (parent == null || node.parentLevel() == 0) {
      return division.owns(node.name());
    }
    int entry = nodes.entryOf(node.parentLevel(), parent);
    return entry > 0 && reached.get(entry);
  }

  /** Returns the names of the reached nodes of a level below the instance, in their order. */
  public List<String> names(int level) {
    List<String> names = new ArrayList<>();
    forEach(
        (each, name) -> {
          if (each == level) {
            names.add(name);
          }
        });
    return names;
  }

  /** Receives nodes. */
  public interface Visitor {
    /** Receives one node. */
    void visit(int level, String name);
  }

  /** Passes all reached nodes to a visitor. */
  public void forEach(Visitor visitor) {
    for (int entry = reached.nextSetBit(0); entry >= 0; entry = reached.nextSetBit(entry + 1)) {
      visitor.visit(nodes.entryLevel(entry), nodes.entryName(entry));
    }
  }
}
