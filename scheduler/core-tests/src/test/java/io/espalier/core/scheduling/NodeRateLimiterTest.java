package io.espalier.core.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.api.view.WaitingReasons;
import io.espalier.core.config.Levels;
import io.espalier.core.config.StartRate;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.query.WaitReasonScan;
import io.espalier.core.scheduling.update.UpdatePlan;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.TestPolicies;
import io.espalier.testkit.scheduling.TreeFixture;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** How often tasks may start below each node of a level. */
final class NodeRateLimiterTest {
  private static final long START = 1_000_000;

  private final SchedulingCore core = new SchedulingCore(3);
  private final ConfigFixture config = new ConfigFixture("host", "db").job("a").job("b");
  private final List<String> paths = new ArrayList<>();
  private final List<String> starts = new ArrayList<>();
  private long now = START;

  private void hosts(int from, int to, int tasks) {
    for (int host = from; host < to; host++) {
      for (int i = 0; i < tasks; i++) {
        paths.add("h" + host + "/d" + host + "_" + i);
      }
    }
  }

  private void rates(Map<String, StartRate> rates) {
    config.startRates(rates);
    apply();
  }

  private void apply() {
    core.apply(config.build(), TreeFixture.of(config.levels(), paths.toArray(new String[0])), now);
    core.verify();
  }

  private int round() {
    int before = starts.size();
    while (!core.advance(now, 3)) {
      // In slices.
    }
    while (!core.round(TestPolicies.IN_TURN, 7, this::placed)) {
      // In slices.
    }
    core.verify();
    return starts.size() - before;
  }

  private void placed(long run) {
    starts.add(now - START + " " + String.join("/", core.running().path(run)));
  }

  private void runUntil(long end) {
    while (now <= end) {
      round();
      now = Math.min(core.nextTimerMillis(), end + 1);
    }
    now = end;
    round();
  }

  private Map<String, Integer> startsByHost() {
    Map<String, Integer> byHost = new TreeMap<>();
    for (String start : starts) {
      int host = start.indexOf('/') + 1;
      byHost.merge(start.substring(host, start.indexOf('/', host)), 1, Integer::sum);
    }
    return byHost;
  }

  @Test
  void eachHostHasItsOwnRateForAllJobsTogether() {
    hosts(0, 3, 20);
    rates(Map.of("host", new StartRate(5, 10)));
    runUntil(START + 1000);
    assertThat(startsByHost()).isEqualTo(Map.of("h0", 5, "h1", 5, "h2", 5));
    assertThat(starts.get(0)).startsWith("200 ");
    assertThat(starts.get(14)).startsWith("1000 ");
    assertThat(core.capacity().nodesHeldByRate()).isEqualTo(3);
    assertThat(core.capacity().jobsHeldByRate()).isZero();
  }

  @Test
  void theBurstIsThereAfterARestAndNoMore() {
    hosts(0, 2, 30);
    rates(Map.of("host", new StartRate(5, 10)));
    core.gates().close(Gate.of(GateKind.PAUSE, "a", ""));
    core.gates().close(Gate.of(GateKind.PAUSE, "b", ""));
    runUntil(START + 60_000);
    core.gates().open(GateKind.PAUSE, "a");
    assertThat(round()).isEqualTo(20);
    assertThat(startsByHost()).isEqualTo(Map.of("h0", 10, "h1", 10));
    runUntil(now + 400);
    assertThat(startsByHost()).isEqualTo(Map.of("h0", 12, "h1", 12));
  }

  @Test
  void theRateOfTheInstanceIsThatOfTheScheduler() {
    hosts(0, 5, 20);
    rates(Map.of(Levels.INSTANCE, new StartRate(2, 1)));
    runUntil(START + 5000);
    assertThat(starts).hasSize(10);
  }

  @Test
  void aStartCostsATokenOnEachLevelOfItsPath() {
    hosts(0, 3, 20);
    rates(
        Map.of(
            Levels.INSTANCE,
            new StartRate(10, 1),
            "host",
            new StartRate(2, 1),
            "db",
            new StartRate(0.001, 1)));
    // Tasks of the second job on the same nodes wait for the tokens of their nodes.
    runUntil(START + 10_000);
    assertThat(starts).isEmpty();
    runUntil(START + 1_004_000);
    assertThat(startsByHost().values()).allMatch(n -> n >= 7);
    assertThat(starts.stream().map(s -> s.substring(s.lastIndexOf('/'))).distinct())
        .hasSameSizeAs(starts);
  }

