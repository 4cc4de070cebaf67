package io.espalier.core.scheduling.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import org.junit.jupiter.api.Test;

/** How use decays (docs/design/features.md#priority-with-a-memory), in the numbers of that page. */
final class DecayedUsageTest {
  private static final long HOUR = 3_600_000;

  @Test
  void aValueOf0FollowsAUseOf100To50And75And87AndAHalf() {
    DecayedUsage usage = new DecayedUsage(0, 100, 0, HOUR);
    assertThat(usage.at(0)).isEqualTo(0);
    assertThat(usage.at(HOUR)).isEqualTo(50, within(1e-9));
    assertThat(usage.at(2 * HOUR)).isEqualTo(75, within(1e-9));
    assertThat(usage.at(3 * HOUR)).isEqualTo(87.5, within(1e-9));
  }

  @Test
  void itFallsAsItRises() {
    assertThat(DecayedUsage.after(100, 0, HOUR, HOUR)).isEqualTo(50, within(1e-9));
    assertThat(DecayedUsage.after(100, 0, 3 * HOUR, HOUR)).isEqualTo(12.5, within(1e-9));
  }

  @Test
  void theWeightBelongsToTheOldValueSoNoTimeChangesNothing() {
    assertThat(DecayedUsage.after(7, 100, 0, HOUR)).isEqualTo(7);
    assertThat(DecayedUsage.after(7, 100, 1, HOUR)).isEqualTo(7, within(0.0001));
    assertThat(DecayedUsage.after(7, 100, 1000 * HOUR, HOUR)).isEqualTo(100, within(1e-9));
  }

  @Test
  void twoHalfStepsAreOneWhole() {
    double half = DecayedUsage.after(3, 40, HOUR / 2, HOUR);
    assertThat(DecayedUsage.after(half, 40, HOUR / 2, HOUR))
        .isEqualTo(DecayedUsage.after(3, 40, HOUR, HOUR), within(1e-9));
  }

  @Test
  void howOftenItIsAskedDoesNotMatter() {
    Random random = new Random(5);
    DecayedUsage often = new DecayedUsage(0, 0, 0, HOUR);
    double expected = 0;
    long now = 0;
    for (int i = 0; i < 200; i++) {
      double use = random.nextInt(5) / 4.0;
      often.setUse(use, now);
      long next = now + random.nextInt(1_000_000);
      for (long t = now; t < next; t += 1 + random.nextInt(100_000)) {
        often.setUse(use, t);
        assertThat(often.at(t)).isBetween(0.0, 1.0);
      }
      expected = use + (expected - use) * Math.pow(0.5, (double) (next - now) / HOUR);
      now = next;
      assertThat(often.at(now)).isEqualTo(expected, within(1e-9));
    }
  }

  @Test
  void anotherHalfLifeHoldsFromThenOn() {
    DecayedUsage usage = new DecayedUsage(0, 1, 0, HOUR);
    usage.setHalfLife(2 * HOUR, HOUR);
    assertThat(usage.at(HOUR)).isEqualTo(0.5, within(1e-9));
    assertThat(usage.at(3 * HOUR)).isEqualTo(0.75, within(1e-9));
  }

  @Test
  void aClockThatGoesBackChangesNothing() {
    DecayedUsage usage = new DecayedUsage(0.25, 1, HOUR, HOUR);
    assertThat(usage.at(0)).isEqualTo(0.25);
    usage.setUse(0, HOUR / 2);
    assertThat(usage.at(2 * HOUR)).isEqualTo(0.125, within(1e-9));
  }
}
