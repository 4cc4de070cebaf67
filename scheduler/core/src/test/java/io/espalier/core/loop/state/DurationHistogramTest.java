package io.espalier.core.loop.state;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DurationHistogramTest {
  @Test
  void nothingIsKnownBeforeTheFirst() {
    assertThat(new DurationHistogram().expected(0)).isEqualTo(-1);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 7, 8, 15, 16, 17, 1_000, 59_999, 86_400_000, 1L << 40})
  void oneIsRememberedWithinASixteenth(long millis) {
    DurationHistogram durations = new DurationHistogram();
    durations.add(millis);
    assertThat(durations.expected(0)).isBetween(millis - millis / 16 - 1, millis + millis / 16 + 1);
  }

  @Test
  void everyDurationHasABucketAndLongerOnesNoLowerOne() {
    int last = 0;
    for (long millis = 0; millis >= 0; millis += 1 + millis / 20) {
      int bucket = DurationHistogram.bucket(millis);
      assertThat(bucket).isBetween(last, 487);
      last = bucket;
    }
    assertThat(DurationHistogram.bucket(Long.MAX_VALUE)).isEqualTo(487);
  }

  @Test
  void whoeverRunsForLongIsComparedWithThoseThatTookLong() {
    DurationHistogram durations = new DurationHistogram();
    for (int i = 0; i < 90; i++) {
      durations.add(1_000);
    }
    for (int i = 0; i < 10; i++) {
      durations.add(60_000);
    }
    assertThat(durations.expected(0)).isBetween(900L, 1_100L);
    assertThat(durations.expected(5_000)).isBetween(56_000L, 64_000L);
    assertThat(durations.expected(600_000)).isEqualTo(-1);
  }

  @Test
  void whatIsNewCountsMoreThanWhatIsOld() {
    DurationHistogram durations = new DurationHistogram();
    for (int i = 0; i < 4_000; i++) {
      durations.add(1_000);
    }
    for (int i = 0; i < 4_096; i++) {
      durations.add(8_000);
    }
    assertThat(durations.expected(0)).isBetween(7_500L, 8_500L);
  }

  /**
   * Of 100 that took a second or were stopped: too many of the latter prove that most take longer.
   */
  @ParameterizedTest
  @CsvSource({"0, 2000, 1023", "5, 2000, 1023", "6, 2000, 1920", "100, 2000, 1920", "99, 10, 1023"})
  void whatWasStoppedTakesAtLeastAsLong(int stopped, long ranFor, long expected) {
    DurationHistogram durations = new DurationHistogram();
    DurationHistogram runs = new DurationHistogram();
    for (int i = 0; i < 100; i++) {
      if (i < stopped) {
        runs.add(ranFor);
      } else {
        durations.add(1_000);
      }
    }
    assertThat(durations.bound(0.95, runs)).isEqualTo(expected);
  }

  @Test
  void aBoundOfNothingIsNotKnown() {
    assertThat(new DurationHistogram().bound(0.95, new DurationHistogram())).isEqualTo(-1);
  }
}
