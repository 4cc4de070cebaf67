package io.espalier.server.nodes;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.GroupRule;
import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeSourceSpec;
import io.espalier.core.config.Partition;
import io.espalier.core.config.Settings;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.core.topology.NodeLookup;
import io.espalier.core.topology.NodeSink;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.NodeSourceContext;
import io.espalier.core.topology.NodeSourceException;
import io.espalier.core.topology.NodeSourceType;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.SpreadGroups;
import io.espalier.core.topology.Topology;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A scheduler with {@code --shard} forgets most nodes of the others, and yet has the tree that all
 * nodes would make. "host1" is of 1/2, "host2" of 0/2.
 */
class ShardedNodesTest {
  private static final Instant NOW = Instant.ofEpochSecond(1_000_000);
  private static final Duration PERIOD = Duration.ofMinutes(5);

  /** By the preference "id" of a source. */
  private final Map<String, Outside> outside = new HashMap<>();

  /** What is there. */
  private static final class Outside {
    private List<NodeSpec> nodes = List.of();
    private boolean broken;
    private int asked;
  }

  /** {@code outside}, {@code computed}; with "looks" they look at the nodes of that level. */
  private record Type(String name, boolean computed, Map<String, Outside> outside)
      implements NodeSourceType {
    @Override
    public Result<NodeSource> create(
        NodeSourceSpec spec, Levels levels, NodeSourceContext context) {
      Outside here = outside.computeIfAbsent(text(spec.prefs(), "id"), unused -> new Outside());
      String looks = text(spec.prefs(), "looks");
      return new Result<>(
          new NodeSource() {
            @Override
            public void fetch(NodeLookup soFar, Instant at, NodeSink sink)
                throws NodeSourceException {
              here.asked++;
              if (here.broken) {
                throw new NodeSourceException(List.of(Problem.error(spec.path(), "broken")));
              }
              List<String> seen =
                  looks.isEmpty() ? List.of() : List.copyOf(soFar.names(levels.find(looks)));
              here.nodes.forEach(sink::add);
              seen.forEach(name -> sink.add(NodeSpec.child(1, "saw-" + name, null)));
            }

            @Override
            public boolean isComputed() {
              return computed;
            }
          },
          List.of());
    }

    private static String text(Json.Obj prefs, String key) {
      return prefs.get(key) instanceof Json.Str text ? text.value() : "";
    }
  }

  private NodeFetcher fetcher(Partition shard) {
    Map<String, NodeSourceType> types =
        Map.of(
            "outside", new Type("outside", false, outside),
            "computed", new Type("computed", true, outside));
    return new NodeFetcher(types, "here", new NodeSourceContext("", ""), shard);
  }

  private NodeSourceCoordinator live(Partition shard) {
    return new NodeSourceCoordinator(fetcher(shard), PERIOD, PERIOD, () -> NOW);
  }

  private static Settings settings(String levels, String... sources) {
    return SettingsText.nodes(
        "'levels': [" + levels + "], 'node_sources': [" + String.join(",", sources) + "]");
  }

  private static String source(String type, String id, String more) {
    return "{'source': '%s', 'prefs': {'id': '%s'%s}, 'change_guard': {'enabled': false}}"
        .formatted(type, id, more);
  }

  private void say(String id, NodeSpec... nodes) {
    outside.computeIfAbsent(id, unused -> new Outside()).nodes = List.of(nodes);
  }

  private static NodeSpec host(String name) {
    return NodeSpec.child(1, name, null);
  }

  private static NodeSpec db(String name, String host) {
    return NodeSpec.child(2, name, host);
  }

