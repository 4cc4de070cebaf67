package io.espalier.testkit.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.testkit.TestSize;
import io.espalier.testkit.cluster.SimulatedCluster.Outcome;
import io.espalier.testkit.lives.SimulatedLives;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Many lives of a whole cluster in which everything goes wrong. How many: the system property
 * {@code simulation.seeds}, from {@code simulation.from}. A seed that fails is named with the last
 * it did, and {@code SimulationMain --trace SEED} tells all its life.
 */
class SimulatedClusterTest {
  private static final long SEEDS =
      Long.getLong("simulation.seeds", TestSize.choose(60, 300, 20_000));
  private static final long FROM = Long.getLong("simulation.from", 1);
  private static final int THREADS = 2;
  private static final int MOST_FAILURES = 5;

  /** So many lives must show everything that can happen. */
  private static final long ENOUGH = 2_000;

  /** Each known bug must be found within so many seeds, from the one that is known to find it. */
  private static final long HUNT = 1_500;

  @Test
  void whateverGoesWrongNoTaskEverRunsTwiceAndInTheEndAllIsDone() throws InterruptedException {
    AtomicReference<@Nullable SimulatedLives> seen = new AtomicReference<>();
    SimulatedLives all =
        SimulatedLives.run(
            FROM,
            seed -> {
              SimulatedLives so = seen.get();
              return seed < FROM + SEEDS && (so == null || so.failures().size() < MOST_FAILURES);
            },
            THREADS,
            null,
            seen::set);
    System.out.println("simulated cluster: " + all.summary());

    assertThat(all.failures().stream().map(failure -> SimulatedLives.told(failure, null)))
        .isEmpty();
    assertThat(all.starts()).isGreaterThan(10 * SEEDS);
    if (SEEDS >= ENOUGH) {
      assertThat(all.coverage().never()).isEmpty();
    }
  }

  /** In these lives, rows that were read again took back what had been written meanwhile. */
  @ParameterizedTest
  @ValueSource(longs = {20_014_386, 20_015_862})
  void whatFailedOnceDoesNotFailAgain(long seed) {
    assertThat(SimulatedCluster.run(seed).violation()).isNull();
  }

  @ParameterizedTest
  @EnumSource(ProtocolBug.class)
  void aKnownBugOfTheProtocolIsCaught(ProtocolBug bug) throws InterruptedException {
    AtomicReference<@Nullable Outcome> caught = new AtomicReference<>();
    long first = bug.caughtBy();
    SimulatedLives unused =
        SimulatedLives.run(
            first,
            seed -> seed < first + HUNT && caught.get() == null,
            THREADS,
            bug,
            so ->
                so.failures().stream()
                    .filter(failure -> failure.broken() == bug.breaks())
                    .findFirst()
                    .ifPresent(caught::set));
    Outcome failure =
        Objects.requireNonNull(
            caught.get(),
            () -> bug + " never broke " + bug.breaks() + " in " + HUNT + " seeds from " + first);

    System.out.println(bug + " is caught by seed " + failure.seed() + ": " + failure.violation());
    // It is the bug, not the life.
    assertThat(SimulatedCluster.run(failure.seed()).violation()).isNull();
  }

  @Test
  void theDocumentNamesEachBugWithTheInvariantAndTheSeed() throws IOException {
    Pattern row = Pattern.compile("\\| `(\\w+)` \\|.*\\| (\\w+)[^|]*\\| (\\d+) \\|");
    String teeth =
        Files.readString(Path.of("../../thrift/PROTOCOL.md")).split("\n## Teeth\n", 2)[1];
    List<String> rows =
        teeth
            .lines()
            .map(row::matcher)
            .filter(Matcher::matches)
            .map(line -> line.group(1) + " " + line.group(2) + " " + line.group(3))
            .toList();
    assertThat(rows)
        .containsExactlyInAnyOrderElementsOf(
            Stream.of(ProtocolBug.values())
                .map(bug -> bug + " " + bug.breaks() + " " + bug.caughtBy())
                .toList());
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 17, 4711})
  void theSameSeedGivesTheSameLifeWordForWord(long seed) {
    List<String> first = new ArrayList<>();
    List<String> second = new ArrayList<>();
    Outcome one = SimulatedCluster.run(seed, null, first::add);
    Outcome two = SimulatedCluster.run(seed, null, second::add);
    Outcome untold = SimulatedCluster.run(seed);

    assertThat(second).isEqualTo(first);
    assertThat(two.steps()).isEqualTo(one.steps());
    assertThat(two.coverage().lines()).isEqualTo(one.coverage().lines());
    assertThat(untold.steps()).isEqualTo(one.steps());
    assertThat(untold.coverage().lines()).isEqualTo(one.coverage().lines());
    assertThat(first).anyMatch(line -> line.contains("lives on"));
  }

  @Test
  void aFailureIsToldWithTheLastThatHappenedAndReplaysExactly() throws InterruptedException {
    ProtocolBug bug = ProtocolBug.ACKNOWLEDGES_BEFORE_COMMIT;
    SimulatedLives all = SimulatedLives.run(1, seed -> seed <= 20, 1, bug, so -> {});

    Outcome failure = all.failures().get(0);
    String told = SimulatedLives.told(failure, bug);

    assertThat(told)
        .startsWith("seed " + failure.seed() + " breaks NOTHING_ACKNOWLEDGED_IS_LOST: ")
        .contains("lives on")
        .endsWith("replayed exactly; all of it: SimulationMain --trace " + failure.seed());
    assertThat(all.broken()).containsKey(Invariant.NOTHING_ACKNOWLEDGED_IS_LOST);
  }
}
