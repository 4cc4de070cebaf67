package io.espalier.core.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.group.GroupKindView;
import io.espalier.core.api.group.GroupPage;
import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.config.Config;
import io.espalier.core.config.GroupRule;
import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeOrder;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.scheduling.capacity.HealthLimit;
import io.espalier.core.scheduling.query.GroupScan;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.Topology;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.JobFixture;
import io.espalier.testkit.scheduling.TestPolicies;
import io.espalier.testkit.scheduling.TreeFixture;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Redundancy groups: of nodes that stand in for each other, only so many are busy at once. */
final class RedundancyGroupsTest {
  private static final GroupRule ONE = new GroupRule("replset", 1, "attribute:set", 1, 0);

  private final SchedulingCore core = new SchedulingCore(3);
  private final List<Long> started = new ArrayList<>();

  private static ConfigFixture config(GroupRule... rules) {
    return new ConfigFixture("host", "db").groups(rules).job("a").job("b");
  }

  /** Returns hosts h0, h1 and so on with two databases each; of every three hosts, one group. */
  private static Topology nodes(int hosts) {
    return nodes(hosts, host -> Json.object().put("set", "s" + host / 3).build());
  }

  private interface Attributes {
    Json.Obj of(int host);
  }

  private static Topology nodes(int hosts, Attributes attributes) {
    List<NodeSpec> nodes = new ArrayList<>();
    for (int i = 0; i < hosts; i++) {
      nodes.add(
          new NodeSpec(1, "h" + i, null, 0, true, Set.of("t" + i % 2, "x"), attributes.of(i)));
    }
    for (int i = 0; i < 2 * hosts; i++) {
      nodes.add(NodeSpec.child(2, "d" + i, "h" + i / 2));
    }
    return TreeFixture.of(Levels.of(List.of("host", "db")), NodeOrder.ORIGINAL, nodes);
  }

  private void apply(Config config, Topology nodes) {
    core.apply(config, nodes, 1_000);
    core.verify();
  }

  private List<String> round() {
    List<String> tasks = new ArrayList<>();
    boolean complete = false;
    while (!complete) {
      complete =
          core.round(
              TestPolicies.IN_TURN,
              4,
              run -> {
                started.add(run);
                tasks.add(core.running().jobName(run) + "@" + core.running().nodeName(run));
              });
      core.verify();
    }
    return tasks;
  }

  private void end(String task, Main main) {
    for (long run : core.running().all()) {
      if (task.equals(core.running().jobName(run) + "@" + core.running().nodeName(run))) {
        core.finish(run, TaskStatus.of(main, 1_000, 0));
      }
    }
    core.verify();
  }

  private GroupKindView kind() {
    return core.capacity().groups().get(0);
  }

  private static String message(Explanation explanation) {
    assertThat(explanation.reasons()).hasSize(1);
    assertThat(explanation.reasons().get(0).kind()).isEqualTo(Kind.GROUP);
    return explanation.reasons().get(0).message();
  }

  @Test
  void oneMemberAtATimeOverAllJobs() {
    apply(config(ONE).build(), nodes(6));
    assertThat(round())
        .containsExactlyInAnyOrder("a@d0", "a@d1", "b@d0", "b@d1", "a@d6", "a@d7", "b@d6", "b@d7");
    assertThat(kind())
        .isEqualTo(new GroupKindView("replset", "host", "attribute:set", 2, 6, 0, 2, 2, 4, 4, 0));
    assertThat(message(core.tasks().explain("a", "d2")))
        .startsWith("replset s0 allows 1 member at a time: h0 is busy with task d")
        .contains(" of job ");
    end("a@d0", Main.DONE);
    end("a@d1", Main.DONE);
    end("b@d0", Main.DONE);
    assertThat(round()).isEmpty();
    end("b@d1", Main.DONE);
    assertThat(round()).containsExactlyInAnyOrder("a@d2", "a@d3", "b@d2", "b@d3");
  }

