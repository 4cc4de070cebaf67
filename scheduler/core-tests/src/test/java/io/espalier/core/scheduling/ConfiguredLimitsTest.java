package io.espalier.core.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.WaitingReasons;
import io.espalier.core.config.NodeLimitRule;
import io.espalier.core.config.NodeOrder;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.scheduling.query.WaitReasonScan;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.Topology;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.JobFixture;
import io.espalier.testkit.scheduling.TestPolicies;
import io.espalier.testkit.scheduling.TreeFixture;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import org.assertj.core.groups.Tuple;
import org.junit.jupiter.api.Test;

/** Limits that the configuration gives single nodes. */
final class ConfiguredLimitsTest {
  private static final int HOST = 1;

  private final SchedulingCore core = new SchedulingCore(3);
  private final ConfigFixture config =
      new ConfigFixture("host", "db")
          .resource("host", "slots", 2)
          .resource("host", "iops", 10, 0)
          .job("j", new JobFixture("j").needs("slots", 1));
  private final List<NodeSpec> nodes = new ArrayList<>();

  private void host(String name, Set<String> tags, Json.Obj attributes) {
    nodes.add(new NodeSpec(HOST, name, null, 0, true, tags, attributes));
    for (int i = 1; i <= 9; i++) {
      nodes.add(NodeSpec.child(2, name + "." + i, name));
    }
  }

  private void apply(NodeLimitRule... limits) {
    config.nodeLimits(List.of(limits));
    Topology topology = TreeFixture.of(config.levels(), NodeOrder.ORIGINAL, nodes);
    core.apply(config.build(), topology, 0);
    core.verify();
  }

  private int limit(String host, String resource) {
    int node = core.topology().find(HOST, host);
    int index =
        Objects.requireNonNull(config.build().settings().resources().find(resource)).index();
    return core.capacity().limit(node, index);
  }

  private void override(String node, int limit) {
    core.limits().override(new LimitOverride("host", "slots", node, limit, "", "", 0, 0));
    settle();
  }

  private void end(String node) {
    core.limits().endOverride(new LimitOverride.Key("host", "slots", node));
    settle();
  }

  private void settle() {
    while (!core.stepLimits(100)) {
      // In slices.
    }
    core.verify();
  }

  private int starts() {
    List<Long> starts = new ArrayList<>();
    assertThat(core.round(TestPolicies.IN_TURN, 1000, starts::add)).isTrue();
    return starts.size();
  }

  @Test
  void theLastEntryThatMatchesCountsForEachResourceByItself() {
    host("db7", Set.of("ssd"), Json.Obj.EMPTY);
    host("db-old-1", Set.of("ssd"), Json.Obj.EMPTY);
    host("db8", Set.of(), Json.object().put("kind", 7).build());
    apply(
        NodeLimitRule.ofName(HOST, "db7", Map.of("slots", 5, "iops", 1)),
        NodeLimitRule.ofTag(HOST, "ssd", Map.of("iops", 500)),
        NodeLimitRule.ofRegex(HOST, Pattern.compile("old"), Map.of("slots", 0)),
        NodeLimitRule.ofValue(HOST, "kind", "7", Map.of("slots", 3)),
        NodeLimitRule.ofName(HOST, "not there", Map.of("slots", 8)));
    assertThat(limit("db7", "slots")).isEqualTo(5);
    assertThat(limit("db7", "iops")).isEqualTo(500);
    assertThat(limit("db-old-1", "slots")).isZero();
    assertThat(limit("db-old-1", "iops")).isEqualTo(500);
    assertThat(limit("db8", "slots")).isEqualTo(3);
    assertThat(limit("db8", "iops")).isEqualTo(10);
    assertThat(starts()).isEqualTo(5 + 0 + 3);
    Explanation.Reason reason = core.tasks().explain("j", "db-old-1.1").reasons().get(0);
    assertThat(reason.limit()).isZero();
    assertThat(reason.message())
        .isEqualTo(
            "needs 1 of slots, 0 of 0 are free; it can never start while the limit is 0; the limit of"
                + " 0 is configured for this node, that of its level is 2");
  }

