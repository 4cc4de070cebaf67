package io.espalier.core.scheduling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import com.sun.management.ThreadMXBean;
import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.api.view.WaitingReasons;
import io.espalier.core.api.view.WaitingReasons.Group;
import io.espalier.core.config.Config;
import io.espalier.core.scheduling.capacity.LimitFactor;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.scheduling.query.WaitReasonScan;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.core.topology.Topology;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.JobFixture;
import io.espalier.testkit.scheduling.TestPolicies;
import io.espalier.testkit.scheduling.TreeFixture;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Nodes that are closed, and limits that factors lower. */
final class NodeGatesTest {
  private static final int HALF = LimitFactor.ONE / 2;
  private static final Scope HOST = Scope.node("host", "n1");

  private final SchedulingCore core = new SchedulingCore(3);

  private static Config config(int slots) {
    return new ConfigFixture("host", "db")
        .resource("host", "slots", slots)
        .killOverLimit(Map.of("slots", Duration.ofSeconds(10)))
        .job("j", new JobFixture("j").needs("slots", 1))
        .build();
  }

  private void apply(int slots, int hosts, int dbs) {
    Config config = config(slots);
    core.apply(config, TreeFixture.regular(config.settings().levels(), hosts, dbs), 1_000);
    core.verify();
  }

  private static Gate gate(Scope node) {
    return new Gate(GateKind.NODE_CLOSED, node, "ada", "disk replaced", 5_000, 9_000);
  }

  private void factor(String id, Scope scope, int millionths) {
    core.limits()
        .setFactor(new LimitFactor(id, scope, Set.of("slots"), millionths, "ada", "a leak", 0, 0));
    settle();
  }

  private void settle() {
    while (!core.stepLimits(50)) {
      core.verify();
    }
    core.verify();
  }

  private List<Long> round() {
    List<Long> starts = new ArrayList<>();
    assertThat(core.round(TestPolicies.IN_TURN, 100_000, starts::add)).isTrue();
    return starts;
  }

  private int slots(String host) {
    return core.capacity().limit(core.topology().find(1, host), 0);
  }

  @Test
  void nothingStartsBelowAClosedNodeAndExplanationsSayWhy() {
    apply(5, 2, 3);
    core.gates().close(gate(HOST));
    core.verify();
    assertThat(round()).hasSize(3);
    Topology nodes = core.topology();
    String db = nodes.name(nodes.childStart(nodes.find(1, "n1")));
    Explanation explanation = core.tasks().explain("j", db);
    assertThat(explanation.reasons()).hasSize(1);
    Explanation.Reason reason = explanation.reasons().get(0);
    assertThat(reason.kind()).isEqualTo(Kind.NODE_DISABLED);
    assertThat(reason.node()).isEqualTo("n1");
    assertThat(reason.untilMillis()).isEqualTo(9_000);
    assertThat(reason.message())
        .isEqualTo(
            "the node is closed since 1970-01-01T00:00:05Z by ada until 1970-01-01T00:00:09Z"
                + " (disk replaced)");
    assertThat(core.gates().due(GateKind.NODE_CLOSED, 9_000)).containsExactly(gate(HOST));
    core.gates().open(GateKind.NODE_CLOSED, HOST);
    core.verify();
    assertThat(round()).hasSize(3);
  }

  @ParameterizedTest
  @CsvSource({
    "NODE_CLOSED, node_disabled, a node on their path is closed",
    "NODE_BRAKE, brake, a brake stops a node on their path",
    "NODE_WINDOW, window, no window of a node on their path is open",
    "NODE_MOVING, other_shard, a node on their path moves to another scheduler",
    "NODE_QUARANTINE, quarantine, a node on their path is quarantined"
  })
  void waitingTasksBelowAClosedNodeWaitForWhatClosesIt(GateKind gate, String kind, String message) {
    apply(5, 2, 3);
    core.gates().close(new Gate(gate, HOST, "ada", "disk replaced", 5_000, 0));
    assertThat(round()).hasSize(3);
    WaitReasonScan scan = core.tasks().waiting(core.findJob("j"));
    while (!scan.isDone()) {
      scan.step(100);
    }
    WaitingReasons waiting = scan.reasons(10, 1_000);
    assertThat(waiting.reasons())
        .extracting(Group::kind, Group::node, Group::count, Group::message)
        .containsExactly(tuple(kind, "n1", 3L, message));
  }

