package io.espalier.core.topology;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeOrder;
import io.espalier.core.json.Json;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Random trees with replicas, skipped levels, flags and tags, against plain collections. */
class TopologyModelTest {
  private static final Levels LEVELS = Levels.of(List.of("a", "b", "c", "d"));

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
  void whatWasAddedIsWhatIsThere(int seed) {
    Random random = new Random(seed);
    boolean replicas = random.nextBoolean();
    boolean skips = random.nextBoolean();
    List<NodeSpec> added = randomNodes(random, replicas, skips);
    for (NodeOrder order : NodeOrder.values()) {
      TopologyBuilder builder = new TopologyBuilder(LEVELS, "root");
      added.forEach(builder::add);
      Topology t = Objects.requireNonNull(builder.build(order).value());
      checkShape(t);
      checkRows(t, added, order);
      if (!replicas && !skips) {
        assertThat(t.slotsAreNodes()).isTrue();
      }
      TopologyBuilder again = new TopologyBuilder(LEVELS, "root");
      added.forEach(again::add);
      assertThat(again.build(order).value()).isEqualTo(t).hasSameHashCodeAs(t);
    }
  }

  private static List<NodeSpec> randomNodes(Random random, boolean replicas, boolean skips) {
    List<NodeSpec> added = new ArrayList<>();
    List<List<String>> names = new ArrayList<>(List.of(List.of("root")));
    Set<List<Object>> used = new HashSet<>();
    for (int level = 1; level < LEVELS.worker(); level++) {
      List<String> here = new ArrayList<>();
      names.add(here);
      int count = random.nextInt(200);
      for (int i = 0; i < count; i++) {
        int parentLevel = skips && random.nextInt(4) == 0 ? random.nextInt(level) : level - 1;
        if (names.get(parentLevel).isEmpty()) {
          continue;
        }
        boolean replica = replicas && !here.isEmpty() && random.nextInt(5) == 0;
        String name =
            replica
                ? here.get(random.nextInt(here.size()))
                : Integer.toString(random.nextInt(1_000_000), 36) + "\u00e9".repeat(i % 2);
        String parent = names.get(parentLevel).get(random.nextInt(names.get(parentLevel).size()));
        boolean taken = !replica && here.contains(name);
        if (taken || !used.add(List.of(level, name, parentLevel, parent))) {
          continue;
        }
        if (!replica) {
          here.add(name);
        }
        Set<String> tags = random.nextInt(3) == 0 ? Set.of("t" + random.nextInt(4), "x") : Set.of();
        Json.Obj attributes =
            random.nextInt(3) == 0
                ? Json.object().put("n", random.nextInt(5)).build()
                : Json.Obj.EMPTY;
        added.add(
            new NodeSpec(
                level, name, parent, parentLevel, random.nextInt(4) > 0, tags, attributes));
      }
    }
    return added;
  }

  private static void checkShape(Topology t) {
    int slot = 1;
    int previousLevel = 0;
    for (int node = 0; node < t.size(); node++) {
      assertThat(t.childStart(node)).isEqualTo(slot);
      int lastNode = -1;
      for (; slot < t.childEnd(node); slot++) {
        assertThat(t.parent(slot)).isEqualTo(node);
        assertThat(t.level(t.node(slot))).isGreaterThan(t.level(node));
        if (lastNode >= 0) {
          assertThat(t.level(t.node(slot))).isGreaterThanOrEqualTo(t.level(lastNode));
        }
        lastNode = t.node(slot);
      }
      assertThat(t.level(node)).isGreaterThanOrEqualTo(previousLevel);
      previousLevel = t.level(node);
      assertThat(t.find(t.level(node), t.name(node))).isEqualTo(node);
      assertThat(t.slotCount(node)).isPositive();
      for (int i = 0; i < t.slotCount(node); i++) {
        assertThat(t.node(t.slot(node, i))).isEqualTo(node);
        if (i > 0) {
          assertThat(t.slot(node, i)).isGreaterThan(t.slot(node, i - 1));
        }
      }
    }
    assertThat(slot).isEqualTo(t.slots());
  }

  private static void checkRows(Topology t, List<NodeSpec> added, NodeOrder order) {
    Map<List<Object>, List<NodeSpec>> rows = new LinkedHashMap<>();
    for (NodeSpec node : added) {
      rows.computeIfAbsent(
              List.of(node.parentLevel(), Objects.requireNonNull(node.parent())),
              k -> new ArrayList<>())
          .add(node);
    }
    assertThat(t.slots()).isEqualTo(added.size() + 1);
    rows.forEach(
        (key, row) -> {
          Comparator<NodeSpec> by = Comparator.comparing(NodeSpec::level);
          row.sort(order == NodeOrder.LEXICOGRAPHIC ? by.thenComparing(NodeSpec::name) : by);
          int parent = t.find((Integer) key.get(0), (String) key.get(1));
          assertThat(t.childEnd(parent) - t.childStart(parent)).isEqualTo(row.size());
          for (int i = 0; i < row.size(); i++) {
            int slot = t.childStart(parent) + i;
            NodeSpec node = row.get(i);
            assertThat(t.name(t.node(slot))).isEqualTo(node.name());
            assertThat(t.level(t.node(slot))).isEqualTo(node.level());
            assertThat(t.enabled(slot)).isEqualTo(node.enabled());
            assertThat(t.tags(slot)).containsExactlyElementsOf(new TreeSet<>(node.tags()));
            assertThat(t.attributes(slot)).isEqualTo(node.attributes());
          }
        });
  }
}