  @Test
  void tasksThatCanNeverStartAreCountedApartFromThoseThatWaitForSlots() {
    host("closed", Set.of(), Json.Obj.EMPTY);
    host("full", Set.of(), Json.Obj.EMPTY);
    apply(NodeLimitRule.ofName(HOST, "closed", Map.of("slots", 0)));
    assertThat(starts()).isEqualTo(2);
    assertThat(waiting("j").reasons())
        .extracting(WaitingReasons.Group::node, WaitingReasons.Group::never)
        .containsExactlyInAnyOrder(Tuple.tuple("closed", true), Tuple.tuple("full", false));
    override("closed", 1);
    assertThat(waiting("j").reasons()).noneMatch(WaitingReasons.Group::never);
  }

  @Test
  void aValueOfTheNodeSourceIsTheLimitAndABadOneIsAProblem() {
    host("a", Set.of(), Json.object().put("cap", 4).build());
    host("b", Set.of(), Json.object().put("cap", "3").build());
    host("c", Set.of(), Json.object().put("cap", "token=S3CR3T").build());
    host("d", Set.of(), Json.object().put("cap", -1).build());
    host("e", Set.of(), Json.object().put("cap", Json.Null.NULL).build());
    host("f", Set.of(), Json.object().put("cap", 2_147_483_648L).build());
    host("g", Set.of(), Json.object().put("cap", Integer.MAX_VALUE).build());
    host("h", Set.of(), Json.object().put("cap", 1.5).build());
    apply(NodeLimitRule.ofAttribute(HOST, "cap", "slots"));
    assertThat(List.of("a", "b", "c", "d", "e", "f", "g", "h").stream().map(n -> limit(n, "slots")))
        .containsExactly(4, 3, 2, 2, 2, 2, Integer.MAX_VALUE, 2);
    assertThat(core.capacity().nodeProblems())
        .extracting(Problem::value)
        .containsExactly("\"token=***\"", "-1", "2147483648", "1.5");
    assertThat(core.capacity().nodeProblems().get(0).message())
        .isEqualTo(
            "the attribute \"cap\" of c on level host, is no whole number from 0 to 2147483647:"
                + " the node keeps the limit that it has without it");
  }

  @Test
  void manyBadValuesAreNamedOnceAndCounted() {
    for (int i = 0; i < 50; i++) {
      host("h" + i, Set.of(), Json.object().put("cap", "x" + i).build());
    }
    apply(NodeLimitRule.ofAttribute(HOST, "cap", "slots"));
    assertThat(core.capacity().nodeProblems()).hasSize(6);
    assertThat(core.capacity().nodeProblems().get(5).message()).startsWith("45 more nodes");
  }

  @Test
  void operatorsCountMoreOfTheNodeThenOfTheLevelAndWhatTheySaidEndsInTheRightOrder() {
    host("a", Set.of("ssd"), Json.Obj.EMPTY);
    host("b", Set.of(), Json.Obj.EMPTY);
    apply(NodeLimitRule.ofTag(HOST, "ssd", Map.of("slots", 4)));
    assertThat(List.of(limit("a", "slots"), limit("b", "slots"))).containsExactly(4, 2);
    override("", 6);
    assertThat(List.of(limit("a", "slots"), limit("b", "slots"))).containsExactly(6, 6);
    override("a", 1);
    assertThat(List.of(limit("a", "slots"), limit("b", "slots"))).containsExactly(1, 6);
    end("");
    assertThat(List.of(limit("a", "slots"), limit("b", "slots"))).containsExactly(1, 2);
    end("a");
    assertThat(List.of(limit("a", "slots"), limit("b", "slots"))).containsExactly(4, 2);
  }

  @Test
  void aChangeOfTheEntriesOrOfTagsHoldsAtOnceAndKillsNothing() {
    host("a", Set.of("ssd"), Json.Obj.EMPTY);
    apply(NodeLimitRule.ofTag(HOST, "ssd", Map.of("slots", 4)));
    assertThat(starts()).isEqualTo(4);
    apply(NodeLimitRule.ofTag(HOST, "ssd", Map.of("slots", 1)));
    assertThat(core.running().count()).isEqualTo(4);
    assertThat(core.capacity().free(core.topology().find(HOST, "a"), 0)).isEqualTo(-3);
    assertThat(starts()).isZero();
    nodes.clear();
    host("a", Set.of("nvme"), Json.Obj.EMPTY);
    apply(
        NodeLimitRule.ofTag(HOST, "ssd", Map.of("slots", 1)),
        NodeLimitRule.ofTag(HOST, "nvme", Map.of("slots", 6)));
    assertThat(starts()).isEqualTo(2);
    override("", 9);
    apply();
    assertThat(limit("a", "slots")).isEqualTo(9);
    end("");
    assertThat(limit("a", "slots")).isEqualTo(2);
  }

