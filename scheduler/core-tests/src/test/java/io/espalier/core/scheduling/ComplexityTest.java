package io.espalier.core.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.view.Histogram;
import io.espalier.core.config.NodeOrder;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.topology.Topology;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.TestPolicies;
import io.espalier.testkit.scheduling.TreeFixture;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Counts the words of the index that events touch: the cost depends on change, not on size. */
final class ComplexityTest {
  private static final int EVENTS = 2_000;

  private static ConfigFixture hosts(int jobs) {
    ConfigFixture config =
        new ConfigFixture("host", "db")
            .order(NodeOrder.RANDOM)
            .resource("host", "slots", 2)
            .resource("db", "lock", 1);
    for (int j = 0; j < jobs; j++) {
      config.job("job" + (1000 + j));
    }
    return config;
  }

  private static SchedulingCore busy(ConfigFixture config, Topology topology) {
    SchedulingCore core = new SchedulingCore(5);
    core.apply(config.build(), topology, 0);
    assertThat(core.round(TestPolicies.IN_TURN, Integer.MAX_VALUE, run -> {})).isTrue();
    return core;
  }

  /** Words per end and the start that follows it. */
  private static double workPerEvent(SchedulingCore core) {
    Random random = new Random(3);
    long[] runs = core.running().all();
    long before = core.work();
    for (int i = 0; i < EVENTS; i++) {
      int at = random.nextInt(runs.length);
      core.finish(runs[at], null);
      assertThat(core.round(TestPolicies.IN_TURN, 1, run -> runs[at] = run)).isTrue();
    }
    return (core.work() - before) / (double) EVENTS;
  }

  @ParameterizedTest
  @CsvSource({"40", "400", "4000", "40000"})
  void anEventCostsTheSameWithAThousandLeavesAndWithAMillion(int hostCount) {
    ConfigFixture config = hosts(10);
    SchedulingCore core = busy(config, TreeFixture.regular(config.levels(), hostCount, 25));
    // Two ways along two rows, each with a few blocks of two words above each other.
    assertThat(workPerEvent(core)).isBetween(10.0, 40.0);
  }

  @ParameterizedTest
  @ValueSource(ints = {1_000, 10_000, 100_000, 1_000_000})
  void aMillionChildrenOfOneNodeCostAFewWords(int leaves) {
    ConfigFixture config =
        new ConfigFixture("db").order(NodeOrder.RANDOM).resource("instance", "slots", 100);
    for (int j = 0; j < 10; j++) {
      config.job("job" + j);
    }
    SchedulingCore core = busy(config, TreeFixture.regular(config.levels(), leaves));
    assertThat(workPerEvent(core)).isLessThan(40);
  }

  @Test
  void aRareOpenLeafAmongAMillionIsFoundInAFewRows() {
    ConfigFixture config = new ConfigFixture("db").order(NodeOrder.RANDOM).job("a");
    SchedulingCore core = busy(config, TreeFixture.regular(config.levels(), 1_000_000));
    assertThat(core.running().count()).isEqualTo(1_000_000);
    assertThat(workPerEvent(core)).isLessThan(40);
  }

  @Test
  void costGrowsWithTheWordsOfJobsNotWithTheirNumber() {
    ConfigFixture one = hosts(1);
    ConfigFixture sixtyFour = hosts(64);
    ConfigFixture many = hosts(640);
    Topology topology = TreeFixture.regular(one.levels(), 100, 25);
    double work1 = workPerEvent(busy(one, topology));
    double work64 = workPerEvent(busy(sixtyFour, topology));
    double work640 = workPerEvent(busy(many, topology));
    assertThat(work64).isLessThan(work1 * 4);
    assertThat(work640).isLessThan(work64 * 15);
  }

  @Test
  void costGrowsWithTheDepth() {
    double[] work = new double[2];
    for (int i = 0; i < 2; i++) {
      String[] levels = new String[i == 0 ? 2 : 8];
      int[] fanOuts = new int[levels.length];
      for (int l = 0; l < levels.length; l++) {
        levels[l] = "level" + l;
        fanOuts[l] = i == 0 ? 81 : 3;
      }
      ConfigFixture config = new ConfigFixture(levels).order(NodeOrder.RANDOM);
      for (String level : levels) {
        config.resource(level, "slots_of_" + level, 2);
      }
      config.job("a").job("b");
      work[i] = workPerEvent(busy(config, TreeFixture.regular(config.levels(), fanOuts)));
    }
    // Eight small rows cost no more than two wide ones.
    assertThat(work[1]).isLessThan(work[0] + 8 * 12);
  }

  @Test
  void pausingCostsNothing() {
    ConfigFixture config = hosts(10);
    SchedulingCore core = busy(config, TreeFixture.regular(config.levels(), 1000, 25));
    long before = core.work();
    core.gates().close(Gate.of(GateKind.PAUSE, "job1000", ""));
    core.gates().open(GateKind.PAUSE, "job1000");
    assertThat(core.work()).isEqualTo(before);
  }

  @Test
  void aQueueWithoutCapsIsAddedUpOncePerInstant() {
    ConfigFixture config = hosts(10);
    SchedulingCore core = busy(config, TreeFixture.regular(config.levels(), 40, 25));
    core.advance(1, 1_000);
    long before = core.state().queues.work();
    workPerEvent(core);
    assertThat(core.state().queues.work()).as("while the clock stands").isEqualTo(before);
    core.advance(2, 1_000);
    assertThat(core.state().queues.work() - before).as("at most once per job").isBetween(1L, 10L);
    core.verify();
  }

  @Test
  void aRunningTaskIsFoundByNameOnlyForThoseWhoAsk() {
    ConfigFixture config = hosts(10);
    SchedulingCore core = busy(config, TreeFixture.regular(config.levels(), 40, 25));
    workPerEvent(core);
    assertThat(core.state().places.work()).isZero();
    long run = core.running().all()[0];
    assertThat(core.running().find(core.running().job(run), core.running().node(run)))
        .isEqualTo(run);
    assertThat(core.state().places.work()).isEqualTo(core.running().count());
  }

  @Test
  void changesAreMarkedForHistogramsOnlyWhileSomebodyAsks() {
    ConfigFixture config = hosts(10);
    SchedulingCore core = busy(config, TreeFixture.regular(config.levels(), 4, 25));
    Histogram before = core.tasks().histogram(0, 0);
    assertThat(core.state().histograms.isWatched(0)).isTrue();
    workPerEvent(core);
    assertThat(core.state().histograms.isWatched(0)).as("nobody asked for 2,000 events").isFalse();
    assertThat(core.tasks().histogram(0, 0).levels()).hasSameSizeAs(before.levels());
    core.verify();
  }

  @Test
  void theEndOfABackoffCostsWhatAnEndCosts() {
    ConfigFixture config = hosts(10);
    SchedulingCore core = busy(config, TreeFixture.regular(config.levels(), 4000, 25));
    long[] runs = core.running().all();
    for (int i = 0; i < 1000; i++) {
      core.finish(runs[i], TaskStatus.waiting(0, 1, 1));
    }
    long before = core.work();
    assertThat(core.advance(999, 10_000)).isTrue();
    assertThat(core.work()).isEqualTo(before);
    assertThat(core.advance(1000, 10_000)).isTrue();
    assertThat(core.work() - before).isBetween(1000L, 200_000L);
  }
}