  private static List<String> names(Result<Topology> result) {
    Topology topology = result.value();
    assertThat(topology).as(result.problems().toString()).isNotNull();
    List<String> names = new ArrayList<>();
    for (int node = 1; node < Objects.requireNonNull(topology).size(); node++) {
      names.add(topology.name(node));
    }
    return names;
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void whateverChangesTheTreeIsThatOfAllNodes(long seed) throws Exception {
    Random random = new Random(seed);
    Settings settings =
        settings(
            "'rack', 'host', 'db'",
            source("computed", "a", ""),
            source("outside", "b", ""),
            source("outside", "c", ""),
            source("computed", "d", ""),
            source("outside", "e", seed % 2 == 0 ? ", 'looks': 'host'" : ""));
    List<NodeSourceCoordinator> shards = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      shards.add(live(new Partition(i, 3)));
    }
    List<List<NodeSpec>> now = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      now.add(new ArrayList<>());
    }
    for (int round = 0; round < 60; round++) {
      change(now, random);
      for (int i = 0; i < 5; i++) {
        outside.computeIfAbsent("abcde".substring(i, i + 1), unused -> new Outside()).nodes =
            List.copyOf(now.get(i));
      }
      for (int i = 0; i < 3; i++) {
        Result<Topology> all = fetcher(new Partition(i, 3)).fetch(settings, NOW);
        Result<Topology> kept = shards.get(i).fetch(settings, NOW);
        assertThat(kept.problems()).as("round " + round).isEqualTo(all.problems());
        assertThat(kept.value()).as("round " + round).isEqualTo(all.value());
        assertThat(Objects.requireNonNull(shards.get(i).advance(settings, NOW)).value())
            .isEqualTo(all.value());
      }
    }
  }

  /** Adds, takes away and moves some nodes; what comes of it is sound. */
  private static void change(List<List<NodeSpec>> sources, Random random) {
    for (int i = 0; i < sources.size(); i++) {
      List<NodeSpec> nodes = sources.get(i);
      if (random.nextInt(3) > 0) {
        nodes.removeIf(node -> random.nextInt(6) == 0);
        for (int k = random.nextInt(6); k > 0; k--) {
          int level = 1 + random.nextInt(3);
          int above = random.nextInt(level);
          String parent = above == 0 ? null : "n" + random.nextInt(5);
          NodeSpec fresh =
              new NodeSpec(
                  level,
                  // Few names, so that they have several places, in several sources.
                  "n" + random.nextInt(level == 3 ? (i % 2 == 0 ? 200 : 12) : 5),
                  parent,
                  above,
                  random.nextBoolean(),
                  Set.of(),
                  Json.Obj.EMPTY);
          nodes.add(random.nextInt(nodes.size() + 1), fresh);
        }
      }
    }
    Set<String> known = new HashSet<>();
    Set<String> places = new HashSet<>();
    for (List<NodeSpec> nodes : sources) {
      nodes.removeIf(
          node -> {
            boolean sound =
                (node.parent() == null || known.contains(node.parentLevel() + node.parent()))
                    && places.add(
                        node.level() + node.name() + "/" + node.parentLevel() + node.parent());
            if (sound) {
              known.add(node.level() + node.name());
            }
            return !sound;
          });
    }
  }

  @Test
  void whatOthersHaveIsNotKeptAndASourceIsAskedAnewWhenItIsNeeded() throws Exception {
    Settings settings =
        settings("'rack', 'host', 'db'", source("outside", "a", ""), source("outside", "b", ""));
    say("a", host("rack2"), host("rack3"), NodeSpec.child(2, "h", "rack2"));
    say("b", NodeSpec.child(3, "x", "h"), NodeSpec.child(3, "y", "h"));
    int own = Partition.ownerOf("rack3", 2);
    assertThat(Partition.ownerOf("rack2", 2)).isNotEqualTo(own);
    NodeSourceCoordinator nodes = live(new Partition(own, 2));
    assertThat(names(nodes.fetch(settings, NOW))).containsExactly("rack3");
    assertThat(nodes.sources().get(1).nodes()).as("as the source said").isEqualTo(2);
    // The source that tells where "h" is changes, the one that knows its nodes is not due.
    say("a", host("rack2"), host("rack3"), NodeSpec.child(2, "h", "rack3"));
    outside("b").broken = true;
    Result<Topology> lacking = nodes.fetch(settings, NOW);
    assertThat(lacking.value()).as("better the last one than half of one").isNull();
    assertThat(lacking.problems().toString())
        .contains("node_sources[1]")
        .contains("broken")
        .contains("belonged to another shard");
    outside("b").broken = false;
    int asked = outside("b").asked;
    assertThat(names(nodes.refresh(settings, NOW))).containsExactly("rack3", "h", "x", "y");
    assertThat(outside("b").asked).isEqualTo(asked + 1);
    assertThat(names(nodes.refresh(settings, NOW))).hasSize(4);
    assertThat(outside("b").asked).isEqualTo(asked + 1);
  }

  @Test
  void aSourceThatLooksAtTheLowestLevelSeesAllOfIt() throws Exception {
    Settings settings =
        settings(
            "'host', 'db'", source("outside", "a", ""), source("outside", "b", ", 'looks': 'db'"));
    say("a", host("host1"), host("host2"), db("x", "host1"), db("y", "host2"));
    for (int i = 0; i < 2; i++) {
      Partition shard = new Partition(i, 2);
      NodeSourceCoordinator nodes = live(shard);
      Topology all = fetcher(shard).fetch(settings, NOW).value();
      assertThat(nodes.fetch(settings, NOW).value()).isEqualTo(all);
      say("a", host("host1"), host("host2"), db("x", "host1"), db("z", "host2"));
      assertThat(nodes.fetch(settings, NOW).value())
          .isEqualTo(fetcher(shard).fetch(settings, NOW).value());
    }
  }

  @Test
  void nodesOfOthersThatAreUnsoundStopTheNewsInAllAlike() throws Exception {
    Settings settings = settings("'host', 'db'", source("outside", "a", ""));
    List<List<NodeSpec>> unsound =
        List.of(
            List.of(host("host1"), host("host2"), db("x", "host1"), db("x", "host1")),
            List.of(host("host1"), host("host2"), db("x", "nobody")),
            List.of(host("host1"), host("host2"), db("", "host1")));
    for (List<NodeSpec> answer : unsound) {
      for (int i = 0; i < 2; i++) {
        NodeSourceCoordinator nodes = live(new Partition(i, 2));
        say("a", host("host1"), host("host2"), db("x", "host1"), db("y", "host2"));
        List<String> before = names(nodes.fetch(settings, NOW));
        outside("a").nodes = answer;
        Result<Topology> after = nodes.fetch(settings, NOW);
        assertThat(after.hasErrors()).isTrue();
        assertThat(after.problems())
            .isEqualTo(fetcher(new Partition(i, 2)).fetch(settings, NOW).problems());
        assertThat(names(after)).isEqualTo(before);
      }
    }
  }

  private Outside outside(String id) {
    return Objects.requireNonNull(outside.get(id));
  }

  private static final String BY_SET = "'set': {'by': 'attribute:set', 'max_concurrent': 1}";

  private static Settings grouped(String groups, Partition shard) {
    return SettingsText.nodes(
        "'levels': ['host', 'db'], 'node_sources': ["
            + source("outside", "hosts", "")
            + ","
            + source("outside", "dbs", "")
            + "]",
        groups,
        shard);
  }

  private static NodeSpec member(String name, String host, String set) {
    return new NodeSpec(2, name, host, 1, true, Set.of(), Json.object().put("set", set).build());
  }

  private static SpreadGroups spread(Result<Topology> result) {
    return Objects.requireNonNull(result.value()).spreadGroups();
  }

  @Test
  void membersOfTheLowestLevelAreFoundInOtherPartitions() throws Exception {
    Partition shard = new Partition(0, 2);
    say("hosts", host("host1"), host("host2"));
    say("dbs", member("a1", "host1", "a"), member("a2", "host2", "a"), member("b2", "host2", "b"));
    NodeSourceCoordinator nodes = live(shard);
    Settings none = grouped("", shard);
    assertThat(spread(nodes.fetch(none, NOW))).isEqualTo(SpreadGroups.NONE);
    // Groups that are new need nodes that had been forgotten.
    Settings settings = grouped(BY_SET, shard);
    assertThat(settings.nodesHash()).isNotEqualTo(none.nodesHash());
    Result<Topology> found = nodes.refresh(settings, NOW);
    assertThat(names(found)).containsExactly("host2", "a2", "b2");
    GroupRule rule = settings.rules().groups().get(0);
    assertThat(spread(found).elsewhere(rule, "a")).isEqualTo(1);
    assertThat(spread(found).elsewhere(rule, "b")).isZero();
    // A member of another partition joins a group of this one: that makes another tree.
    say("dbs", member("b1", "host1", "b"), member("a2", "host2", "a"), member("b2", "host2", "b"));
    Result<Topology> joined = nodes.fetch(settings, NOW);
    assertThat(joined.value()).isNotEqualTo(found.value());
    assertThat(spread(joined).elsewhere(rule, "a")).isZero();
    assertThat(spread(joined).elsewhere(rule, "b")).isEqualTo(1);
    assertThat(spread(Objects.requireNonNull(fetcher(shard)).fetch(settings, NOW)))
        .isEqualTo(spread(joined));
  }

  @Test
  void aLevelThatIsPushedDownMayHaveMembersElsewhere() throws Exception {
    Partition shard = new Partition(0, 2);
    say("hosts", host("host1"), host("host2"));
    say("dbs", member("b2", "host2", "b"));
    Settings settings =
        SettingsText.nodes(
            "'levels': ['host', 'db'], 'node_sources': ["
                + source("outside", "hosts", "")
                + ","
                + source("outside", "dbs", ", 'parent_level': 'host', 'push_down': 'one_parent'")
                + "]",
            BY_SET,
            shard);
    SpreadGroups spread = spread(live(shard).fetch(settings, NOW));
    assertThat(spread.isUnseen(settings.rules().groups().get(0))).isTrue();
  }
}
