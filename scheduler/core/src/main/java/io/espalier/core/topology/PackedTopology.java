package io.espalier.core.topology;

import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeOrder;
import io.espalier.core.config.RoleFilter;
import io.espalier.core.json.Json;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A topology packed into ints and bytes; immutable and therefore safe to share between threads.
 *
 * <p>A plain tree takes about 18 bytes per node in addition to its name: the start of its children,
 * the parent, the end of the name, and a share of the hash table for {@link #find}. Only trees with
 * replicas, skipped levels, disabled nodes, tags, attributes or roles need memory for them.
 *
 * <p>Children are ordered by level first (which matters only where levels are skipped), then in
 * node order. Lexicographic order is that of code points.
 */
public final class PackedTopology implements Topology {
  private final Levels levels;
  private final int[] levelStarts;
  private final NameTable names;

  /** The first child slot of each node, followed by the number of slots. */
  private final int[] childStarts;

  private final int[] parents;
  private final @Nullable SlotMap slotMap;
  private final long @Nullable [] disabled;
  private final @Nullable Interned<Set<String>> tags;
  private final @Nullable Interned<Json.Obj> attributes;
  private final @Nullable Interned<String> roles;
  private final SpreadGroups spreadGroups;

  PackedTopology(
      Levels levels,
      int[] levelStarts,
      NameTable names,
      int[] childStarts,
      int[] parents,
      @Nullable SlotMap slotMap,
      long @Nullable [] disabled,
      @Nullable Interned<Set<String>> tags,
      @Nullable Interned<Json.Obj> attributes,
      @Nullable Interned<String> roles,
      SpreadGroups spreadGroups) {
    this.levels = levels;
    this.levelStarts = levelStarts;
    this.names = names;
    this.childStarts = childStarts;
    this.parents = parents;
    this.slotMap = slotMap;
    this.disabled = disabled;
    this.tags = tags;
    this.attributes = attributes;
    this.roles = roles;
    this.spreadGroups = spreadGroups;
  }

  /**
   * Creates a tree that has only its root.
   *
   * @throws IllegalArgumentException when the name is not a valid node name
   */
  public static PackedTopology instanceOnly(Levels levels, String instanceName) {
    String objection = NodeNames.objection(instanceName);
    if (objection != null) {
      throw new IllegalArgumentException("the name of the instance node " + objection);
    }
    return new TopologyBuilder(levels, instanceName).pack(NodeOrder.ORIGINAL);
  }

  /** Maps slots to nodes and back; needed only with replicas or skipped levels. */
  static final class SlotMap {
    private final int[] nodes;
    private final int[] nodeSlotStarts;
    private final int[] nodeSlots;

    SlotMap(int[] nodes, int[] nodeSlotStarts, int[] nodeSlots) {
      this.nodes = nodes;
      this.nodeSlotStarts = nodeSlotStarts;
      this.nodeSlots = nodeSlots;
    }

    long bytes() {
      return ArraySizes.ofInts(nodes)
          + ArraySizes.ofInts(nodeSlotStarts)
          + ArraySizes.ofInts(nodeSlots);
    }

    boolean same(SlotMap other) {
      return Arrays.equals(nodes, other.nodes);
    }
  }

  /** A few distinct values with one index per slot. */
  static final class Interned<T> {
    private final List<T> values;
    private final int[] indexes;

    Interned(List<T> values, int[] indexes) {
      this.values = values;
      this.indexes = indexes;
    }

    T of(int slot) {
      return values.get(indexes[slot]);
    }

    long bytes() {
      return ArraySizes.ofInts(indexes) + (long) ArraySizes.REFERENCE * values.size();
    }

    /**
     * Compares contents. Indexes are assigned in order of first use, so equal contents have equal
     * indexes.
     */
    boolean same(Interned<T> other) {
      return Arrays.equals(indexes, other.indexes) && values.equals(other.values);
    }
  }

  @Override
  public Levels levels() {
    return levels;
  }

  @Override
  public int size() {
    return names.size();
  }

  @Override
  public int slots() {
    return parents.length;
  }

  @Override
  public boolean slotsAreNodes() {
    return slotMap == null;
  }

  @Override
  public int levelStart(int level) {
    return levelStarts[level];
  }

  @Override
  public int levelEnd(int level) {
    return levelStarts[level + 1];
  }

  @Override
  public int level(int node) {
    Objects.checkIndex(node, size());
    int level = 0;
    while (node >= levelStarts[level + 1]) {
      level++;
    }
    return level;
  }

  @Override
  public String name(int node) {
    return names.name(node);
  }

  @Override
  public int find(int level, String name) {
    return names.find(Objects.checkIndex(level, levels.count()), name);
  }

  @Override
  public int childStart(int node) {
    return childStarts[node];
  }

  @Override
  public int childEnd(int node) {
    return childStarts[node + 1];
  }

  @Override
  public int node(int slot) {
    return slotMap == null ? Objects.checkIndex(slot, parents.length) : slotMap.nodes[slot];
  }

  @Override
  public int parent(int slot) {
    return parents[slot];
  }

  @Override
  public int slotCount(int node) {
    if (slotMap == null) {
      Objects.checkIndex(node, size());
      return 1;
    }
    return slotMap.nodeSlotStarts[node + 1] - slotMap.nodeSlotStarts[node];
  }

  @Override
  public int slot(int node, int i) {
    Objects.checkIndex(i, slotCount(node));
    return slotMap == null ? node : slotMap.nodeSlots[slotMap.nodeSlotStarts[node] + i];
  }

  @Override
  public boolean enabled(int slot) {
    Objects.checkIndex(slot, parents.length);
    return disabled == null || (disabled[slot >>> 6] & (1L << slot)) == 0;
  }

  @Override
  public boolean allEnabled() {
    return disabled == null;
  }

  /** The tags of a slot, in text order. */
  @Override
  public Set<String> tags(int slot) {
    Objects.checkIndex(slot, parents.length);
    return tags == null ? Set.of() : tags.of(slot);
  }

  @Override
  public Json.Obj attributes(int slot) {
    Objects.checkIndex(slot, parents.length);
    return attributes == null ? Json.Obj.EMPTY : attributes.of(slot);
  }

  @Override
  public String role(int slot) {
    Objects.checkIndex(slot, parents.length);
    return roles == null ? RoleFilter.NONE : roles.of(slot);
  }

  @Override
  public SpreadGroups spreadGroups() {
    return spreadGroups;
  }

  @Override
  public boolean hasRoles() {
    return roles != null;
  }

  /**
   * Memory of the arrays, including names, but not the values of distinct tag sets and attributes,
   * which are shared.
   */
  public long byteSize() {
    long total = names.nameBytes() + names.overheadBytes();
    total += ArraySizes.ofInts(levelStarts) + ArraySizes.ofInts(childStarts);
    total += ArraySizes.ofInts(parents);
    total += slotMap == null ? 0 : slotMap.bytes();
    total += disabled == null ? 0 : ArraySizes.ofLongs(disabled);
    total += tags == null ? 0 : tags.bytes();
    total += roles == null ? 0 : roles.bytes();
    return total + (attributes == null ? 0 : attributes.bytes());
  }

  /** The part of {@link #byteSize} that is the text of the names. */
  public long nameBytes() {
    return names.nameBytes();
  }

  /** Compares levels, nodes, numbers, flags, tags, attributes, roles and spread groups. */
  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof PackedTopology t
        && levels.equals(t.levels)
        && Arrays.equals(levelStarts, t.levelStarts)
        && Arrays.equals(childStarts, t.childStarts)
        && Arrays.equals(parents, t.parents)
        && Arrays.equals(disabled, t.disabled)
        && names.sameNames(t.names)
        && spreadGroups.equals(t.spreadGroups)
        && (slotMap == null ? t.slotMap == null : t.slotMap != null && slotMap.same(t.slotMap))
        && (roles == null ? t.roles == null : t.roles != null && roles.same(t.roles))
        && (tags == null ? t.tags == null : t.tags != null && tags.same(t.tags))
        && (attributes == null
            ? t.attributes == null
            : t.attributes != null && attributes.same(t.attributes));
  }

  @Override
  public int hashCode() {
    return 31 * Arrays.hashCode(parents) + names.namesHash();
  }

  @Override
  public String toString() {
    return "PackedTopology(" + size() + " nodes, " + slots() + " slots, " + levels + ")";
  }
}
