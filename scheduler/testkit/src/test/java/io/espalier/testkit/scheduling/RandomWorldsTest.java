package io.espalier.testkit.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.scheduling.Replay;
import io.espalier.testkit.scheduling.RandomRun.Size;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The scheduling core against the oracle; a failure names its seed. Worlds know nothing of each
 * other: as many at once as there are processors.
 */
final class RandomWorldsTest {
  private static final int BATCH = 100;

  /** Fewer for a quick look. */
  private static final int BATCHES = Integer.getInteger("espalier.batches", 20);

  static LongStream batches() {
    return LongStream.range(0, BATCHES).map(i -> i * BATCH);
  }

  @Execution(ExecutionMode.CONCURRENT)
  @ParameterizedTest
  @MethodSource("batches")
  void theCoreAnswersLikeTheOracle(long first) {
    for (long seed = first; seed < first + BATCH; seed++) {
      run(seed, Size.SMALL);
    }
  }

  @Execution(ExecutionMode.CONCURRENT)
  @ParameterizedTest
  @MethodSource("fewSeeds")
  void theCoreAnswersLikeTheOracleWithMoreThan64Jobs(long seed) {
    run(seed, Size.MANY_JOBS);
  }

  @Execution(ExecutionMode.CONCURRENT)
  @ParameterizedTest
  @MethodSource("fewSeeds")
  void theCoreAnswersLikeTheOracleWhereJobsStarveEachOther(long seed) {
    run(seed, Size.SCARCE);
  }

  @ParameterizedTest
  @MethodSource("fewSeeds")
  void theCoreAnswersLikeTheOracleInRowsOfMoreThan64(long seed) {
    run(seed, Size.WIDE);
  }

  static LongStream fewSeeds() {
    return LongStream.range(0, 3L * BATCHES / 2);
  }

  @Test
  void theSameSeedGivesTheSamePlacements() {
    for (long seed = 0; seed < 50; seed++) {
      assertThat(run(seed, Size.SMALL).placements()).isEqualTo(run(seed, Size.SMALL).placements());
    }
  }

  private static RandomRun run(long seed, Size size) {
    try {
      RandomRun run =
          new RandomRun(seed, size, List.of(TestPolicies.IN_TURN, TestPolicies.ONE_BY_ONE));
      Replay.Summary replayed = run.replay(run.recording().iterator());
      assertThat(replayed.placements()).isEqualTo(run.placements().size());
      assertThat(replayed.events()).isEqualTo(run.recording().size());
      return run;
    } catch (AssertionError | RuntimeException e) {
      throw new AssertionError("seed " + seed + " of " + size + ": " + e.getMessage(), e);
    }
  }
}
