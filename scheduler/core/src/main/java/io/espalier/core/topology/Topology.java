package io.espalier.core.topology;

import io.espalier.core.config.Levels;
import io.espalier.core.config.RoleFilter;
import io.espalier.core.json.Json;
import java.util.Set;

/**
 * The node tree of one refresh: immutable, packed, indexed by small ints.
 *
 * <p><b>Nodes</b> are numbered from 0 (the instance) to {@code size() - 1}, level by level, so that
 * the nodes of a level are the range {@link #levelStart} to {@link #levelEnd}. Siblings are
 * numbered in node order (original or lexicographic; random uses the original order).
 *
 * <p><b>Slots</b> are the edges of the tree, numbered parent by parent. The children of a node are
 * the contiguous slots {@link #childStart} to {@link #childEnd}; {@link #node(int)} maps a slot to
 * its node. Slot 0 is that of the instance. Without replicas there is one slot per node and, in a
 * tree without skipped levels, slot and node numbers are equal. Enabled flag, tags and role belong
 * to the slot; status and counters belong to the node
 * (docs/design/design.md#nodes-with-several-parents).
 */
public interface Topology {
  Levels levels();

  /** Number of nodes. */
  int size();

  /** Number of slots; at least {@link #size()}. */
  int slots();

  /** Returns true when every node has exactly one slot, with the same number. */
  boolean slotsAreNodes();

  int levelStart(int level);

  /** Exclusive. */
  int levelEnd(int level);

  int level(int node);

  String name(int node);

  /** The node with that name on a level, or -1. */
  int find(int level, String name);

  /** First child slot of a node. */
  int childStart(int node);

  /** Exclusive. */
  int childEnd(int node);

  /** The node in a slot. */
  int node(int slot);

  /** The parent of the slot, or -1 for slot 0. */
  int parent(int slot);

  /** The number of slots, and therefore of parents, of a node. */
  int slotCount(int node);

  /** The {@code i}-th slot of a node, in ascending slot order. */
  int slot(int node, int i);

  /** The slot's own enabled flag. */
  boolean enabled(int slot);

  /** Returns true when no slot is disabled. */
  boolean allEnabled();

  Set<String> tags(int slot);

  Json.Obj attributes(int slot);

  /** The role of the node under this parent, such as {@code replica}; usually empty. */
  default String role(int slot) {
    return RoleFilter.NONE;
  }

  /** The redundancy groups that have members in other partitions too. */
  default SpreadGroups spreadGroups() {
    return SpreadGroups.NONE;
  }

  /** Returns true when any slot has a role. */
  default boolean hasRoles() {
    return false;
  }
}
