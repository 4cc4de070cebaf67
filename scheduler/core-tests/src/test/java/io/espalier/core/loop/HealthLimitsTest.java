package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.api.Command;
import io.espalier.core.api.RefusedException;
import io.espalier.core.health.ProbeView;
import io.espalier.core.loop.health.HealthLimits;
import io.espalier.core.loop.health.ProbeAnswer;
import io.espalier.core.loop.state.LoopEvents;
import io.espalier.core.status.store.LimitOverride;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Limits that follow probes, while all goes on (docs/adr/0074-health.md). */
class HealthLimitsTest extends ProbedLoop {
  private String lowered(String host) {
    return world.core.capacity().lowered(world.core.topology().find(1, host), slots());
  }

  @Test
  void nothingStartsBeforeTheFirstValueOfItsNode() {
    world.configure(config(""));
    assertThat(running("abcdefgijk")).isZero();
    assertThat(reason("a"))
        .contains("probe lag has no value of this node yet: 0 of 4 slots")
        .contains("it can never start while the limit is 0");
    assertThat(world.loop.isQuiet()).isFalse();
    answer(Map.of("h1", 1.0));
    assertThat(running("abcdef")).isEqualTo(4);
    assertThat(running("gijk")).isZero();
    assertThat(limit("h1")).isEqualTo(4);
    assertThat(limit("h2")).isZero();
  }

  @Test
  void badValuesHalveTheLimitAndThreeGoodOnesInARowGiveASlotBack() {
    configure(config(""), 7.25, 0);
    assertThat(limit("h1")).isEqualTo(2);
    assertThat(running("abcdef")).isEqualTo(2);
    assertThat(running("gijk")).isEqualTo(4);
    assertThat(reason("c")).contains("; probe lag is 7.25 (bad above 5): 2 of 4 slots");
    assertThat(lowered("h1")).isEqualTo("probe lag is 7.25 (bad above 5): 2 of 4 slots");
    assertThat(lowered("h2")).isEmpty();
    answers(6, 0);
    assertThat(limit("h1")).isEqualTo(1);
    answers(1, 0);
    answers(3, 0);
    answers(1, 0);
    answers(1, 0);
    assertThat(limit("h1")).isEqualTo(1);
    answers(1, 0);
    assertThat(limit("h1")).isEqualTo(2);
    for (int i = 0; i < 6; i++) {
      answers(1, 0);
    }
    assertThat(limit("h1")).isEqualTo(4);
    assertThat(world.core.capacity().health("slots", "h1"))
        .matches(health -> health != null && health.reason().isEmpty());
  }

  @Test
  void whatRunsSinceBeforeACutDoesNotCutAgain() {
    world.configure(config(""));
    answer(Map.of("h1", 1.0, "h2", 1.0));
    assertThat(running("abcdef")).isEqualTo(4);
    for (int i = 0; i < 5; i++) {
      answers(9, 1);
    }
    assertThat(limit("h1")).isEqualTo(2);
    world.writes("j", "a", "done");
    world.writes("j", "b", "done");
    assertThat(running("abcdef")).isEqualTo(2);
    answers(9, 1);
    assertThat(limit("h1")).as("sampled before it was seen that use fits").isEqualTo(2);
    answers(9, 1);
    assertThat(limit("h1")).isEqualTo(1);
    assertThat(world.running).as("nothing was killed").hasSize(6);
  }

  @Test
  void aValueThatIsTooOldBringsTheFloorWithItsAge() {
    world.configure(config(LAG.formatted("file", ""), ", \"follows\": [\"lag\"], \"floor\": 1", 1));
    answer(Map.of("h1", 1.0, "h2", 1.0));
    assertThat(events()).isEmpty();
    world.advance(30_000);
    answer(Map.of("h1", 1.0));
    world.advance(30_000);
    assertThat(limit("h2")).isEqualTo(4);
    world.advance(1_000);
    assertThat(limit("h2")).isEqualTo(1);
    world.advance(33_000);
    assertThat(limit("h1")).isEqualTo(1);
    assertThat(limit("h2")).isEqualTo(1);
    assertThat(reason("e")).contains("; probe lag is 64 s old: 1 of 4 slots");
    assertThat(events()).containsExactly("limit_at_floor 1", "limit_at_floor 1");
    assertThat(world.view).isNotNull();
    assertThat(Objects.requireNonNull(world.view).errors().get("probe lag"))
        .isEqualTo(
            "no node of level host has a value of the last 60 s: its limits are at their floor");
    answer(Map.of("h1", 1.0, "h2", 1.0));
    assertThat(limit("h1")).isEqualTo(4);
    assertThat(events()).endsWith("limit_recovered 2");
    world.advance(1_000);
    assertThat(Objects.requireNonNull(world.view).errors()).doesNotContainKey("probe lag");
  }

