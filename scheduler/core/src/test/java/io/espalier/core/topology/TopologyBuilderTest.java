package io.espalier.core.topology;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeOrder;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TopologyBuilderTest {
  private static final Levels HOST_DB = Levels.of(List.of("host", "db"));

  private static TopologyBuilder builder() {
    return new TopologyBuilder(HOST_DB, "here").from("nodes[0]");
  }

  private static Topology build(TopologyBuilder builder, NodeOrder order) {
    Result<Topology> result = builder.build(order);
    assertThat(result.problems()).isEmpty();
    return Objects.requireNonNull(result.value());
  }

  private static List<String> names(Topology t) {
    return IntStream.range(0, t.size()).mapToObj(t::name).toList();
  }

  private static List<String> children(Topology t, int node) {
    return IntStream.range(t.childStart(node), t.childEnd(node))
        .mapToObj(slot -> t.name(t.node(slot)))
        .toList();
  }

  private static List<String> messages(TopologyBuilder builder) {
    return builder.problems().stream().map(Problem::message).toList();
  }

  @Test
  void aTreeIsNumberedLevelByLevelWithSiblingsTogether() {
    TopologyBuilder b = builder();
    b.add(NodeSpec.child(1, "h2", null));
    b.add(NodeSpec.child(2, "d3", "h2"));
    b.add(NodeSpec.child(1, "h1", "here"));
    b.add(NodeSpec.child(2, "d2", "h1"));
    b.add(NodeSpec.child(2, "d1", "h1"));
    b.add(NodeSpec.child(2, "d0", "h2"));

    Topology original = build(b, NodeOrder.ORIGINAL);
    assertThat(names(original)).containsExactly("here", "h2", "h1", "d3", "d0", "d2", "d1");
    assertThat(original.slotsAreNodes()).isTrue();
    assertThat(original.slots()).isEqualTo(7);
    assertThat(children(original, 0)).containsExactly("h2", "h1");
    assertThat(children(original, 1)).containsExactly("d3", "d0");
    assertThat(children(original, 2)).containsExactly("d2", "d1");
    assertThat(children(original, 6)).isEmpty();
    assertThat(original.parent(0)).isEqualTo(-1);
    assertThat(original.parent(5)).isEqualTo(2);
    assertThat(original.levelStart(2)).isEqualTo(3);
    assertThat(original.levelEnd(2)).isEqualTo(7);
    assertThat(original.levelStart(3)).isEqualTo(7);
    assertThat(original.levelEnd(3)).as("the worker level").isEqualTo(7);
    assertThat(original.level(0)).isZero();
    assertThat(original.level(2)).isEqualTo(1);
    assertThat(original.level(6)).isEqualTo(2);
    assertThat(original.slotCount(4)).isEqualTo(1);
    assertThat(original.slot(4, 0)).isEqualTo(4);
    assertThat(original.allEnabled()).isTrue();

    Topology sorted = build(b, NodeOrder.LEXICOGRAPHIC);
    assertThat(names(sorted)).containsExactly("here", "h1", "h2", "d1", "d2", "d0", "d3");
    assertThat(build(b, NodeOrder.RANDOM)).isEqualTo(original).isNotEqualTo(sorted);
  }

  @Test
  void nodesAreFoundByLevelAndName() {
    TopologyBuilder b = builder();
    b.add(NodeSpec.child(1, "same", null));
    b.add(NodeSpec.child(2, "same", "same"));
    b.add(NodeSpec.child(2, "Grüße \uD83C\uDF33", "same"));
    Topology t = build(b, NodeOrder.ORIGINAL);

    assertThat(t.find(0, "here")).isZero();
    assertThat(t.find(1, "same")).isEqualTo(1);
    assertThat(t.find(2, "same")).isEqualTo(2);
    assertThat(t.find(2, "Grüße \uD83C\uDF33")).isEqualTo(3);
    assertThat(t.name(3)).isEqualTo("Grüße \uD83C\uDF33");
    assertThat(t.find(1, "here")).isEqualTo(-1);
    assertThat(t.find(3, "same")).isEqualTo(-1);
    assertThat(t.find(1, "")).isEqualTo(-1);
  }

  @Test
  void aReplicaIsOneNodeWithASlotUnderEachParent() {
    TopologyBuilder b = builder();
    b.add(NodeSpec.child(1, "h1", null));
    b.add(NodeSpec.child(1, "h2", null));
    b.add(NodeSpec.child(2, "a", "h1"));
    b.add(NodeSpec.child(2, "shared", "h1"));
    b.add(new NodeSpec(2, "shared", "h2", 1, false, Set.of("copy"), Json.Obj.EMPTY));
    b.add(NodeSpec.child(2, "b", "h2"));
    Topology t = build(b, NodeOrder.ORIGINAL);

    assertThat(names(t)).containsExactly("here", "h1", "h2", "a", "shared", "b");
    assertThat(t.slotsAreNodes()).isFalse();
    assertThat(t.slots()).isEqualTo(7);
    assertThat(children(t, 1)).containsExactly("a", "shared");
    assertThat(children(t, 2)).containsExactly("shared", "b");
    int shared = t.find(2, "shared");
    assertThat(t.slotCount(shared)).isEqualTo(2);
    assertThat(t.slotCount(t.find(2, "b"))).isEqualTo(1);
    int first = t.slot(shared, 0);
    int second = t.slot(shared, 1);
    assertThat(List.of(t.parent(first), t.parent(second))).containsExactly(1, 2);
    assertThat(t.enabled(first)).isTrue();
    assertThat(t.enabled(second)).isFalse();
    assertThat(t.allEnabled()).isFalse();
    assertThat(t.tags(first)).isEmpty();
    assertThat(t.tags(second)).containsExactly("copy");
  }

  @Test
  void levelsMayBeSkipped() {
    TopologyBuilder b = new TopologyBuilder(Levels.of(List.of("rack", "host", "db")), "here");
    b.add(new NodeSpec(3, "d0", null, 0, true, Set.of(), Json.Obj.EMPTY));
    b.add(NodeSpec.child(1, "r1", null));
    b.add(new NodeSpec(3, "d1", "r1", 1, true, Set.of(), Json.Obj.EMPTY));
    b.add(NodeSpec.child(2, "h1", "r1"));
    b.add(NodeSpec.child(3, "d2", "h1"));
    Topology t = build(b, NodeOrder.ORIGINAL);

    assertThat(names(t)).containsExactly("here", "r1", "h1", "d0", "d1", "d2");
    assertThat(t.slotsAreNodes()).isFalse();
    assertThat(t.slots()).isEqualTo(6);
    assertThat(children(t, 0)).containsExactly("r1", "d0");
    assertThat(children(t, 1)).containsExactly("h1", "d1");
    assertThat(t.parent(t.slot(t.find(3, "d1"), 0))).isEqualTo(1);
  }

  @Test
  void tagsAndAttributesBelongToSlotsAndAreHeldOnce() {
    Json.Obj zone = Json.object().put("zone", "a").build();
    TopologyBuilder b = builder();
    b.add(NodeSpec.child(1, "h1", null));
    b.add(new NodeSpec(1, "h2", null, 0, false, Set.of("z", "a", "m"), zone));
    b.add(new NodeSpec(1, "h3", null, 0, true, Set.of("m", "z", "a"), zone));
    b.add(NodeSpec.child(2, "d", "h3"));
    PackedTopology t = (PackedTopology) build(b, NodeOrder.ORIGINAL);

    assertThat(t.tags(1)).isEmpty();
    assertThat(t.tags(2)).containsExactly("a", "m", "z").isSameAs(t.tags(3));
    assertThat(t.attributes(1)).isEqualTo(Json.Obj.EMPTY);
    assertThat(t.attributes(3)).isEqualTo(zone);
    assertThat(t.attributes(4)).isEqualTo(Json.Obj.EMPTY);
    assertThat(IntStream.range(0, 5).filter(t::enabled)).containsExactly(0, 1, 3, 4);
  }

  @Test
  void sourcesSeeTheDistinctNamesSoFarAsTheyWere() {
    TopologyBuilder b = builder();
    assertThat(b.names(0)).containsExactly("here");
    b.add(NodeSpec.child(1, "h2", null));
    b.add(NodeSpec.child(1, "h1", null));
    List<String> hosts = b.names(1);
    b.add(NodeSpec.child(2, "d", "h1"));
    b.add(NodeSpec.child(2, "d", "h2"));
    for (int i = 0; i < 100; i++) {
      b.add(NodeSpec.child(1, "later" + i, null));
    }
    assertThat(hosts).containsExactly("h2", "h1");
    assertThat(b.names(2)).containsExactly("d");
    assertThat(b.names(1)).hasSize(102);
    assertThat(b.names(3)).isEmpty();
  }

  @Test
  void everyProblemIsCollectedWithItsPathAndNoTreeIsMade() {
    TopologyBuilder b = builder();
    b.add(NodeSpec.child(1, "h1", null));
    b.add(NodeSpec.child(1, "h1", null));
    b.add(NodeSpec.child(2, "d", "nowhere"));
    b.add(NodeSpec.child(2, "d", null));
    b.add(new NodeSpec(1, "x", "h1", 1, true, Set.of(), Json.Obj.EMPTY));
    b.add(NodeSpec.child(3, "w", "h1"));
    b.add(NodeSpec.child(0, "second-instance", null));
    b.add(NodeSpec.child(1, "", null));
    b.add(NodeSpec.child(1, "two\nlines", null));
    b.add(NodeSpec.child(1, "nul\0", null));
    b.add(NodeSpec.child(1, "half \uD83C", null));
    b.add(NodeSpec.child(1, "é".repeat(513), null));
    b.add(NodeSpec.child(1, "é".repeat(512), null));

    assertThat(messages(b))
        .containsExactly(
            "node \"h1\" of level \"host\" is listed twice under \"here\"",
            "node \"d\" of level \"db\" has an unknown parent: there is no \"nowhere\" on level"
                + " \"host\"",
            "node \"d\" of level \"db\" names no parent, although it is on level \"host\"",
            "node \"x\" of level \"host\" has a parent on level \"host\", which is not above it",
            "node \"w\" of level \"worker\" cannot be placed: level \"worker\" has no nodes",
            "node \"second-instance\" of level \"instance\" cannot be placed: level \"instance\""
                + " has no nodes",
            "the node name \"\" is empty",
            "the node name \"two\\u000alines\" contains a control character or line break (U+000A)",
            "the node name \"nul\\u0000\" contains a control character or line break (U+0000)",
            "the node name \"half \\ud83c\" is not valid Unicode (lone surrogate U+D83C)",
            "the node name \"" + "é".repeat(80) + "…\" is longer than 1024 bytes");
    assertThat(b.problems()).allMatch(p -> p.path().equals("nodes[0]") && p.isError());
    assertThat(b.build(NodeOrder.ORIGINAL).value()).isNull();
    assertThat(b.build(NodeOrder.ORIGINAL).problems()).isEqualTo(b.problems());
  }

  @Test
  void aReplicaListedTwiceUnderItsSecondParentIsAProblem() {
    TopologyBuilder b = builder();
    b.add(NodeSpec.child(1, "h1", null));
    b.add(NodeSpec.child(1, "h2", null));
    b.add(NodeSpec.child(2, "d", "h1"));
    b.add(NodeSpec.child(2, "d", "h2"));
    b.add(NodeSpec.child(2, "d", "h2"));
    assertThat(messages(b))
        .containsExactly("node \"d\" of level \"db\" is listed twice under \"h2\"");
  }

  @Test
  void manyProblemsAreCountedNotListed() {
    TopologyBuilder b = builder();
    for (int i = 0; i < 1000; i++) {
      b.add(NodeSpec.child(2, "d" + i, "missing"));
    }
    List<String> messages = new ArrayList<>(messages(b));
    assertThat(messages).hasSize(TopologyBuilder.MAX_PROBLEMS + 1);
    assertThat(messages.get(TopologyBuilder.MAX_PROBLEMS))
        .isEqualTo("980 more problems like these");
  }

  @Test
  void aProblemIsListedOnceAndItsSourceIsNamed() {
    TopologyBuilder b = builder();
    b.from("first");
    for (int i = 0; i < 40; i++) {
      b.add(NodeSpec.child(1, "h" + i % 2, null));
    }
    b.from("second");
    assertThat(b.problems())
        .extracting(Problem::path, Problem::message)
        .containsExactly(
            tuple("first", "node \"h0\" of level \"host\" is listed twice under \"here\""),
            tuple("first", "node \"h1\" of level \"host\" is listed twice under \"here\""),
            tuple("first", "36 more problems like these"));
    assertThat(b.problems().get(0).hint()).contains("\"distinct\": true");
  }

  @Test
  void theInstanceAloneIsATree() {
    PackedTopology t = PackedTopology.instanceOnly(Levels.of(List.of()), "box");
    assertThat(names(t)).containsExactly("box");
    assertThat(t.slots()).isEqualTo(1);
    assertThat(t.childStart(0)).isEqualTo(t.childEnd(0));
    assertThat(t.enabled(0)).isTrue();
    assertThatThrownBy(() -> PackedTopology.instanceOnly(HOST_DB, "a\nb"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("control character");
    assertThat(new TopologyBuilder(HOST_DB, "").build(NodeOrder.RANDOM).problems()).hasSize(1);
  }

  @Test
  void numbersOutsideTheTreeAreRefused() {
    PackedTopology t = PackedTopology.instanceOnly(HOST_DB, "box");
    assertThatThrownBy(() -> t.node(1)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> t.level(1)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> t.enabled(1)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> t.tags(-1)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> t.find(4, "x")).isInstanceOf(IndexOutOfBoundsException.class);
  }
}
