package io.espalier.core.topology;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.GroupRule;
import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeOrder;
import io.espalier.core.config.Partition;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Which nodes and places a scheduler with {@code --shard} has. "host1" is of 1/2, "host2" 0/2. */
class PartitionFilterTest {
  private static final Levels LEVELS = Levels.of(List.of("host", "db", "part"));

  private static Result<Topology> build(Partition shard, List<NodeSpec> nodes) {
    TopologyBuilder builder = new TopologyBuilder(LEVELS, "here", shard);
    nodes.forEach(builder::add);
    return builder.build(NodeOrder.ORIGINAL);
  }

  private static Topology tree(Partition shard, List<NodeSpec> nodes) {
    return Objects.requireNonNull(build(shard, nodes).value());
  }

  /** {@code parent/name} of every place. */
  private static Set<String> places(Topology t) {
    Set<String> places = new TreeSet<>();
    for (int slot = 1; slot < t.slots(); slot++) {
      places.add(t.name(t.parent(slot)) + "/" + t.name(t.node(slot)));
    }
    return places;
  }

  @Test
  void a_scheduler_has_the_subtrees_whose_names_hash_to_its_number() {
    List<NodeSpec> nodes =
        List.of(
            NodeSpec.child(1, "host1", null),
            NodeSpec.child(1, "host2", null),
            NodeSpec.child(2, "d1", "host1"),
            NodeSpec.child(2, "d2", "host2"),
            NodeSpec.child(3, "p2", "d2"));
    assertThat(places(tree(new Partition(0, 2), nodes)))
        .containsExactly("d2/p2", "here/host2", "host2/d2");
    assertThat(places(tree(new Partition(1, 2), nodes))).containsExactly("here/host1", "host1/d1");
    assertThat(build(new Partition(1, 2), nodes).problems()).isEmpty();
    assertThat(tree(Partition.WHOLE, nodes).size()).isEqualTo(6);
  }

  @Test
  void flags_tags_and_attributes_stay_with_their_places() {
    List<NodeSpec> nodes =
        List.of(
            NodeSpec.child(1, "host1", null),
            new NodeSpec(2, "x", "host1", 1, true, Set.of("other"), Json.Obj.EMPTY),
            new NodeSpec(1, "host2", null, 0, true, Set.of("t"), Json.object().put("k", 1).build()),
            new NodeSpec(2, "d2", "host2", 1, false, Set.of("u", "v"), Json.Obj.EMPTY));
    Topology t = tree(new Partition(0, 2), nodes);
    assertThat(t.tags(1)).containsExactly("t");
    assertThat(t.attributes(1)).isEqualTo(Json.object().put("k", 1).build());
    assertThat(t.enabled(1)).isTrue();
    assertThat(t.enabled(2)).isFalse();
    assertThat(t.tags(2)).containsExactly("u", "v");
  }

  @Test
  void a_node_below_two_subtrees_belongs_to_the_smaller_name_and_its_other_path_is_closed() {
    List<NodeSpec> nodes =
        List.of(
            NodeSpec.child(1, "host2", null),
            NodeSpec.child(2, "d", "host2"),
            NodeSpec.child(3, "p", "d"),
            // Known only after its children: they go with it all the same.
            NodeSpec.child(1, "host1", null),
            NodeSpec.child(2, "d", "host1"));
    Result<Topology> second = build(new Partition(1, 2), nodes);
    assertThat(places(Objects.requireNonNull(second.value())))
        .containsExactly("d/p", "here/host1", "host1/d");
    Result<Topology> first = build(new Partition(0, 2), nodes);
    assertThat(places(Objects.requireNonNull(first.value()))).containsExactly("here/host2");
    for (Result<Topology> result : List.of(first, second)) {
      assertThat(result.problems()).hasSize(1);
      Problem problem = result.problems().get(0);
      assertThat(problem.isError()).isFalse();
      assertThat(problem.message())
          .contains("1 path is closed")
          .contains("\"d\" under \"host2\" (it is of shard 1)");
    }
    assertThat(places(tree(Partition.WHOLE, nodes))).contains("host1/d", "host2/d");
  }

