package io.espalier.core.scheduling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.config.GroupRule;
import io.espalier.testkit.TestSize;
import io.espalier.testkit.scheduling.RandomRun;
import io.espalier.testkit.scheduling.RandomWorlds;
import io.espalier.testkit.scheduling.RunSize;
import io.espalier.testkit.scheduling.TestPolicies;
import io.espalier.testkit.scheduling.TestSelectors;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Long lives of random worlds with redundancy groups: never more members are busy than may be, and
 * at the end of a round no task is left that could start. The seeds are those of the day, see
 * {@link RandomWorlds#firstSeed()}.
 */
final class GroupSoakTest {
  private static final int STEPS = TestSize.choose(2_000, 5_000, 1_000_000);

  private static RandomRun life(long seed, RunSize size, UnaryOperator<GroupRule> told) {
    try {
      return new RandomRun(
          seed,
          size,
          List.of(TestPolicies.IN_TURN, TestPolicies.ONE_BY_ONE),
          TestSelectors.ALL,
          told);
    } catch (AssertionError | RuntimeException e) {
      throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
    }
  }

  @Test
  void theLimitsHoldForAMillionSteps() {
    long seed = RandomWorlds.firstSeed();
    long placements = 0;
    int steps = 0;
    // In some lives hardly anything can start. They say little, so more follow.
    while (steps < STEPS || placements <= STEPS / 20) {
      assertThat(steps).as("steps with %d placements", placements).isLessThan(20 * STEPS);
      placements +=
          life(seed++, RunSize.LONG_GROUPED, UnaryOperator.identity()).placements().size();
      steps += RunSize.LONG_GROUPED.steps();
    }
  }

  private static GroupRule limited(GroupRule rule, int by) {
    return new GroupRule(rule.name(), rule.level(), rule.by(), Math.max(1, rule.limit(2) + by), 0);
  }

  /** What the core would do wrong if it lost count of a member, or parked one for ever. */
  @ParameterizedTest
  @ValueSource(ints = {1, -1})
  void theOracleNoticesALimitThatIsOneTooHighOrTooLow(int by) {
    assertThatThrownBy(
            () -> {
              for (long seed = 1; seed <= 20; seed++) {
                life(seed, RunSize.GROUPED, rule -> limited(rule, by));
              }
            })
        .isInstanceOf(AssertionError.class)
        .hasMessageStartingWith("seed ");
  }

  /** What the core is told of health names the true kinds, so other names keep it ignorant. */
  private static GroupRule renamed(GroupRule rule) {
    return new GroupRule(
        "other " + rule.name(), rule.level(), rule.by(), rule.maxConcurrent(), rule.maxFraction());
  }

  @Test
  void theOracleNoticesGroupsThatIgnoreTheHealthOfTheirMembers() {
    for (long seed = 1; seed <= 3; seed++) {
      life(seed, RunSize.GROUPED, GroupSoakTest::renamed); // Here health never changes.
    }
    assertThatThrownBy(
            () -> {
              for (long seed = 1; seed <= 20; seed++) {
                life(seed, RunSize.LONG_GROUPED, GroupSoakTest::renamed);
              }
            })
        .isInstanceOf(AssertionError.class)
        .hasMessageStartingWith("seed ");
  }
}
