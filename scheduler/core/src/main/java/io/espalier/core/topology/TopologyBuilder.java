package io.espalier.core.topology;

import io.espalier.core.config.GroupRule;
import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeOrder;
import io.espalier.core.config.Partition;
import io.espalier.core.config.RoleFilter;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import java.nio.charset.StandardCharsets;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Collects the nodes that sources deliver and packs them into a {@link Topology}. It collects their
 * problems and repairs nothing. Not thread-safe; can be built only once.
 *
 * <p>The same name on several levels is allowed: those are different nodes. The same name under
 * several parents on one level is a replica. The same name twice under the same parent is a
 * problem: two sources, or two lines of one source, conflict.
 */
public final class TopologyBuilder implements NodeSink, NodeLookup {
  /** The maximum number of listed problems; further ones are only counted. */
  public static final int MAX_PROBLEMS = 20;

  private final Levels levels;
  private final String instanceName;
  private final Division division;
  private final NamePool pool = new NamePool();

  /** Distinct (level, name) in order of arrival, the instance first. */
  private final IntList entryLevels = new IntList();

  private final IntList entryHashes = new IntList();

  private long[] entryPositions = new long[16];

  /** By entry: the first slot; replicas are in {@link #replicaSet}. */
  private final IntList entryFirstSlots = new IntList();

  /** Open addressing over entries: entry + 1, or 0. */
  private int[] hash = new int[32];

  private final IntList[] entriesOfLevel;

  /** Edges in order of arrival. */
  private final IntList slotEntries = new IntList();

  private final IntList slotParents = new IntList();
  private final IntList disabledSlots = new IntList();
  private final EdgeAttributes<Set<String>> tags = new EdgeAttributes<>(Set.of());
  private final EdgeAttributes<Json.Obj> attributes = new EdgeAttributes<>(Json.Obj.EMPTY);
  private final EdgeAttributes<String> roles = new EdgeAttributes<>(RoleFilter.NONE);

  /** (entry, parent) of every slot but the first of its entry; null when there are no replicas. */
  private @Nullable Set<Long> replicaSet;

  private int lastParent;
  private int lastParentLevel = -1;
  private String lastParentName = "";
  private boolean levelsSkipped;
  private List<GroupRule> groups = List.of();
  private int lowestSeen;
  private SpreadGroups spreadGroups = SpreadGroups.NONE;
  private String path = "";
  private final List<Problem> problems = new ArrayList<>();
  private long problemCount;

  /** The source of the latest problem that is only counted. */
  private String omittedPath = "";

  /** Creates a builder with only the instance node. */
  public TopologyBuilder(Levels levels, String instanceName) {
    this(levels, instanceName, Division.WHOLE);
  }

  /**
   * Creates a builder with only the instance node. All nodes are to be added; the built tree
   * contains those of the partition.
   */
  public TopologyBuilder(Levels levels, String instanceName, Partition shard) {
    this(levels, instanceName, Division.byHash(shard));
  }

  /**
   * Creates a builder with only the instance node. All nodes are to be added; the built tree
   * contains those of the scheduler's part.
   */
  public TopologyBuilder(Levels levels, String instanceName, Division division) {
    this.levels = levels;
    this.instanceName = instanceName;
    this.division = division;
    this.entriesOfLevel = new IntList[levels.count()];
    Arrays.setAll(entriesOfLevel, i -> new IntList());
    String objection = NodeNames.objection(instanceName);
    if (objection != null) {
      problem("the name " + NodeNames.shown(instanceName) + " of the instance node " + objection);
    }
    byte[] name = (objection == null ? instanceName : "?").getBytes(StandardCharsets.UTF_8);
    addSlot(newEntry(0, name, NameTable.hashOf(0, name, 0, name.length)), -1);
  }

