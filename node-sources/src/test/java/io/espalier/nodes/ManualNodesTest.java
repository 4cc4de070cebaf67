package io.espalier.nodes;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.espalier.core.config.Levels;
import io.espalier.core.json.Json;
import io.espalier.core.topology.NodeSourceType;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.Topology;
import io.espalier.testkit.nodes.NodeSourceContract;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ManualNodesTest extends NodeSourceContract {
  private static final Levels TWO = Levels.of(List.of("host", "db"));
  private static final Levels THREE = Levels.of(List.of("rack", "host", "db"));

  @Override
  protected NodeSourceType type() {
    return new ManualNodes.Type();
  }

  @Override
  protected Example example() {
    Json.Obj prefs =
        Tree.prefs(
            """
            {
              "h2": ["d3", "d1"],
              "d3": {"disabled": true, "tags": ["cold", "big"], "attributes": {"size": 3}},
              "h1": {"children": ["d2"], "disabled": false},
              "h3": "d4"
            }
            """);
    return new Example(
        TWO,
        prefs,
        List.of(NodeSpec.child(1, "earlier", null)),
        List.of(
            NodeSpec.child(1, "h2", null),
            NodeSpec.child(1, "h1", null),
            NodeSpec.child(1, "h3", null),
            new NodeSpec(
                2,
                "d3",
                "h2",
                1,
                false,
                Set.of("cold", "big"),
                Json.object().put("size", 3).build()),
            NodeSpec.child(2, "d1", "h2"),
            NodeSpec.child(2, "d2", "h1"),
            NodeSpec.child(2, "d4", "h3")));
  }

  @Override
  protected Map<Json.Obj, List<String>> badPrefs() {
    return Map.of(
        Tree.prefs(
            """
            {
              "h1": 7,
              "h2": ["d1", 5, "d1", ""],
              "h3": {"children": {}, "disabled": "perhaps", "tags": "x", "attributes": []},
              "h4": {"child": ["d4"], "tags": ["", 1]},
              "h5": null,
              "": [],
              "two\\nlines": []
            }
            """),
        List.of(
            "h1",
            "h2[1]",
            "h2[2]",
            "h2[3]",
            "h3.children",
            "h3.disabled",
            "h3.tags",
            "h3.attributes",
            "h4.tags",
            "h4.tags[1]",
            "h5",
            "[\"\"]",
            "[\"two\\nlines\"]"),
        Tree.prefs("{\"h1\": {\"childern\": [\"d4\"], \"Disabled\": true}}"),
        List.of("h1.childern", "h1.Disabled"));
  }

  @Override
  protected boolean keysAreSettings() {
    return false;
  }

  private static List<String> problems(Levels levels, String json) {
    return Tree.problems(Tree.create(new ManualNodes.Type(), levels, json));
  }

  private static Topology tree(Levels levels, String json) throws Exception {
    return Tree.of(levels, Tree.source(new ManualNodes.Type(), levels, json));
  }

  @Test
  void n1NodesThatAreEachOthersOnlyChildAreACycle() {
    assertThat(problems(TWO, "{\"a\": [\"b\"], \"b\": [\"a\"]}"))
        .containsExactly(Tree.PATH + ".prefs.a: the nodes are below themselves: a -> b -> a");
    assertThat(problems(TWO, "{\"a\": \"a\"}"))
        .containsExactly(Tree.PATH + ".prefs.a: the nodes are below themselves: a -> a");
  }

  @Test
  void n1ACycleThatNoRootReachesIsAProblemToo() {
    assertThat(
            problems(
                THREE,
                "{\"root\": [\"x\"], \"b\": [\"c\"], \"c\": [\"a\"], \"a\": [\"y\", \"b\"]}"))
        .containsExactly(Tree.PATH + ".prefs.b: the nodes are below themselves: b -> c -> a -> b");
    assertThat(
            problems(
                TWO,
                "{\"r\": [\"a\", \"c\"], \"a\": [\"b\"], \"b\": [\"a\"], \"c\": [\"d\"], \"d\":"
                    + " [\"c\"]}"))
        .containsExactly(
            Tree.PATH + ".prefs.a: the nodes are below themselves: a -> b -> a",
            Tree.PATH + ".prefs.c: the nodes are below themselves: c -> d -> c");
  }

  @Test
  void aCycleOfAnyLengthIsFoundWithoutRecursion() {
    StringBuilder json = new StringBuilder("{");
    int length = 100_000;
    for (int i = 0; i < length; i++) {
      json.append("\"n%d\": \"n%d\", ".formatted(i, (i + 1) % length));
    }
    json.setCharAt(json.length() - 2, '}');
    assertThat(problems(TWO, json.toString()))
        .containsExactly(
            Tree.PATH
                + ".prefs.n0: the nodes are below themselves: n0 -> n1 -> n2 -> n3 -> n4 -> n5 ->"
                + " n6 -> n7 -> n8 -> … 99991 more -> n0");
  }

  @Test
  void n2AChainOfThreeDoesNotFitTwoLevels() throws Exception {
    String chain = "{\"a\": [\"b\"], \"b\": [\"c\", \"d\"]}";
    assertThat(problems(TWO, chain))
        .containsExactly(
            Tree.PATH
                + ".prefs.b: the node \"c\" would be 3 deep, but there are only the levels [host,"
                + " db]",
            Tree.PATH
                + ".prefs.b: the node \"d\" would be 3 deep, but there are only the levels [host,"
                + " db]");
    assertThat(Tree.lines(tree(THREE, chain))).containsExactly("instance/a", "a/b", "b/c", "b/d");
    assertThat(problems(Levels.of(List.of()), "{\"a\": []}"))
        .containsExactly(
            Tree.PATH
                + ".prefs.a: the node \"a\" would be 1 deep, but there are only the levels []");
  }

  @Test
  void n3EntriesMayComeInAnyOrder() throws Exception {
    Topology t =
        tree(
            THREE,
            "{\"h1\": [\"d1\", \"d2\"], \"r2\": [\"h3\"], \"h3\": [\"d4\"], \"r1\": [\"h1\","
                + " \"h2\"], \"h2\": [\"d3\"]}");
    assertThat(Tree.lines(t))
        .containsExactly(
            "instance/r2",
            "instance/r1",
            "r2/h3",
            "r1/h1",
            "r1/h2",
            "h3/d4",
            "h1/d1",
            "h1/d2",
            "h2/d3");
  }

  @Test
  void n4ANodeWithoutChildrenIsANode() throws Exception {
    Topology t = tree(TWO, "{\"a\": []}");
    assertThat(t.size()).isEqualTo(2);
    assertThat(Tree.lines(t)).containsExactly("instance/a");
    assertThat(tree(TWO, "{}").size()).isEqualTo(1);
  }

  @Test
  void n5TheObjectFormDisablesOnlyTheNodeItself() throws Exception {
    Topology t =
        tree(
            TWO,
            "{\"h\": {\"disabled\": true, \"children\": [\"d1\", \"d2\", \"d3\"]}, \"d1\":"
                + " {\"disabled\": true}, \"d2\": {}}");
    assertThat(Tree.lines(t)).containsExactly("instance/h-", "h/d1-", "h/d2", "h/d3");
  }

  @Test
  void n18DisabledFalseIsEnabled() throws Exception {
    Topology t =
        tree(TWO, "{\"a\": {\"disabled\": false}, \"b\": {\"disabled\": \"true\"}, \"c\": {}}");
    assertThat(Tree.lines(t)).containsExactly("instance/a", "instance/b-", "instance/c");
  }

  @Test
  void aChildUnderTwoParentsIsAReplicaWithOneRowOfChildren() throws Exception {
    Topology t =
        tree(
            THREE,
            "{\"r1\": [\"h\"], \"r2\": [\"h\", \"g\"], \"h\": {\"children\": [\"d\"], \"disabled\":"
                + " true}}");
    assertThat(Tree.lines(t))
        .containsExactly("instance/r1", "instance/r2", "r1/h-", "r2/h-", "r2/g", "h/d");
    assertThat(t.slotCount(t.find(2, "h"))).isEqualTo(2);
  }

  @Test
  void diamondsBelowDiamondsStaySmall() throws Exception {
    List<String> names = IntStream.range(0, 30).mapToObj(i -> "l" + i).toList();
    StringBuilder json = new StringBuilder("{");
    for (int i = 0; i < 29; i++) {
      json.append("\"l%da\": [\"l%da\", \"l%db\"], ".formatted(i, i + 1, i + 1));
      json.append("\"l%db\": [\"l%da\", \"l%db\"], ".formatted(i, i + 1, i + 1));
    }
    json.setCharAt(json.length() - 2, '}');
    Topology t = tree(Levels.of(names), json.toString());
    assertThat(t.size()).isEqualTo(61);
    assertThat(t.slots()).isEqualTo(1 + 2 + 29 * 4);
  }

  @Test
  void aNameMayStandOnTwoLevels() throws Exception {
    // "x" is a root's child through b and a grandchild through a: two nodes, each with its
    // children.
    Topology t = tree(THREE, "{\"a\": [\"m\"], \"m\": [\"x\"], \"b\": [\"x\"]}");
    assertThat(Tree.names(t, 2)).containsExactly("m", "x");
    assertThat(Tree.names(t, 3)).containsExactly("x");
  }

  @Test
  void namesAreDataEvenWhenTheyLookLikeComments() {
    assertThat(problems(TWO, "{\"// note\": [], \"_x\": [], \"a b/c\": []}"))
        .containsExactly(Tree.PATH + ".prefs[\"// note\"]: this is a node here, not a comment");
  }

  @Test
  void manyProblemsAreCountedNotListed() {
    StringBuilder json = new StringBuilder("{");
    for (int i = 0; i < 1000; i++) {
      json.append("\"n%d\": 1, ".formatted(i));
    }
    json.setCharAt(json.length() - 2, '}');
    List<String> problems = problems(TWO, json.toString());
    assertThat(problems).hasSize(51);
    assertThat(problems.get(50)).isEqualTo(Tree.PATH + ".prefs: 950 more problems like these");
  }

  /** Returns how many bytes it costs to read nodes that say themselves that they are below one. */
  private static long bytesOfAlternatives(int nodes) {
    String json =
        IntStream.range(0, nodes)
            .mapToObj(i -> "\"d%d\": {\"alternatives\": [{\"parent\": \"h\"}]}".formatted(i))
            .collect(Collectors.joining(", ", "{", "}"));
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    assertThat(problems(TWO, json)).isEmpty();
    long bytes = threads.getCurrentThreadAllocatedBytes() - before;
    return bytes;
  }

  @Test
  void aNodeWithAlternativesCopiesNoneOfItsSiblings() {
    bytesOfAlternatives(10); // Loads the classes.
    assertThat(2 * bytesOfAlternatives(8_000)).isLessThan(5 * bytesOfAlternatives(4_000));
  }
}