  @Test
  void aNodeWithSeveralParentsHasTheTagsOfAllItsPlaces() {
    nodes.add(NodeSpec.child(HOST, "a", null));
    nodes.add(NodeSpec.child(HOST, "b", null));
    nodes.add(NodeSpec.child(2, "copy", "a"));
    nodes.add(new NodeSpec(2, "copy", "b", HOST, true, Set.of("hot"), Json.Obj.EMPTY));
    config.resource("db", "io", 1);
    apply(NodeLimitRule.ofTag(2, "hot", Map.of("io", 7)));
    int copy = core.topology().find(2, "copy");
    assertThat(
            core.capacity()
                .limit(
                    copy,
                    Objects.requireNonNull(config.build().settings().resources().find("io"))
                        .index()))
        .isEqualTo(7);
  }

  @Test
  void aJobThatNeedsMoreThanAnyNodeHasIsTold() {
    host("a", Set.of(), Json.object().put("cap", 4).build());
    host("b", Set.of(), Json.Obj.EMPTY);
    config.job("big", new JobFixture("big").needs("slots", 5));
    config.job("above", new JobFixture("above").level("instance").needs("slots", 99));
    apply(NodeLimitRule.ofAttribute(HOST, "cap", "slots"));
    assertThat(core.capacity().nodeProblems())
        .extracting(Problem::toString)
        .containsExactly(
            "warning bistro_job->big.resources.slots: the job can never run: it needs 5 of slots,"
                + " and no node of level host has more than 4 (a, b) (value: 5); lower what it"
                + " needs, or raise the limit of some node");
    assertThat(core.tasks().explain("big", "b.1").reasons().get(0).message())
        .isEqualTo(
            "needs 5 of slots, 2 of 2 are free; it can never start while the limit is 2, and no"
                + " node of level host has more than 4");
    WaitingReasons reasons = waiting("big");
    assertThat(reasons.reasons().get(0).message())
        .endsWith("on 2 nodes of level host; none there has more than 4: they can never start");

    override("b", 5);
    assertThat(core.capacity().nodeProblems()).isEmpty();
    assertThat(core.tasks().explain("big", "a.1").reasons().get(0).message())
        .endsWith(
            "4 of 4 are free; it can never start while the limit is 4; the limit of 4 is configured"
                + " for this node, that of its level is 2");
    end("b");
    assertThat(core.capacity().nodeProblems()).hasSize(1);
    apply(NodeLimitRule.ofName(HOST, "a", Map.of("slots", 5)));
    assertThat(core.capacity().nodeProblems()).isEmpty();
  }

  @Test
  void whatCanNeverBeIsSaidBesideWhatIsInTheWayFirst() {
    host("a", Set.of(), Json.Obj.EMPTY);
    config.job("big", new JobFixture("big").needs("slots", 1).needs("iops", 11));
    apply(NodeLimitRule.ofName(HOST, "a", Map.of("slots", 0)));
    assertThat(waiting("big").reasons().get(0).message())
        .startsWith("needs 1 of slots, 0 of 0 are free on a")
        .endsWith(
            "; besides, they can never start: it needs 11 of iops, and no node of level host has"
                + " more than 10");
  }

  private WaitingReasons waiting(String job) {
    WaitReasonScan scan = core.tasks().waiting(core.findJob(job));
    while (!scan.isDone()) {
      scan.step(1000);
    }
    return scan.reasons(10, 0);
  }

  @Test
  void whatIsStoppedForAllByALimitOfZeroIsNoProblem() {
    host("a", Set.of(), Json.Obj.EMPTY);
    config.resource("host", "gate", 0, 1);
    apply();
    assertThat(core.capacity().nodeProblems()).isEmpty();
    apply(NodeLimitRule.ofTag(HOST, "special", Map.of("gate", Integer.MAX_VALUE)));
    assertThat(core.capacity().nodeProblems()).as("no node is special").hasSize(1);
  }

  @Test
  void veryManyJobsThatNeverFitAreCounted() {
    host("a", Set.of(), Json.Obj.EMPTY);
    for (int i = 0; i < 150; i++) {
      config.job("big" + i, new JobFixture("big" + i).needs("slots", Integer.MAX_VALUE));
    }
    apply();
    assertThat(core.capacity().nodeProblems()).hasSize(101);
    assertThat(core.capacity().nodeProblems().get(100).message()).startsWith("50 more");
  }
}
