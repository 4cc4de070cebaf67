package io.espalier.webui.security;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RateLimiterTest {
  private final AtomicLong nanos = new AtomicLong(1);
  private final RateLimiter buckets = new RateLimiter(3, 0.5, nanos::get);

  private void seconds(double seconds) {
    nanos.addAndGet((long) (seconds * 1e9));
  }

  @Test
  void soManyAtOnceThenSoManyASecond() {
    for (int i = 0; i < 3; i++) {
      assertThat(buckets.take("a", 1)).isZero();
    }
    assertThat(buckets.take("a", 1)).isEqualTo(2);
    assertThat(buckets.wait("a")).isEqualTo(2);
    assertThat(buckets.take("b", 1)).as("another key").isZero();
    seconds(1);
    assertThat(buckets.take("a", 1)).isEqualTo(1);
    seconds(1);
    assertThat(buckets.wait("a")).isZero();
    assertThat(buckets.take("a", 1)).isZero();
    assertThat(buckets.take("a", 1)).isPositive();
    seconds(3_600);
    assertThat(buckets.take("a", 3)).as("never more than at once").isZero();
    assertThat(buckets.take("a", 1)).isPositive();
  }

  @Test
  void moreThanThereCanBeTakesAll() {
    assertThat(buckets.take("a", 1_000)).isZero();
    assertThat(buckets.take("a", 1_000)).isEqualTo(6);
  }

  @Test
  void keysThatWereNotUsedForLongAreForgotten() {
    buckets.take("a", 3);
    for (int i = 0; i < 20_000; i++) {
      buckets.take("key" + i, 1);
    }
    assertThat(buckets.wait("a")).isZero();
    assertThat(buckets.wait("never seen")).isZero();
  }
}