  /**
   * Sets the kinds of redundancy groups. The built tree says which of these groups have members in
   * other partitions.
   *
   * @param newLowestSeen the lowest level whose nodes of all partitions are added
   */
  public TopologyBuilder groups(List<GroupRule> newGroups, int newLowestSeen) {
    groups = newGroups;
    lowestSeen = newLowestSeen;
    return this;
  }

  /** Sets which groups have members in other partitions, for a tree that is not cut here. */
  public TopologyBuilder spreadGroups(SpreadGroups known) {
    spreadGroups = known;
    return this;
  }

  /** Sets the path for problems of the following nodes. */
  public TopologyBuilder from(String newPath) {
    path = newPath;
    return this;
  }

  @Override
  public void add(NodeSpec node) {
    int parent = placeFor(node);
    if (parent < 0) {
      return;
    }
    byte[] name = node.name().getBytes(StandardCharsets.UTF_8);
    int hashValue = NameTable.hashOf(node.level(), name, 0, name.length);
    int entry = find(node.level(), name, hashValue);
    if (entry < 0) {
      entry = newEntry(node.level(), name, hashValue);
    } else if (!isNewReplica(entry, parent)) {
      problem(
          where(node) + " is listed twice under " + NodeNames.shown(entryName(parent)),
          "list it once; equal rows of a file, a service or a database count once with"
              + " \"distinct\": true");
      return;
    }
    levelsSkipped |= node.parentLevel() != node.level() - 1;
    int slot = addSlot(entry, parent);
    if (!node.enabled()) {
      disabledSlots.add(slot);
    }
    tags.set(slot, node.tags().isEmpty() ? Set.of() : sorted(node.tags()));
    attributes.set(slot, node.attributes());
    roles.set(slot, node.role());
  }

  /**
   * Collects the problems of a node that is not needed here and will not be added, except for
   * duplicates.
   */
  public void check(NodeSpec node) {
    int unused = placeFor(node);
  }

  /** The parent of a node that can be added; negative, with a problem, when it cannot. */
  private int placeFor(NodeSpec node) {
    String objection = NodeNames.objection(node.name());
    if (objection != null) {
      problem("the node name " + NodeNames.shown(node.name()) + " " + objection);
      return -1;
    }
    if (node.level() < 1 || node.level() >= levels.worker()) {
      problem(where(node) + " cannot be placed: " + levelName(node.level()) + " has no nodes");
      return -1;
    }
    String roleObjection = node.role().isEmpty() ? null : RoleFilter.objection(node.role());
    if (roleObjection != null) {
      problem(where(node) + " cannot have a role: it " + roleObjection);
      return -1;
    }
    return parentOf(node);
  }

  /** A view that later additions do not change. */
  @Override
  public List<String> names(int level) {
    IntList entries = entriesOfLevel[level];
    int size = entries.size();
    return new AbstractList<>() {
      @Override
      public String get(int index) {
        return entryName(entries.get(Objects.checkIndex(index, size)));
      }

      @Override
      public int size() {
        return size;
      }
    };
  }

  /** Returns true when there is a node with that name on a level; the instance is on level 0. */
  public boolean contains(int level, String name) {
    return entryOf(level, name) >= 0;
  }

  /** The entry of a node; 0 or more if it exists, negative otherwise. */
  int entryOf(int level, String name) {
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    return find(level, bytes, NameTable.hashOf(level, bytes, 0, bytes.length));
  }

  /**
   * Returns true when the first edges of the node with that name, followed upwards, lead to a child
   * of the instance in the partition; for the instance, when the partition owns it.
   */
  public boolean isInShard(int level, String name) {
    int entry = entryOf(level, name);
    if (entry <= 0) {
      return entry == 0 && division.shard().ownsInstance();
    }
    int at = entry;
    for (int parent = parentOfFirst(at); parent != 0; parent = parentOfFirst(at)) {
      at = parent;
    }
    return division.owns(entryName(at));
  }

  /**
   * The nodes added so far that can be reached, by any of their edges, from a node of the
   * partition.
   */
  public PartitionReachability reach() {
    return new PartitionReachability(this);
  }