  @Test
  void blindLimitsAreHeldWhereThatIsConfigured() {
    configure(config(", \"on_blind\": \"hold\""), 9, 1);
    world.advance(100_000);
    assertThat(limit("h1")).isEqualTo(2);
    assertThat(limit("h2")).isEqualTo(4);
    assertThat(reason("c")).contains("; probe lag is 100 s old: 2 of 4 slots");
    answer(Map.of("h1", 1.0));
    assertThat(limit("h2")).as("the other one is not blind any more").isZero();
  }

  @Test
  void anOverrideBelowCountsAndOneAboveIsReachedOnlyByAHealthyNode() {
    configure(config(""), 9, 1);
    world.core.limits().override(new LimitOverride("host", "slots", "", 1, "", "", 0, 0));
    world.settle();
    assertThat(limit("h1")).isEqualTo(1);
    assertThat(limit("h2")).isEqualTo(1);
    world.core.limits().override(new LimitOverride("host", "slots", "", 6, "", "", 0, 0));
    world.settle();
    assertThat(limit("h1")).isEqualTo(2);
    assertThat(limit("h2")).isEqualTo(6);
  }

  @Test
  void aNeedAboveWhatIsLeftIsNamed() {
    configure(config(LAG.formatted("file", ""), ", \"follows\": [\"lag\"]", 3), 9, 1);
    assertThat(running("abcdef")).isZero();
    assertThat(reason("a"))
        .contains("probe lag is 9 (bad above 5): 2 of 4 slots")
        .contains("it can never start while the limit is 2");
  }

  @Test
  void theSmallestOfSeveralProbesCounts() {
    String more =
        LAG.formatted("file", "")
            + ", \"load\": {\"level\": \"host\", \"source\": \"push\", \"bad_above\": 8,"
            + " \"good_below\": 4}";
    world.configure(config(more, ", \"follows\": [\"lag\", \"load\"]", 1));
    answer(Map.of("h1", 1.0, "h2", 1.0));
    assertThat(limit("h1")).isZero();
    assertThat(reason("a")).contains("probe load has no value of this node yet");
    push("load", "h1", 5);
    assertThat(limit("h1")).isEqualTo(4);
    push("load", "h1", 9);
    assertThat(limit("h1")).isEqualTo(2);
    assertThat(reason("e")).contains("probe load is 9 (bad above 8)");
  }

  @Test
  void pushedValuesNeedAProbeAndANode() {
    world.configure(config(LAG.formatted("push", ""), ", \"follows\": [\"lag\"]", 1));
    push("lag", "h1", 1);
    assertThat(running("abcdef")).isEqualTo(4);
    assertThatThrownBy(() -> push("log", "h1", 1))
        .hasCauseInstanceOf(RefusedException.class)
        .hasMessageContaining("there is no probe \"log\"");
    assertThatThrownBy(() -> push("lag", "h9", 1)).hasMessageContaining("has no node \"h9\"");
  }

  @Test
  void configurationAndNodesChangeWhileLimitsAreLow() {
    configure(config(""), 9, 9);
    assertThat(view().lowered()).hasSize(2);
    world.configure(
        config("").replace(", \"h2\": [\"g\", \"i\", \"j\", \"k\"]", ", \"h3\": [\"g\"]"));
    assertThat(limit("h1")).as("health is kept").isEqualTo(2);
    assertThat(limit("h3")).as("a new node waits for its value").isZero();
    assertThat(world.core.capacity().health("slots", "h2")).isNull();
    assertThat(view().nodes()).isEqualTo(2);
    world.configure(config(LAG.formatted("file", ""), "", 1));
    assertThat(limit("h1")).isEqualTo(4);
    assertThat(world.core.capacity().health()).isEmpty();
    world.configure(config("", "", 1));
    world.advance(200);
    assertThat(Objects.requireNonNull(world.view).probes()).isEmpty();
  }

