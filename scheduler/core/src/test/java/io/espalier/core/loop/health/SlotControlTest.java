package io.espalier.core.loop.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.loop.health.SlotControl.Place;
import io.espalier.core.loop.health.SlotControl.Verdict;
import io.espalier.core.scheduling.capacity.HealthLimit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Halving and adding of slots (docs/probes.md#how-a-limit-follows). */
class SlotControlTest {
  private static final int CONFIGURED = 40;

  private final SlotControl control = new SlotControl();
  private long now;

  @BeforeEach
  void aHostThatIsKnown() {
    take(Verdict.BETWEEN, 0);
  }

  private int left() {
    return Math.min(CONFIGURED, control.limit());
  }

  private void take(Verdict verdict, int used) {
    now += 10_000;
    control.take(verdict, now, new Place(CONFIGURED, CONFIGURED, 0, used), now);
  }

  /** A host whose latency grows with its load: bad above its best number of tasks. */
  private void followHost(int best, int used) {
    take(used > best ? Verdict.BAD : used < best ? Verdict.GOOD : Verdict.BETWEEN, used);
  }

  @Test
  void aLimitSettlesAtWhatAHostBearsAndGrowsWithIt() {
    for (int best : new int[] {1, 4, 32}) {
      for (int step = 0; step < 120; step++) {
        followHost(best, left());
      }
      int near = 0;
      for (int step = 0; step < 1_000; step++) {
        followHost(best, left());
        near += Math.abs(left() - best) <= 1 ? 1 : 0;
      }
      assertThat(near).as("best %d", best).isGreaterThanOrEqualTo(900);
    }
  }

  @Test
  void aHostThatRecoversIsWholeAfterThreeGoodValuesForEachSlot() {
    for (int i = 0; i < 10; i++) {
      take(Verdict.BAD, 0);
    }
    assertThat(control.limit()).isZero();
    for (int i = 0; i < 3 * (CONFIGURED - 1); i++) {
      assertThat(control.limit()).isLessThan(CONFIGURED);
      take(Verdict.GOOD, left());
    }
    take(Verdict.GOOD, left());
    take(Verdict.GOOD, left());
    take(Verdict.GOOD, left());
    assertThat(control.limit()).isEqualTo(HealthLimit.WHOLE);
  }

  @Test
  void longTasksDoNotBringAHostToNothing() {
    for (int i = 0; i < 50; i++) {
      take(Verdict.BAD, CONFIGURED);
    }
    assertThat(control.limit()).isEqualTo(CONFIGURED / 2);
    take(Verdict.BAD, CONFIGURED / 2);
    assertThat(control.limit()).as("its value was sampled before").isEqualTo(CONFIGURED / 2);
    take(Verdict.BAD, CONFIGURED / 2);
    assertThat(control.limit()).isEqualTo(CONFIGURED / 4);
  }

  @Test
  void valuesBetweenTheBoundsChangeNothingAndBreakARow() {
    take(Verdict.BAD, 0);
    take(Verdict.GOOD, 0);
    take(Verdict.GOOD, 0);
    take(Verdict.BETWEEN, 0);
    take(Verdict.GOOD, 0);
    take(Verdict.GOOD, 0);
    assertThat(control.limit()).isEqualTo(CONFIGURED / 2);
    take(Verdict.GOOD, 0);
    assertThat(control.limit()).isEqualTo(CONFIGURED / 2 + 1);
  }

  @Test
  void aFirstValueThatIsBadLeavesTheFloorAndAnyOtherTheWholeLimit() {
    Place place = new Place(CONFIGURED, CONFIGURED, 3, 0);
    for (Verdict first : Verdict.values()) {
      SlotControl unknown = new SlotControl();
      unknown.take(first, 1, place, 1);
      assertThat(unknown.limit())
          .as("%s", first)
          .isEqualTo(first == Verdict.BAD ? 3 : HealthLimit.WHOLE);
      unknown.take(Verdict.BAD, 2, place, 2);
      assertThat(unknown.limit()).isEqualTo(first == Verdict.BAD ? 3 : CONFIGURED / 2);
    }
  }
}