  private int parentOfFirst(int entry) {
    return slotParents.get(entryFirstSlots.get(entry));
  }

  /** Number of distinct nodes so far, including the instance. */
  public int size() {
    return entryLevels.size();
  }

  /** The problems so far: the first {@value #MAX_PROBLEMS} different ones, then how many more. */
  public List<Problem> problems() {
    List<Problem> all = new ArrayList<>(problems);
    if (problemCount > problems.size()) {
      all.add(
          Problem.error(
              omittedPath, (problemCount - problems.size()) + " more problems like these"));
    }
    return List.copyOf(all);
  }

  /**
   * Builds the tree, or returns problems and no tree: a shortened tree would orphan running tasks.
   * A tree may come with warnings.
   */
  public Result<Topology> build(NodeOrder order) {
    if (problemCount > 0) {
      return new Result<>(null, problems());
    }
    if (division.isWhole()) {
      return new Result<>(pack(order), List.of());
    }
    PartitionFilter cut = new PartitionFilter(this, division);
    TopologyBuilder own = cut.cut(new TopologyBuilder(levels, instanceName));
    own.spreadGroups = cut.spread(groups, lowestSeen);
    return new Result<>(own.pack(order), cut.warnings());
  }

  /** The division by which {@link #build} selects the nodes of this scheduler. */
  public Division division() {
    return division;
  }

  /** Adds a node of another builder without an edge. */
  int copyEntry(TopologyBuilder other, int entry) {
    byte[] name = other.entryName(entry).getBytes(StandardCharsets.UTF_8);
    return newEntry(other.entryLevel(entry), name, other.entryHashes.get(entry));
  }

  /** Adds an edge of another builder between two nodes that were copied. */
  void copySlot(TopologyBuilder other, int otherSlot, int entry, int parent) {
    levelsSkipped |= entryLevels.get(parent) != entryLevels.get(entry) - 1;
    int slot = slotEntries.size();
    slotEntries.add(entry);
    slotParents.add(parent);
    if (other.isDisabled(otherSlot)) {
      disabledSlots.add(slot);
    }
    tags.set(slot, other.tags.of(otherSlot));
    attributes.set(slot, other.attributes.of(otherSlot));
    roles.set(slot, other.roles.of(otherSlot));
  }

  private boolean isDisabled(int slot) {
    // Slots are added in ascending order.
    int low = 0;
    int high = disabledSlots.size() - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      int found = disabledSlots.get(middle);
      if (found == slot) {
        return true;
      }
      if (found < slot) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    return false;
  }

  PackedTopology pack(NodeOrder order) {
    return new TopologyPacking(this, order).pack();
  }

  // What the packing reads.

  Levels levels() {
    return levels;
  }

  NamePool pool() {
    return pool;
  }

  int slotCount() {
    return slotEntries.size();
  }

  int entryLevel(int entry) {
    return entryLevels.get(entry);
  }

  int entriesOn(int level) {
    return entriesOfLevel[level].size();
  }

  long entryPosition(int entry) {
    return entryPositions[entry];
  }

  int slotEntry(int slot) {
    return slotEntries.get(slot);
  }

  int slotParent(int slot) {
    return slotParents.get(slot);
  }

  Set<String> tags(int slot) {
    return tags.of(slot);
  }

  Json.Obj attributes(int slot) {
    return attributes.of(slot);
  }

  SpreadGroups spreadGroups() {
    return spreadGroups;
  }

  boolean levelsSkipped() {
    return levelsSkipped;
  }

  IntList disabledSlots() {
    return disabledSlots;
  }

  EdgeAttributes<Set<String>> tags() {
    return tags;
  }

  EdgeAttributes<Json.Obj> attributes() {
    return attributes;
  }

  EdgeAttributes<String> roles() {
    return roles;
  }