  @Test
  void aNodeIsClosedForOneJobOfMany() {
    ConfigFixture fixture = new ConfigFixture("host", "db");
    // More than one word of bits.
    List<String> jobs = new ArrayList<>();
    for (int job = 0; job < 70; job++) {
      String name = "j%02d".formatted(job);
      jobs.add(name);
      fixture.job(name, new JobFixture(name));
    }
    Config config = fixture.build();
    for (String job : List.of("j03", "j66")) {
      core.gates()
          .close(
              new Gate(
                  GateKind.JOB_QUARANTINE,
                  Scope.jobOnNode(job, "host", "n1"),
                  "ada",
                  "",
                  5_000,
                  0));
    }
    core.apply(config, TreeFixture.regular(config.settings().levels(), 2, 3), 1_000);
    core.verify();
    assertThat(round()).hasSize(70 * 6 - 2 * 3);
    String db = core.topology().name(core.topology().childStart(core.topology().find(1, "n1")));
    for (String job : jobs) {
      List<Kind> kinds =
          core.tasks().explain(job, db).reasons().stream()
              .map(Explanation.Reason::kind)
              .filter(Kind.QUARANTINE::equals)
              .toList();
      assertThat(kinds).as(job).hasSize(List.of("j03", "j66").contains(job) ? 1 : 0);
    }
    core.gates().open(GateKind.JOB_QUARANTINE, Scope.jobOnNode("j66", "host", "n1"));
    core.verify();
    assertThat(round()).hasSize(3);
    Scope twice = Scope.jobOnNode("j03", "host", "n1");
    core.gates().close(new Gate(GateKind.WINDOW_CUTOFF, twice, "", "closes at ten", 0, 0));
    core.gates().open(GateKind.JOB_QUARANTINE, twice);
    core.verify();
    assertThat(round()).as("another gate is closed").isEmpty();
    core.gates().open(GateKind.WINDOW_CUTOFF, twice);
    core.verify();
    assertThat(round()).hasSize(3);
  }

  @Test
  void aGateOutlivesItsNode() {
    core.gates().close(gate(HOST));
    apply(5, 2, 3);
    assertThat(round()).hasSize(3);
    Config config = config(5);
    core.apply(config, TreeFixture.of(config.settings().levels(), "other/db1"), 2_000);
    core.verify();
    assertThat(round()).hasSize(1);
    core.apply(config, TreeFixture.regular(config.settings().levels(), 2, 4), 3_000);
    core.verify();
    assertThat(round()).as("on n2 alone: n7 and n8").hasSize(2);
  }

