package io.espalier.core.loop.state;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CompletionRateTest {
  private final CompletionRate rate = new CompletionRate();

  @Test
  void aMinuteIsCountedAndNotMore() {
    for (int second = 0; second < 600; second++) {
      rate.ended(second % 2 == 0, second * 1000L);
      rate.ended(false, second * 1000L + 500);
    }
    assertThat(rate.perSecond(599_999)).isEqualTo(2);
    assertThat(rate.throughPerSecond(599_999)).isEqualTo(0.5);
    assertThat(rate.perSecond(629_000)).as("half a minute without an end").isEqualTo(1);
    assertThat(rate.perSecond(660_000)).isZero();
  }

  @Test
  void theFirstMinuteIsMeasuredByWhatHasPassedOfIt() {
    for (int second = 100; second < 110; second++) {
      rate.ended(true, second * 1000L);
    }
    assertThat(rate.perSecond(109_999)).isEqualTo(1);
  }

  @Test
  void aLongSilenceForgetsEverything() {
    rate.ended(true, 1_000);
    assertThat(rate.perSecond(100_000_000)).isZero();
    rate.ended(true, 100_000_000);
    assertThat(rate.perSecond(100_000_000)).isEqualTo(1.0 / 60);
  }
}
