package io.espalier.testkit.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.Config;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.SchedulingPolicy;
import io.espalier.core.topology.Topology;
import io.espalier.testkit.TestSize;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The contract of every scheduling policy; one test per policy extends it. */
public abstract class SchedulingPolicyContract {
  private static final int ALL = Integer.MAX_VALUE;

  /** Returns a new policy. */
  protected abstract SchedulingPolicy policy();

  @Test
  void hasANameThatFitsIntoAConfiguration() {
    assertThat(policy().name()).matches("[a-z][a-z0-9_]*");
  }

  @Test
  void isFoundByItsName() {
    assertThat(ServiceLoader.load(SchedulingPolicy.class))
        .filteredOn(found -> found.name().equals(policy().name()))
        .singleElement()
        .hasSameClassAs(policy());
  }

  @Test
  void doesNothingWhereNothingMayStart() {
    ConfigFixture config = new ConfigFixture("db").resource("db", "lock", 0).job("a");
    assertThat(started(core(config, "d1", "d2"), ALL)).isEmpty();
  }

  @Test
  void drainsWithoutLimits() {
    ConfigFixture config = new ConfigFixture("db").job("a").job("b").job("c");
    assertThat(started(core(config, "d1", "d2", "d3"), ALL))
        .containsExactlyInAnyOrder(
            "a d1", "a d2", "a d3", "b d1", "b d2", "b d3", "c d1", "c d2", "c d3");
  }

  @Test
  void leavesOutDisabledJobsAndNodes() {
    ConfigFixture config =
        new ConfigFixture("host", "db").job("a").job("b", new JobFixture("b").disabled());
    assertThat(started(core(config, "h1/d1", "h1/d2!", "h2!/d3"), ALL)).containsExactly("a d1");
  }

  @Test
  void aCutRoundGoesOnWhereItWasCut() {
    ConfigFixture config =
        new ConfigFixture("host", "db").resource("host", "slots", 2).job("a").job("b").job("c");
    SchedulingCore core = core(config, "h1/d1", "h1/d2", "h2/d3", "h2/d4", "h3/d5");
    List<String> starts = new ArrayList<>();
    while (!core.round(policy(), 1, run -> starts.add(name(core, run)))) {
      assertThat(starts.size()).isLessThan(10);
    }
    assertThat(starts).hasSize(6).doesNotHaveDuplicates();
  }

  @Test
  void theSameSeedGivesTheSameStarts() {
    for (int seed = 0; seed < TestSize.choose(2, 5, 20); seed++) {
      assertThat(run(seed, RunSize.SMALL).placements())
          .isEqualTo(run(seed, RunSize.SMALL).placements());
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1000, 2000})
  void isLocallyMaximalAndNeverOverInRandomWorlds(long firstSeed) {
    for (long seed = firstSeed; seed < firstSeed + TestSize.choose(5, 15, 150); seed++) {
      run(seed, RunSize.SMALL);
    }
  }

  private RandomRun run(long seed, RunSize size) {
    return new RandomRun(seed, size, List.of(policy()));
  }

  /** Returns a core with the configuration in force. */
  protected static SchedulingCore core(ConfigFixture fixture, String... paths) {
    Config config = fixture.build();
    Topology topology = TreeFixture.of(fixture.levels(), paths);
    SchedulingCore core = new SchedulingCore(7);
    core.apply(config, topology, 0);
    return core;
  }

  /** Returns job and node of all tasks that a round starts, in order. */
  protected final List<String> started(SchedulingCore core, int maxStarts) {
    List<String> starts = new ArrayList<>();
    core.round(policy(), maxStarts, run -> starts.add(name(core, run)));
    return starts;
  }

  private static String name(SchedulingCore core, long run) {
    return core.running().jobName(run) + " " + core.running().nodeName(run);
  }
}
