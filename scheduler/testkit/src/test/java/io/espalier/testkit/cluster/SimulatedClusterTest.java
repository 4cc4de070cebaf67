package io.espalier.testkit.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.testkit.cluster.SimulatedCluster.Outcome;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Many lives of a whole cluster in which everything goes wrong. How many: the system property
 * {@code simulation.seeds}, from {@code simulation.from}; the profile {@code long} sets 100,000. A
 * seed that fails is named, and {@code SimulationMain --trace SEED} tells its life.
 */
class SimulatedClusterTest {
  private static final long SEEDS = Long.getLong("simulation.seeds", 2_000);
  private static final long FROM = Long.getLong("simulation.from", 1);
  private static final int MOST_FAILURES = 5;

  /** Within so many seeds each known bug must be found. */
  private static final long TEETH = 4_000;

  @Test
  void whateverGoesWrongNoTaskEverRunsTwiceAndInTheEndAllIsDone() {
    List<String> failures = new ArrayList<>();
    long starts = 0;
    for (long seed = FROM; seed < FROM + SEEDS && failures.size() < MOST_FAILURES; seed++) {
      Outcome outcome = SimulatedCluster.run(seed);
      starts += outcome.starts();
      if (outcome.violation() != null) {
        failures.add("seed " + seed + ": " + outcome.violation());
      }
    }
    System.out.println("simulated cluster: " + SEEDS + " seeds, " + starts + " task starts");

    assertThat(failures).isEmpty();
    assertThat(starts).isGreaterThan(10 * SEEDS);
  }

  @ParameterizedTest
  @EnumSource(ProtocolBug.class)
  void aKnownBugOfTheProtocolIsCaught(ProtocolBug bug) {
    for (long seed = 1; seed <= TEETH; seed++) {
      Outcome outcome = SimulatedCluster.run(seed, bug, null);
      if (outcome.violation() != null) {
        System.out.println(bug + " is caught by seed " + seed + ": " + outcome.violation());
        // It is the bug, not the life.
        assertThat(SimulatedCluster.run(seed).violation()).isNull();
        return;
      }
    }
    throw new AssertionError(bug + " was not caught by " + TEETH + " seeds");
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 17, 4711})
  void theSameSeedGivesTheSameLifeWordForWord(long seed) {
    List<String> first = new ArrayList<>();
    List<String> second = new ArrayList<>();
    Outcome one = SimulatedCluster.run(seed, null, first::add);
    Outcome two = SimulatedCluster.run(seed, null, second::add);

    assertThat(second).isEqualTo(first);
    assertThat(two).isEqualTo(one);
    assertThat(SimulatedCluster.run(seed)).isEqualTo(one);
    assertThat(first).anyMatch(line -> line.contains("lives on"));
  }
}
