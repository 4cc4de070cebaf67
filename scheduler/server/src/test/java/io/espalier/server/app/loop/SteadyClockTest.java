package io.espalier.server.app.loop;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.Test;

class SteadyClockTest {
  private static final long HOUR = 3_600_000;

  private long wall = 1_790_000_000_000L;
  private long nanos = -5;
  private final SteadyClock clock = new SteadyClock(() -> Instant.ofEpochMilli(wall), () -> nanos);

  /** Time passes, and the clock is looked at in between as often. */
  private void passes(long millis, int looks) {
    long before = clock.millis();
    for (int look = 0; look < looks; look++) {
      wall += millis / looks;
      nanos += millis / looks * 1_000_000;
      assertThat(clock.millis()).isGreaterThanOrEqualTo(before);
      before = clock.millis();
    }
  }

  @Test
  void it_is_the_clock_of_the_machine_as_long_as_that_goes_on() {
    assertThat(clock.millis()).isEqualTo(wall);
    passes(10_000, 7);
    assertThat(clock.millis()).isEqualTo(wall);
    wall += HOUR;
    assertThat(clock.millis()).as("set forward").isEqualTo(wall);
    assertThat(clock.instant()).isEqualTo(Instant.ofEpochMilli(wall));
  }

  @Test
  void a_wait_lasts_at_most_twice_as_long_when_the_clock_is_set_back_by_an_hour() {
    long end = clock.millis() + 10_000;
    wall -= HOUR;
    passes(19_999, 1);
    assertThat(clock.millis()).isEqualTo(end - 1);
    passes(1, 1);
    assertThat(clock.millis()).isEqualTo(end);
  }

  @Test
  void it_never_goes_back_and_loses_nothing_however_often_it_is_looked_at() {
    long start = clock.millis();
    wall -= HOUR;
    long before = start;
    for (int look = 0; look < 30_000; look++) {
      nanos += 333_333;
      assertThat(clock.millis()).isGreaterThanOrEqualTo(before);
      before = clock.millis();
    }
    assertThat(before - start).isEqualTo(30_000L * 333_333 / 2_000_000);
  }

  @Test
  void the_clock_of_the_machine_catches_up_in_twice_what_it_was_set_back() {
    clock.millis();
    wall -= HOUR;
    passes(2 * HOUR - 1_000, 10);
    assertThat(clock.millis()).isEqualTo(wall + 500);
    passes(1_000, 10);
    assertThat(clock.millis()).isEqualTo(wall);
    passes(1_000, 10);
    assertThat(clock.millis()).isEqualTo(wall);
  }
}
