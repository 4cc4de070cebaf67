package io.espalier.worker.process.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** P10 and P16 of docs/design/bistro.md#conformance-of-tasks, with a clock of our own. */
class LogQuotaTest {
  private static final long MS = 1_000_000L;

  @Test
  void theQuotaBeginsWithOneIncrementAndGrowsByOneEachPeriod() {
    LogQuota quota = new LogQuota(0, 10, 3);
    assertThat(take(quota, 0)).isEqualTo(3);
    assertThat(take(quota, 9 * MS)).isZero();
    assertThat(quota.waitNanos(4 * MS)).isEqualTo(6 * MS);
    assertThat(take(quota, 10 * MS)).isEqualTo(3);
    assertThat(take(quota, 50 * MS)).isEqualTo(12);
  }

  @Test
  void unusedQuotaIsKept() {
    LogQuota quota = new LogQuota(0, 1, 1);
    assertThat(take(quota, 999 * MS)).isEqualTo(1000);
  }

  @Test
  void zeroOrLessIsNoLimit() {
    assertThat(take(new LogQuota(0, 10, 0), 0)).isEqualTo(1_000_000);
    assertThat(take(new LogQuota(0, 10, -1), 0)).isEqualTo(1_000_000);
  }

  @Test
  void aPeriodBelowOneMillisecondActsAsOne() {
    LogQuota quota = new LogQuota(0, 0, 1);
    assertThat(take(quota, 0)).isEqualTo(1);
    assertThat(take(quota, MS)).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void afterTheWaitThereIsQuotaAndJustBeforeThereIsNone(long seed) {
    Random random = new Random(seed);
    long start = random.nextLong() / 4;
    LogQuota quota = new LogQuota(start, 1 + random.nextInt(20), 1 + random.nextInt(9));
    long now = start;
    for (int i = 0; i < 500; i++) {
      take(quota, now);
      long wait = quota.waitNanos(now);
      assertThat(wait).isPositive();
      assertThat(quota.allows(now + wait - 1)).isFalse();
      assertThat(quota.allows(now + wait)).isTrue();
      now += wait + random.nextInt(30_000_000);
    }
  }

  private static int take(LogQuota quota, long now) {
    int taken = 0;
    while (quota.allows(now) && taken < 1_000_000) {
      quota.use();
      taken++;
    }
    return taken;
  }
}
