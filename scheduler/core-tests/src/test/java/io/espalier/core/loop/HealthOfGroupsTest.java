package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.view.Explanation;
import io.espalier.core.health.ProbeView;
import org.junit.jupiter.api.Test;

/** Redundancy groups that follow probes (docs/adr/0074-health.md). */
class HealthOfGroupsTest extends ProbedLoop {
  /** Both hosts are one group, of which one may be busy. */
  private static String groupConfig(String more) {
    return config(LAG.formatted("push", more), "", 1)
        .replaceAll("\\[(\"[ag]\".*?)\\]", "{\"tags\": [\"rs\"], \"children\": [$1]}")
        .replace(
            "\"resources\"",
            "\"groups\": {\"rs\": {\"level\": \"host\", \"by\": \"tag:rs\","
                + " \"max_concurrent\": 1, \"follows\": [\"lag\"]}}, \"resources\"");
  }

  private void end(String... nodes) {
    for (String node : nodes) {
      world.writes("j", node, "done");
    }
    world.settle();
  }

  @Test
  void aGroupIsClosedWhileAMemberHasNoValueABadOneOrOneThatIsTooOld() {
    world.configure(groupConfig(""));
    assertThat(world.running).isEmpty();
    assertThat(world.loop.isQuiet()).as("it waits for the probe").isFalse();
    push("lag", "h1", 1);
    assertThat(world.running).as("h2 has no value").isEmpty();
    assertThat(reason("a", Explanation.Kind.GROUP))
        .isEqualTo(
            "rs rs is closed because of its member h2: probe lag has no value of this node yet");
    push("lag", "h2", 3);
    assertThat(running("abcdef")).isEqualTo(4);
    assertThat(running("gijk")).isZero();
    world.advance(10_000);
    push("lag", "h2", 7.5);
    end("a", "b", "c");
    assertThat(running("abcdef")).as("it is busy, and one of its group is not well").isEqualTo(1);
    assertThat(reason("e", Explanation.Kind.GROUP))
        .isEqualTo("rs rs is closed because of its member h2: probe lag is 7.5 (bad above 5)");
    assertThat(view().resources()).containsExactly(new ProbeView.Follower("groups.rs", 0, 1, 1));
    assertThat(view().lowered())
        .containsExactly(
            new ProbeView.Lowered("h2", "groups.rs", 0, 1, "probe lag is 7.5 (bad above 5)"));
    for (int i = 0; i < 3; i++) {
      assertThat(running("ef")).isZero();
      world.advance(10_000);
      push("lag", "h1", 1);
      push("lag", "h2", 1);
    }
    assertThat(running("ef")).as("three good values in a row").isEqualTo(2);
    assertThat(events()).containsExactly("limit_at_floor 1", "limit_recovered 1");
    world.advance(62_000);
    end("d");
    assertThat(reason("g", Explanation.Kind.GROUP))
        .matches("rs rs is closed because of its member h1: probe lag is 6\\d s old");
    world.configure(groupConfig("").replace(", \"follows\": [\"lag\"]}", "}"));
    end("e", "f");
    assertThat(running("gijk")).as("it follows no probe any more").isEqualTo(4);
    assertThat(world.core.capacity().health()).isEmpty();
  }

  @Test
  void aGroupThatIsBlindStaysAsItIsWhereThatIsConfigured() {
    world.configure(groupConfig(", \"on_blind\": \"hold\""));
    push("lag", "h1", 1);
    push("lag", "h2", 1);
    world.advance(100_000);
    end("a", "b", "c", "d");
    assertThat(running("ef")).isEqualTo(2);
  }
}