  @Test
  void tasksOfTheNodesAboveTheMembersAreNotLimited() {
    apply(config(ONE).job("top", new JobFixture("top").level("instance")).build(), nodes(3));
    assertThat(round()).contains("top@instance1").hasSize(5);
  }

  @Test
  void aPartOfTheMembersIsRoundedDownAndAtLeastOne() {
    GroupRule third = new GroupRule("stripe", 1, "tag:t*", 0, 0.34);
    apply(config(third).build(), nodes(12));
    round();
    // Two groups of six, of which two each may be busy.
    assertThat(kind().groups()).isEqualTo(2);
    assertThat(kind().busy()).isEqualTo(4);
    assertThat(message(core.tasks().explain("a", "d20")))
        .startsWith("stripe t0 allows 2 members at a time: 2 are busy, h");
    assertThat(third.limit(2)).isEqualTo(1);
    assertThat(third.limit(100)).isEqualTo(34);
    assertThat(new GroupRule("stripe", 1, "tag:t*", 0, 0.29).limit(100)).isEqualTo(29);
    assertThat(new GroupRule("stripe", 1, "tag:t*", 0, 0.001).limit(100_000)).isEqualTo(100);
    assertThat(new GroupRule("stripe", 1, "tag:t*", 0, 1).limit(7)).isEqualTo(7);
  }

  @Test
  void aNodeOfTwoGroupsNeedsRoomInBoth() {
    GroupRule tag = new GroupRule("stripe", 1, "tag:t*", 1, 0);
    apply(config(ONE, tag).build(), nodes(6));
    round();
    // Hosts 0 to 2 and 3 to 5 by attribute, even and odd ones by tag.
    assertThat(core.capacity().groups()).extracting(GroupKindView::busy).containsExactly(2, 2);
  }

  @Test
  void adoptedTasksMayExceedTheLimitAndThenNothingStarts() {
    apply(config(ONE).build(), nodes(3));
    for (String task : List.of("d0", "d2", "d4")) {
      core.adopt("a", task, WorkerRef.LOCAL);
    }
    assertThat(round()).isEmpty();
    assertThat(kind().busy()).isEqualTo(3);
    assertThat(core.running().orphans()).isEmpty();
    end("a@d0", Main.DONE);
    assertThat(round()).isEmpty();
    end("a@d2", Main.DONE);
    // One is left, which is busy, so more may start there.
    assertThat(round()).containsExactlyInAnyOrder("b@d4", "a@d5", "b@d5");
  }

  private void health(String host, int limit) {
    core.limits()
        .setHealth(
            new HealthLimit("host", ONE.limitName(), host, limit, "probe lag is 7 (bad)", 0));
    while (!core.stepLimits(1)) {
      core.verify();
    }
    core.verify();
  }

  @Test
  void whileAMemberIsNotWellNothingStartsInItsGroup() {
    apply(config(ONE).build(), nodes(6));
    health("h1", 0);
    assertThat(round()).containsExactlyInAnyOrder("a@d6", "a@d7", "b@d6", "b@d7");
    assertThat(message(core.tasks().explain("a", "d4")))
        .isEqualTo("replset s0 is closed because of its member h1: probe lag is 7 (bad)");
    assertThat(page(true, "", 9, 100).groups()).extracting(GroupPage.Group::limit).contains(0);
    // Nor on a busy member, and nothing is killed.
    health("h5", 0);
    end("a@d6", Main.ERROR);
    assertThat(round()).isEmpty();
    assertThat(core.running().count()).isEqualTo(3);
    health("h1", HealthLimit.WHOLE);
    assertThat(round()).containsExactlyInAnyOrder("a@d0", "a@d1", "b@d0", "b@d1");
    // Of the second group all members are well again, but one is still busy.
    health("h5", 1);
    assertThat(kind().full()).isEqualTo(2);
    assertThat(message(core.tasks().explain("a", "d8")))
        .startsWith("replset s1 allows 1 member at a time: h3 is busy");
  }