  private int parentOf(NodeSpec node) {
    int level = node.parentLevel();
    if (level < 0 || level >= node.level()) {
      problem(where(node) + " has a parent on " + levelName(level) + ", which is not above it");
      return -1;
    }
    if (node.parent() == null) {
      if (level != 0) {
        problem(where(node) + " names no parent, although it is on " + levelName(level));
      }
      return level == 0 ? 0 : -1;
    }
    // Sources deliver the children of a parent one after the other.
    if (level == lastParentLevel && node.parent().equals(lastParentName)) {
      return lastParent;
    }
    byte[] name = node.parent().getBytes(StandardCharsets.UTF_8);
    int parent = find(level, name, NameTable.hashOf(level, name, 0, name.length));
    if (parent < 0) {
      problem(
          where(node)
              + " has an unknown parent: there is no "
              + NodeNames.shown(node.parent())
              + " on "
              + levelName(level));
      return -1;
    }
    lastParent = parent;
    lastParentLevel = level;
    lastParentName = node.parent();
    return parent;
  }

  private String where(NodeSpec node) {
    return "node " + NodeNames.shown(node.name()) + " of " + levelName(node.level());
  }

  private String levelName(int level) {
    return level < 0 || level >= levels.count()
        ? "level number " + level
        : "level \"" + levels.name(level) + "\"";
  }

  private void problem(String message) {
    problem(message, null);
  }

  private void problem(String message, @Nullable String hint) {
    problemCount++;
    Problem problem = Problem.error(path, message);
    problem = hint == null ? problem : problem.withHint(hint);
    if (problems.size() < MAX_PROBLEMS && !problems.contains(problem)) {
      problems.add(problem);
    } else {
      omittedPath = path;
    }
  }

  private boolean isNewReplica(int entry, int parent) {
    if (slotParents.get(entryFirstSlots.get(entry)) == parent) {
      return false;
    }
    if (replicaSet == null) {
      replicaSet = new HashSet<>();
    }
    return replicaSet.add((long) entry << 32 | parent);
  }

  private int addSlot(int entry, int parent) {
    int slot = slotEntries.size();
    slotEntries.add(entry);
    slotParents.add(parent);
    if (entryFirstSlots.size() == entry) {
      entryFirstSlots.add(slot);
    }
    return slot;
  }

  String entryName(int entry) {
    return pool.name(entryPositions[entry]);
  }

  private int newEntry(int level, byte[] name, int hashValue) {
    int entry = entryLevels.size();
    if (entry == entryPositions.length) {
      entryPositions = Arrays.copyOf(entryPositions, entry * 2);
    }
    entryPositions[entry] = pool.add(name);
    entryLevels.add(level);
    entryHashes.add(hashValue);
    entriesOfLevel[level].add(entry);
    if ((entry + 1) * 3L > hash.length * 2L) {
      hash = new int[Math.multiplyExact(hash.length, 2)];
      for (int old = 0; old < entry; old++) {
        insert(old);
      }
    }
    insert(entry);
    return entry;
  }

  private int find(int level, byte[] name, int hashValue) {
    int i = NameTable.home(hashValue, hash.length);
    while (hash[i] != 0) {
      int entry = hash[i] - 1;
      if (entryHashes.get(entry) == hashValue
          && entryLevels.get(entry) == level
          && pool.equals(entryPositions[entry], name)) {
        return entry;
      }
      i = i + 1 == hash.length ? 0 : i + 1;
    }
    return -1;
  }

  private void insert(int entry) {
    int i = NameTable.home(entryHashes.get(entry), hash.length);
    while (hash[i] != 0) {
      i = i + 1 == hash.length ? 0 : i + 1;
    }
    hash[i] = entry + 1;
  }

  /** Sorts tags by their text, so that every run has the same order. */
  private static Set<String> sorted(Set<String> tags) {
    return Collections.unmodifiableSet(new LinkedHashSet<>(new TreeSet<>(tags)));
  }
}
