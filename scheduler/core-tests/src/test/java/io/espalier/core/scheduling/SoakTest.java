package io.espalier.core.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.testkit.TestSize;
import io.espalier.testkit.scheduling.RandomRun;
import io.espalier.testkit.scheduling.RandomWorlds;
import io.espalier.testkit.scheduling.RunSize;
import io.espalier.testkit.scheduling.TestPolicies;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/**
 * Long lives of random worlds, until the core has received {@link #EVENTS}. Each life is replayed.
 * The seeds are those of the day, see {@link RandomWorlds#firstSeed()}.
 */
final class SoakTest {
  private static final long EVENTS = TestSize.choose(5_000, 20_000, 10_000_000);

  @Test
  void theCoreAnswersLikeTheOracleForAsLongAsItLives() {
    long events = 0;
    long placements = 0;
    long told = 0;
    long seed = RandomWorlds.firstSeed();
    System.out.printf(
        Locale.ROOT,
        "soak: seeds from %d; -D%s=%d looks at the same%n",
        seed,
        RandomWorlds.FROM,
        seed);
    // In some lives hardly anything can start. They say little, so more follow.
    while (events < EVENTS || placements <= EVENTS / 50) {
      assertThat(events).as("events with %d placements", placements).isLessThan(20 * EVENTS);
      RandomRun run = life(seed++);
      Replay.Summary replayed = run.replay(run.recording().iterator());
      assertThat(replayed.placements()).isEqualTo(run.placements().size());
      events += replayed.events();
      placements += replayed.placements();
      if (events - told >= 1_000_000) {
        told = events;
        System.out.printf(
            Locale.ROOT, "soak: %,d of %,d events, %,d placements%n", events, EVENTS, placements);
      }
    }
  }

  private static RandomRun life(long seed) {
    try {
      return new RandomRun(
          seed, RunSize.LONG, List.of(TestPolicies.IN_TURN, TestPolicies.ONE_BY_ONE));
    } catch (AssertionError | RuntimeException e) {
      throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
    }
  }
}