  @Test
  void aLevelThatIsNotWellClosesAllGroupsAlsoOfNewNodesAndRules() {
    apply(config().build(), nodes(3));
    health("", 0);
    apply(config(ONE).build(), nodes(9));
    assertThat(round()).isEmpty();
    assertThat(kind().full()).isEqualTo(3);
    List.of("h3", "h4", "h5").forEach(host -> health(host, HealthLimit.WHOLE));
    assertThat(round()).containsExactlyInAnyOrder("a@d6", "a@d7", "b@d6", "b@d7");
    core.limits().removeHealth("host", ONE.limitName(), "");
    while (!core.stepLimits(1)) {
      core.verify();
    }
    core.verify();
    assertThat(round()).hasSize(8);
  }

  @Test
  void aChangeOfTheRulesCountsTheRunningTasks() {
    apply(config().build(), nodes(3));
    assertThat(round()).hasSize(12);
    assertThat(core.capacity().groups()).isEmpty();
    apply(config(ONE).build(), nodes(3));
    assertThat(kind().busy()).isEqualTo(3);
    for (int i = 0; i < 4; i++) {
      end("a@d" + i, Main.ERROR);
      end("b@d" + i, Main.ERROR);
    }
    assertThat(kind().busy()).isEqualTo(1);
    assertThat(round()).isEmpty();
    apply(config(new GroupRule("replset", 1, "attribute:set", 2, 0)).build(), nodes(3));
    assertThat(round()).hasSize(4);
    apply(config().build(), nodes(3));
    assertThat(round()).hasSize(4);
  }

  @Test
  void nodesWithoutTheAttributeAreInNoGroup() {
    Topology nodes =
        nodes(4, host -> host < 2 ? Json.object().put("set", 7).build() : Json.Obj.EMPTY);
    apply(config(ONE).build(), nodes);
    assertThat(round()).hasSize(3 * 4);
    assertThat(core.capacity().nodeProblems())
        .extracting(Problem::message)
        .containsExactly("2 nodes of the level, such as h2, have no attribute \"set\"");
    apply(config(ONE).build(), nodes(4, host -> Json.Obj.EMPTY));
    assertThat(core.capacity().nodeProblems())
        .extracting(Problem::message)
        .containsExactly("no node of the level has attribute \"set\"");
    apply(config(ONE).build(), nodes(4, host -> Json.object().put("set", host).build()));
    assertThat(core.capacity().nodeProblems())
        .extracting(Problem::message)
        .containsExactly("no group has more members than may be busy at once");
    assertThat(round()).hasSize(4);
  }

  /** The larger the group, the more members are parked, but once; then one wake for each end. */
  @ParameterizedTest
  @CsvSource({"10", "1000", "100000"})
  void aFreedMemberCostsAWakeAndAParkWhateverTheSizeOfTheGroup(int hosts) {
    Config config = new ConfigFixture("host").groups(ONE).job("a").build();
    List<NodeSpec> nodes = new ArrayList<>();
    Json.Obj set = Json.object().put("set", "s").build();
    for (int i = 0; i < hosts; i++) {
      nodes.add(new NodeSpec(1, "h" + i, null, 0, true, Set.of(), set));
    }
    core.apply(config, TreeFixture.of(config.settings().levels(), NodeOrder.RANDOM, nodes), 1_000);
    List<Long> runs = new ArrayList<>();
    long slices = 0;
    boolean complete = false;
    while (!complete) {
      complete = core.round(TestPolicies.IN_TURN, 256, runs::add);
      slices++;
    }
    assertThat(runs).hasSize(1);
    assertThat(kind().parks()).isEqualTo(hosts - 1);
    assertThat(slices).isGreaterThanOrEqualTo(hosts / 256);
    long work = core.work();
    for (int i = 0; i < 5; i++) {
      core.finish(runs.get(i), TaskStatus.of(Main.DONE, 1_000, 0));
      complete = false;
      while (!complete) {
        complete = core.round(TestPolicies.IN_TURN, 256, runs::add);
      }
    }
    assertThat(runs).hasSize(6);
    assertThat(kind().wakes()).isEqualTo(5);
    assertThat(kind().parks()).isEqualTo(hosts - 1);
    assertThat(core.work() - work).isLessThan(5 * 60);
  }

