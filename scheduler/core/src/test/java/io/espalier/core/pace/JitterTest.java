package io.espalier.core.pace;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class JitterTest {
  @Test
  void aWaitIsShortenedByAtMostItsPart() {
    Jitter jitter = new Jitter(7);
    Set<Long> waits = new HashSet<>();
    for (int i = 0; i < 1_000; i++) {
      long wait = jitter.shorten(10_000, Jitter.OF_PERIODS);
      assertThat(wait).isBetween(9_000L, 10_000L);
      waits.add(wait);
    }
    assertThat(waits).as("spread over the whole part").hasSizeGreaterThan(500);
    assertThat(jitter.shorten(0, 1)).isZero();
    assertThat(jitter.shorten(1, Jitter.OF_RETRIES)).isEqualTo(1);
    assertThat(jitter.shorten(Duration.ofHours(1), 0)).isEqualTo(Duration.ofHours(1));
  }

  @Test
  void theSameSeedGivesTheSameWaits() {
    Jitter one = new Jitter(42);
    Jitter same = new Jitter(42);
    Jitter other = new Jitter(43);
    int different = 0;
    for (int i = 0; i < 100; i++) {
      long wait = one.shorten(100_000, 1);
      assertThat(same.shorten(100_000, 1)).isEqualTo(wait);
      different += other.shorten(100_000, 1) == wait ? 0 : 1;
    }
    assertThat(different).isGreaterThan(90);
  }
}