  @Test
  void afterARestartLimitsWaitForTheFirstValue() {
    world.configure(config(""));
    answer(Map.of("h1", 1.0, "h2", 1.0));
    world.crashAndRestart();
    world.configure(config(""));
    assertThat(limit("h1")).isZero();
    answer(Map.of("h1", 1.0, "h2", 1.0));
    assertThat(limit("h1")).isEqualTo(4);
  }

  @Test
  void afterARestartNothingStartsOnAHostWhoseFirstValueIsBad() {
    for (String more : List.of("", ", \"on_blind\": \"hold\"")) {
      world.configure(config(more));
      world.crashAndRestart();
      world.configure(config(more));
      world.advance(5_000);
      assertThat(running("abcdefgijk")).as("nothing is known yet").isZero();
      answer(Map.of("h1", 9.0, "h2", 3.0));
      assertThat(running("abcdef")).isZero();
      assertThat(reason("a")).contains("probe lag is 9 (bad above 5): 0 of 4 slots");
      assertThat(limit("h2")).as("between the bounds").isEqualTo(4);
      answers(1, 1);
      answers(1, 1);
      assertThat(running("abcdef")).isZero();
      answers(1, 1);
      assertThat(running("abcdef")).isEqualTo(1);
      world.crashAndRestart();
    }
  }

  @Test
  void aFirstValueThatIsTooOldIsNone() {
    world.configure(config(""));
    world.post(
        new LoopInput.Probed(
            new ProbeAnswer(
                "lag", List.of(new ProbeAnswer.Sample("h1", 1, world.now - 61_000)), "")));
    world.settle();
    assertThat(limit("h1")).isZero();
    answer(Map.of("h1", 9.0));
    assertThat(limit("h1")).isZero();
  }

  @Test
  void aLimitThatBeginsToFollowTakesTheNewestValueAsItsFirst() {
    String watched = config(LAG.formatted("file", ""), "", 1);
    world.configure(watched.replace("\"owner\"", "\"enabled\": false, \"owner\""));
    answers(1, 9);
    answers(9, 1);
    world.configure(config(""));
    assertThat(limit("h1")).isZero();
    assertThat(limit("h2")).isEqualTo(4);
    assertThat(running("abcdef")).isZero();
    answers(1, 1);
    for (String command : List.of("y", "z")) {
      world.configure(config("").replace("[\"x\"]", "[\"" + command + "\"]"));
    }
    assertThat(limit("h1")).as("one good value is not three").isZero();
  }

  @Test
  void afterARestartValuesThatCameWhileTheSchedulerWasBusyAllCount() {
    String config = config(LAG.formatted("push", ""), ", \"follows\": [\"lag\"]", 1);
    world.configure(config);
    world.crashAndRestart();
    PreparedUpdate update = world.prepare(config);
    world.update(update);
    List<CompletableFuture<Integer>> pushes = new ArrayList<>();
    for (double value : List.of(1.0, 9.0)) {
      pushes.add(
          world.run(new Command.PushProbe("lag", "h1", value, "", "")).toCompletableFuture());
    }
    world.settle();
    assertThat(pushes).as("nobody knows yet who follows").allMatch(push -> push.join() == 0);
    assertThat(limit("h1")).as("the bad value came last").isEqualTo(2);
    assertThat(view().bad()).isEqualTo(1);
  }

  @Test
  void theLaterOfTwoValuesOfOneInstantCounts() {
    HealthLimits health = manyNodes(2, "");
    for (double value : List.of(1.0, 9.0, 1.0, 9.0)) {
      health.push("lag", "n0", value, world.now + 1);
    }
    health.step(world.now + 1);
    ProbeView view = health.view(world.now + 1).get(0);
    assertThat(view.bad()).isEqualTo(1);
    assertThat(view.lowered())
        .extracting(ProbeView.Lowered::limit)
        .as("two bad values of one instant are one reason to cut")
        .containsExactly(2);
  }

  @Test
  void theViewTellsWhatIsKnown() {
    configure(config(""), 9, 1);
    ProbeView view = view();
    assertThat(view.fresh()).isEqualTo(2);
    assertThat(view.bad()).isEqualTo(1);
    assertThat(view.nodes()).isEqualTo(2);
    assertThat(view.resources()).containsExactly(new ProbeView.Follower("slots", 0, 1, 0));
    assertThat(view.lowered())
        .containsExactly(
            new ProbeView.Lowered("h1", "slots", 2, 4, "probe lag is 9 (bad above 5)"));
    world.post(new LoopInput.Probed(new ProbeAnswer("lag", List.of(), "the file is gone")));
    world.settle();
    assertThat(view().problem()).isEqualTo("the file is gone");
    assertThat(events()).isEmpty();
  }