  private GroupPage page(boolean onlyFull, String after, int limit, int units) {
    GroupScan scan = core.capacity().groups("replset", onlyFull, after, limit);
    for (GroupScan.Outcome outcome = scan.step(units);
        outcome != GroupScan.Outcome.DONE;
        outcome = scan.step(units)) {
      assertThat(outcome).isEqualTo(GroupScan.Outcome.UNFINISHED);
      assertThat(scan.used()).isPositive().isLessThanOrEqualTo(units);
    }
    return scan.page();
  }

  @ParameterizedTest
  @CsvSource({"1", "7", "100000"})
  void theGroupsOfAKindAreListedInPagesAndSlices(int units) {
    apply(config(ONE).job("b", new JobFixture("b").level("host")).build(), nodes(9));
    core.adopt("a", "d4", WorkerRef.LOCAL);
    core.adopt("b", "h2", WorkerRef.LOCAL);
    GroupPage first = page(false, "", 2, units);
    assertThat(first.next()).isEqualTo("s1");
    assertThat(first.groups())
        .containsExactly(
            new GroupPage.Group(
                "s0",
                1,
                3,
                1,
                List.of(
                    new GroupPage.Member("h2", 2, "a", "d4"),
                    new GroupPage.Member("h0", 0, "", ""),
                    new GroupPage.Member("h1", 0, "", ""))),
            new GroupPage.Group(
                "s1",
                1,
                3,
                0,
                List.of(
                    new GroupPage.Member("h3", 0, "", ""),
                    new GroupPage.Member("h4", 0, "", ""),
                    new GroupPage.Member("h5", 0, "", ""))));
    GroupPage second = page(false, "s1", 2, units);
    assertThat(second.groups()).extracting(GroupPage.Group::name).containsExactly("s2");
    assertThat(second.next()).isEmpty();
    assertThat(page(true, "", 2, units).groups())
        .extracting(GroupPage.Group::name)
        .containsExactly("s0");
    assertThat(core.capacity().groups("replset", false, "s9", 2).step(1_000))
        .isEqualTo(GroupScan.Outcome.NO_SUCH_CURSOR);
    assertThat(core.capacity().groups("other", false, "", 2).step(1_000))
        .isEqualTo(GroupScan.Outcome.NO_SUCH_KIND);
  }

  @Test
  void ofALargeGroupTheFirstMembersAreListedBusyOnesFirst() {
    apply(config(ONE).build(), nodes(100, host -> Json.object().put("set", "s").build()));
    core.adopt("a", "d199", WorkerRef.LOCAL);
    GroupPage.Group group = page(true, "", 10, 1_000_000).groups().get(0);
    assertThat(group.size()).isEqualTo(100);
    assertThat(group.members()).hasSize(GroupScan.MOST_MEMBERS);
    assertThat(group.members().get(0)).isEqualTo(new GroupPage.Member("h99", 1, "a", "d199"));
  }

  @Test
  void whatIsNotConfiguredIsNotThere() {
    apply(config().build(), nodes(3));
    assertThat(core.state().groups).isNull();
  }

  @Test
  void aGroupOfOneMemberLimitsNothingAndIsNoProblemBesideLargerOnes() {
    Topology nodes = nodes(4); // h3 is alone.
    apply(config(ONE).build(), nodes);
    assertThat(round()).contains("a@d6", "a@d7", "b@d6", "b@d7").hasSize(8);
    assertThat(core.capacity().nodeProblems()).isEmpty();
  }
}