  @Test
  void aGateClosesOnlyWhatItsKindIsFor() {
    assertThatThrownBy(() -> gate(Scope.job("j"))).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new Gate(GateKind.PAUSE, HOST, "", "", 0, 0))
        .isInstanceOf(IllegalArgumentException.class);
  }

  /** The work of closing and opening a host with so many databases. */
  private static long workOfClosing(int dbs) {
    NodeGatesTest test = new NodeGatesTest();
    test.apply(5, 2, dbs);
    long before = test.core.work();
    test.core.gates().close(gate(HOST));
    test.core.gates().open(GateKind.NODE_CLOSED, HOST);
    return test.core.work() - before;
  }

  @Test
  void closingASubtreeCostsOnePathHoweverLargeItIs() {
    assertThat(workOfClosing(2_000)).isEqualTo(workOfClosing(20)).isLessThan(20);
  }

  /** The work of starting and ending all tasks. */
  private static long workOfTasks(boolean after) {
    NodeGatesTest test = new NodeGatesTest();
    test.apply(1_000, 4, 1_000);
    if (after) {
      test.core.gates().close(gate(HOST));
      test.core.verify();
      test.factor("f", Scope.all(), HALF);
      test.core.gates().open(GateKind.NODE_CLOSED, HOST);
      test.core.limits().removeFactor("f");
      test.settle();
    }
    test.core.verify();
    long before = test.core.work();
    List<Long> runs = test.round();
    assertThat(runs).hasSize(4_000);
    runs.forEach(run -> test.core.finish(run, null));
    return test.core.work() - before;
  }

  @Test
  void whatIsNotUsedReadsNoWord() {
    assertThat(workOfTasks(true)).isEqualTo(workOfTasks(false));
  }

  /** The slices of one unit in which a factor takes effect. */
  private int slicesOf(Scope scope, int millionths) {
    core.limits().setFactor(new LimitFactor("f", scope, Set.of("slots"), millionths, "", "", 0, 0));
    int slices = 1;
    while (!core.stepLimits(1)) {
      slices++;
    }
    core.verify();
    return slices;
  }

  @Test
  void aNewShareOfTheSameNodesSettlesEachOfThemOnce() {
    apply(8, 20, 1);
    int first = slicesOf(Scope.all(), HALF);
    assertThat(first).isGreaterThanOrEqualTo(20);
    assertThat(slicesOf(Scope.all(), HALF / 2)).isEqualTo(first);
    assertThat(slots("n1")).isEqualTo(2);
    assertThat(slicesOf(HOST, HALF)).as("those before, and those now").isGreaterThan(first);
    assertThat(List.of(slots("n1"), slots("n2"))).containsExactly(4, 8);
  }

  /** The memory that an override takes after so many others, each far from the others. */
  private static long bytesOfAnOverride(int others) {
    NodeGatesTest test = new NodeGatesTest();
    test.apply(5, 65_536, 0);
    for (int i = 0; i < others; i++) {
      test.override("n" + (i * 1_024 + 1), 3);
    }
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    test.override("n65536", 3);
    long bytes = threads.getCurrentThreadAllocatedBytes() - before;
    test.core.verify();
    return bytes;
  }

  private void override(String host, int limit) {
    core.limits().override(new LimitOverride("host", "slots", host, limit, "", "", 0, 0));
    while (!core.stepLimits(1_000)) {
      // In slices.
    }
  }

  @Test
  void anOverrideCopiesNoneOfTheOthers() {
    bytesOfAnOverride(1); // Loads the classes.
    assertThat(bytesOfAnOverride(60)).isLessThan(bytesOfAnOverride(1) + 10_000);
  }

  @Test
  void theSmallestFactorCountsAndIsRoundedUp() {
    apply(5, 2, 9);
    factor("all", Scope.all(), HALF);
    assertThat(List.of(slots("n1"), slots("n2"))).containsExactly(3, 3);
    factor("one", HOST, LimitFactor.ONE / 5);
    assertThat(List.of(slots("n1"), slots("n2"))).containsExactly(1, 3);
    factor("level", Scope.level("host"), LimitFactor.ONE);
    core.limits().override(new LimitOverride("host", "slots", "", 8, "", "", 0, 0));
    settle();
    assertThat(List.of(slots("n1"), slots("n2"))).containsExactly(2, 4);
    assertThat(round()).hasSize(6);
    Topology nodes = core.topology();
    String last = nodes.name(nodes.childEnd(nodes.find(1, "n2")) - 1);
    assertThat(core.tasks().explain("j", last).reasons())
        .extracting(Explanation.Reason::message)
        .containsExactly(
            "needs 1 of slots, 0 of 4 are free; the limit of 8 is an override of the configured 5"
                + " for all of level host; the limit of 8 is multiplied by 0.5, for all nodes, by"
                + " ada (a leak)");
    core.limits().removeFactor("all");
    core.limits().removeFactor("one");
    settle();
    assertThat(List.of(slots("n1"), slots("n2"))).containsExactly(8, 8);
  }

  @Test
  void nothingIsKilledBecauseOfAFactor() {
    apply(4, 2, 9);
    assertThat(round()).hasSize(8);
    factor("none", Scope.all(), 0);
    assertThat(slots("n1")).isZero();
    assertThat(core.capacity().nextOverLimitMillis()).isEqualTo(Long.MAX_VALUE);
    core.setClock(2_000);
    core.limits().override(new LimitOverride("host", "slots", "n1", 3, "", "", 0, 0));
    settle();
    assertThat(core.capacity().nextOverLimitMillis()).isEqualTo(12_000);
    OverLimitScan scan = core.overLimits(12_000);
    while (!scan.step(10)) {
      // In slices.
    }
    assertThat(scan.found())
        .singleElement()
        .satisfies(found -> assertThat(List.of(found.used(), found.limit())).containsExactly(4, 3));
    core.limits().removeFactor("none");
    settle();
    assertThat(core.capacity().nextOverLimitMillis()).isEqualTo(12_000);
  }
}