  @Test
  void paths_through_subtrees_of_one_scheduler_stay_open() {
    // Both are of shard 0 of 2.
    List<NodeSpec> nodes =
        List.of(
            NodeSpec.child(1, "host2", null),
            NodeSpec.child(1, "db-042", null),
            NodeSpec.child(2, "d", "host2"),
            NodeSpec.child(2, "d", "db-042"));
    Result<Topology> built = build(new Partition(0, 2), nodes);
    assertThat(built.problems()).isEmpty();
    assertThat(places(Objects.requireNonNull(built.value()))).contains("host2/d", "db-042/d");
  }

  @Test
  void nodes_that_skip_levels_up_to_the_instance_are_subtrees_too() {
    List<NodeSpec> nodes =
        List.of(
            new NodeSpec(2, "host1", null, 0, true, Set.of(), Json.Obj.EMPTY),
            new NodeSpec(3, "host2", null, 0, true, Set.of(), Json.Obj.EMPTY),
            new NodeSpec(3, "p", "host1", 2, true, Set.of(), Json.Obj.EMPTY));
    assertThat(places(tree(new Partition(0, 2), nodes))).containsExactly("here/host2");
    assertThat(places(tree(new Partition(1, 2), nodes))).containsExactly("here/host1", "host1/p");
  }

  @Test
  void what_is_wrong_anywhere_leaves_no_tree_anywhere() {
    List<NodeSpec> nodes =
        List.of(NodeSpec.child(1, "host1", null), NodeSpec.child(2, "d", "host9"));
    for (int i = 0; i < 2; i++) {
      assertThat(build(new Partition(i, 2), nodes).value()).isNull();
    }
  }