  @Test
  void aValueCostsNothingButItselfHoweverManyNodesThereAre() {
    int nodes = 3_000;
    HealthLimits health = manyNodes(nodes, "");
    for (int node = 0; node < nodes; node++) {
      health.push("lag", "n" + node, 1, world.now + node);
      assertThat(health.step(world.now + node)).isTrue();
    }
    assertThat(health.looked()).as("on the way").isEqualTo(nodes);
    long at = world.now + 30_000;
    for (int i = 0; i < 1_000; i++) {
      health.push("lag", "n7", 1, at + i);
      health.step(at + i);
    }
    assertThat(health.looked()).isEqualTo(nodes + 1_000);
    assertThat(health.view(at)).isSameAs(health.view(at + 50));
    assertThat(health.step(at + 2_000)).isFalse();
    assertThat(health.view(at)).as("nothing has changed").isSameAs(health.view(at + 5_000));
    // All but one become too old one after another, and each is looked at once.
    long end = world.now + 60_000 + nodes;
    while (health.nextMillis() <= end) {
      health.step(health.nextMillis());
    }
    assertThat(health.looked()).isEqualTo(nodes + 1_000 + nodes);
    assertThat(problem(health))
        .isEqualTo(
            "2999 nodes of level host (n0 and others) have no value of the last 60 s: its limits"
                + " are at their floor");
    assertThat(health.view(end).get(0).fresh()).isEqualTo(1);
  }

  @Test
  void theFirstNodeWithoutAValueIsNamed() {
    HealthLimits health = manyNodes(4, "");
    long at = world.now + 61_000;
    for (String node : List.of("n0", "n1", "n3")) {
      health.push("lag", node, 9, at);
    }
    health.step(at);
    assertThat(problem(health)).startsWith("1 node of level host (n2) has no value");
    assertThat(health.view(at).get(0).bad()).isEqualTo(3);
    health.push("lag", "n2", 1, at + 1);
    health.step(at + 1);
    assertThat(problem(health)).isEmpty();
    health.step(at + 60_001);
    assertThat(problem(health)).startsWith("3 nodes of level host (n0 and others) have no value");
    health.step(at + 60_002);
    assertThat(problem(health)).startsWith("no node of level host has a value");
  }

  @Test
  void valuesThatComeBeforeTheirConfigurationAreNotLost() {
    world.configure(config("", "", 1));
    answer(Map.of("h1", 1.0, "h2", 9.0));
    world.configure(config(""));
    assertThat(limit("h1")).isEqualTo(4);
    assertThat(limit("h2")).isZero();
  }

  @Test
  void aBlindLimitIsHeldOverAChangeOfTheConfiguration() {
    configure(config(", \"on_blind\": \"hold\""), 9, 1);
    world.advance(100_000);
    world.configure(
        config(", \"on_blind\": \"hold\"").replace("\"max_age\": 60", "\"max_age\": 50"));
    assertThat(limit("h1")).isEqualTo(2);
    assertThat(limit("h2")).isEqualTo(4);
    world.configure(config(""));
    assertThat(limit("h1")).as("it is not to be held any more").isZero();
    assertThat(limit("h2")).isZero();
  }

  /** Returns limits of their own, whose steps the test counts. */
  private HealthLimits manyNodes(int nodes, String more) {
    StringBuilder hosts = new StringBuilder();
    for (int node = 0; node < nodes; node++) {
      hosts.append(node == 0 ? "" : ", ").append("\"n").append(node).append("\": [\"d");
      hosts.append(node).append("\"]");
    }
    world.configure(
        config(LAG.formatted("push", more), ", \"follows\": [\"lag\"]", 1)
            .replaceAll("\\{\"h1.*?\\]\\}", "{" + hosts + "}"));
    HealthLimits health = new HealthLimits(world.core, new LoopEvents(1));
    health.step(world.now);
    return health;
  }

  private static String problem(HealthLimits health) {
    Map<String, String> told = new HashMap<>();
    health.problems((source, problem) -> told.put(source, problem == null ? "" : problem));
    assertThat(told).containsOnlyKeys("probe lag");
    return told.getOrDefault("probe lag", "");
  }
}