  @Test
  void adoptedTasksCostNothing() {
    hosts(0, 1, 20);
    rates(Map.of("host", new StartRate(1, 5)));
    core.gates().close(Gate.of(GateKind.PAUSE, "a", ""));
    core.gates().close(Gate.of(GateKind.PAUSE, "b", ""));
    runUntil(START + 60_000);
    core.adopt("a", "d0_1", new WorkerRef("w", 1));
    core.gates().open(GateKind.PAUSE, "a");
    assertThat(round()).isEqualTo(5);
  }

  @Test
  void aNodeWithSeveralParentsIsChargedOnThePathThatWasWalked() {
    paths.addAll(List.of("h0/d", "h1/d", "h0/e", "h1/e"));
    rates(Map.of("host", new StartRate(1, 1)));
    core.gates().close(Gate.of(GateKind.PAUSE, "b", ""));
    runUntil(START + 1000);
    assertThat(starts).hasSize(2);
    assertThat(startsByHost()).isEqualTo(Map.of("h0", 1, "h1", 1));
  }

  @Test
  void explainAndTheReasonsOfTheWaitingNameTheNode() {
    hosts(0, 2, 3);
    rates(Map.of("host", new StartRate(2, 1)));
    Explanation explanation = core.tasks().explain("a", "d1_2");
    assertThat(explanation.reasons())
        .singleElement()
        .satisfies(
            reason -> {
              assertThat(reason.kind()).isEqualTo(Kind.START_RATE);
              assertThat(reason.node()).isEqualTo("h1");
              assertThat(reason.untilMillis()).isEqualTo(START + 500);
            });
    assertThat(explanation.path().get(1).blocks()).isTrue();
    WaitReasonScan scan = core.tasks().waiting(core.findJob("a"));
    while (!scan.isDone()) {
      scan.step(100);
    }
    WaitingReasons.Group group = scan.reasons(10, now).reasons().get(0);
    assertThat(group.kind()).isEqualTo("start_rate");
    assertThat(group.count()).isEqualTo(6);
  }

  @Test
  void bucketsSurviveNewNodesNewRatesAndStartsDuringTheChange() {
    hosts(0, 2, 40);
    rates(Map.of("host", new StartRate(1, 10)));
    core.gates().close(Gate.of(GateKind.PAUSE, "a", ""));
    core.gates().close(Gate.of(GateKind.PAUSE, "b", ""));
    runUntil(START + 8000);
    core.gates().open(GateKind.PAUSE, "a");
    hosts(2, 3, 40);
    UpdatePlan change =
        core.prepare(config.build(), TreeFixture.of(config.levels(), paths.toArray(new String[0])));
    core.begin(change);
    int slices = 0;
    while (core.step(20) == null) {
      if (slices++ == 3) {
        assertThat(round()).isEqualTo(16);
      }
    }
    assertThat(round()).isZero();
    now += 1000;
    assertThat(round()).isEqualTo(3);
    core.gates().close(Gate.of(GateKind.PAUSE, "a", ""));
    runUntil(now + 7000);
    rates(Map.of("host", new StartRate(100, 4)));
    core.gates().open(GateKind.PAUSE, "a");
    assertThat(round()).isEqualTo(12);
    rates(Map.of());
    assertThat(round()).isGreaterThan(50);
  }

  @Test
  void onlyEmptyBucketsHaveATimer() {
    hosts(0, 50, 2);
    rates(Map.of("host", new StartRate(1, 2)));
    core.gates().close(Gate.of(GateKind.PAUSE, "b", ""));
    now += 1000;
    while (!core.advance(now, 10)) {
      // In slices.
    }
    assertThat(core.capacity().nodesHeldByRate()).isZero();
    assertThat(core.nextTimerMillis()).isEqualTo(Long.MAX_VALUE);
    assertThat(round()).isEqualTo(50);
    assertThat(core.nextTimerMillis()).isEqualTo(now + 1000);
  }
}