  /** Every node is in exactly one shard, there by every path on which all nodes are. */
  @Test
  void shards_divide_random_graphs() {
    for (int seed = 0; seed < 200; seed++) {
      Random random = new Random(seed);
      List<NodeSpec> nodes = randomGraph(random);
      int count = 1 + random.nextInt(5);
      Map<String, Integer> owners = new HashMap<>();
      List<Topology> parts = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        Topology part = tree(new Partition(i, count), nodes);
        parts.add(part);
        for (int node = 1; node < part.size(); node++) {
          assertThat(owners.put(part.level(node) + part.name(node), i)).isNull();
          assertThat(part.slotCount(node)).isPositive();
        }
      }
      Topology whole = tree(Partition.WHOLE, nodes);
      assertThat(owners).hasSize(whole.size() - 1);
      Set<String> open = new HashSet<>();
      parts.forEach(part -> open.addAll(places(part)));
      for (int slot = 1; slot < whole.slots(); slot++) {
        int node = whole.node(slot);
        int parent = whole.parent(slot);
        int owner = Objects.requireNonNull(owners.get(whole.level(node) + whole.name(node)));
        boolean stays =
            parent == 0
                ? Partition.ownerOf(whole.name(node), count) == owner
                : Objects.requireNonNull(owners.get(whole.level(parent) + whole.name(parent)))
                    == owner;
        assertThat(open.contains(whole.name(parent) + "/" + whole.name(node))).isEqualTo(stays);
        assertThat(owner).isEqualTo(Partition.ownerOf(smallestTop(whole, node), count));
      }
    }
  }

  private static String smallestTop(Topology t, int node) {
    String smallest = "\uffff";
    for (int i = 0; i < t.slotCount(node); i++) {
      int parent = t.parent(t.slot(node, i));
      String top = parent == 0 ? t.name(node) : smallestTop(t, parent);
      smallest = top.compareTo(smallest) < 0 ? top : smallest;
    }
    return smallest;
  }

  private static List<NodeSpec> randomGraph(Random random) {
    List<NodeSpec> nodes = new ArrayList<>();
    Set<String> seen = new HashSet<>();
    List<List<String>> byLevel = List.of(List.of(), new ArrayList<>(), new ArrayList<>());
    for (int level = 1; level <= 3; level++) {
      int count = 3 + random.nextInt(12);
      for (int i = 0; i < count; i++) {
        // Names differ between levels, so that a place is told by its two names.
        String name = "n" + level + "." + random.nextInt(10);
        int parentLevel = random.nextInt(4) == 0 ? 0 : level - 1;
        if (parentLevel > 0 && byLevel.get(parentLevel).isEmpty()) {
          continue;
        }
        String parent =
            parentLevel == 0
                ? null
                : byLevel.get(parentLevel).get(random.nextInt(byLevel.get(parentLevel).size()));
        if (seen.add(level + name + "/" + parentLevel + parent)) {
          nodes.add(new NodeSpec(level, name, parent, parentLevel, true, Set.of(), Json.Obj.EMPTY));
          if (level < 3) {
            byLevel.get(level).add(name);
          }
        }
      }
    }
    return nodes;
  }

  private static NodeSpec member(int level, String name, String parent, String set) {
    return new NodeSpec(
        level,
        name,
        level == 1 ? null : parent,
        level - 1,
        true,
        Set.of("t" + set),
        Json.object().put("set", set).build());
  }

  private static SpreadGroups spread(Partition shard, int lowestSeen, GroupRule rule) {
    TopologyBuilder builder =
        new TopologyBuilder(LEVELS, "here", shard).groups(List.of(rule), lowestSeen);
    List.of(
            member(1, "host1", "", "a"),
            member(1, "host2", "", "b"),
            member(2, "d1", "host1", "x"),
            member(2, "d2", "host2", "x"),
            member(2, "e1", "host1", "y"),
            member(2, "e2", "host2", "z"),
            // Belongs to the partition of host1, and counts there once.
            member(2, "both", "host1", "x"),
            member(2, "both", "host2", "x"))
        .forEach(builder::add);
    return Objects.requireNonNull(builder.build(NodeOrder.ORIGINAL).value()).spreadGroups();
  }

  @Test
  void groups_with_members_in_several_partitions_are_known_by_the_number_of_those_elsewhere() {
    GroupRule dbs = new GroupRule("set", 2, "attribute:set", 1, 0);
    SpreadGroups first = spread(new Partition(0, 2), 3, dbs);
    assertThat(first.elsewhere(dbs, "x")).isEqualTo(2);
    assertThat(first.elsewhere().get(SpreadGroups.Kind.of(dbs))).containsOnlyKeys("x");
    assertThat(spread(new Partition(1, 2), 3, dbs).elsewhere(dbs, "x")).isEqualTo(1);
    GroupRule tagged = new GroupRule("tag", 2, "tag:t*", 0, 0.5);
    assertThat(spread(new Partition(0, 2), 3, tagged).elsewhere(tagged, "tx")).isEqualTo(2);
    GroupRule hosts = new GroupRule("set", 1, "attribute:set", 1, 0);
    assertThat(spread(new Partition(0, 2), 3, hosts)).isEqualTo(SpreadGroups.NONE);
    assertThat(spread(Partition.WHOLE, 3, dbs)).isEqualTo(SpreadGroups.NONE);
    assertThat(first).isNotEqualTo(spread(new Partition(1, 2), 3, dbs));
  }

  @Test
  void groups_of_a_level_of_which_only_a_part_is_read_may_have_members_elsewhere() {
    GroupRule dbs = new GroupRule("set", 2, "attribute:set", 1, 0);
    SpreadGroups first = spread(new Partition(0, 2), 1, dbs);
    assertThat(first.isUnseen(dbs)).isTrue();
    assertThat(first.isUnseen(new GroupRule("set", 1, "attribute:set", 1, 0))).isFalse();
    assertThat(first.elsewhere()).isEmpty();
  }
}
