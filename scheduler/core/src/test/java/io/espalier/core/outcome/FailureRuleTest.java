package io.espalier.core.outcome;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.task.OutcomeRules;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The rule that fails a job: exact numbers, and the window against a list of all ends. */
class FailureRuleTest {
  private static OutcomeRules rules(int tasks, double percent, int samples, long window) {
    return new OutcomeRules(
        tasks == 0 ? OptionalInt.empty() : OptionalInt.of(tasks),
        percent < 0 ? OptionalDouble.empty() : OptionalDouble.of(percent),
        samples,
        window == 0 ? Optional.empty() : Optional.of(Duration.ofSeconds(window)),
        100);
  }

  @ParameterizedTest
  @CsvSource({
    "100, -1, 1, 99, 5000, false",
    "100, -1, 1, 100, 100, true",
    "1, -1, 1, 1, 1, true",
    "0, 5, 50, 3, 49, false",
    "0, 5, 50, 3, 50, true",
    "0, 5, 50, 5, 100, false",
    "0, 5, 50, 6, 100, true",
    "0, 5, 1, 1, 1, true",
    "0, 0, 1, 0, 10, false",
    "0, 0, 1, 1, 1000000, true",
    "0, 0, 1, 0, 0, false",
    "100, 5, 50, 6, 40, false",
    "100, 50, 50, 100, 900, true"
  })
  void theRuleIsBrokenFromThatNumberOnOrAboveThatShare(
      int tasks, double percent, int samples, long failed, long ended, boolean broken) {
    assertThat(FailureRule.broken(rules(tasks, percent, samples, 0), failed, ended) != null)
        .isEqualTo(broken);
  }

  @Test
  void theReasonHasTheNumbers() {
    assertThat(FailureRule.broken(rules(0, 5, 50, 0), 6, 53))
        .isEqualTo("6 of 53 ended tasks failed, 5 % allowed");
    assertThat(FailureRule.broken(rules(0, 2.5, 1, 5400), 1, 1))
        .isEqualTo("1 of 1 ended task of the last 90 minutes failed, 2.5 % allowed");
    assertThat(FailureRule.broken(rules(100, -1, 1, 3600), 100, 4000))
        .isEqualTo("100 of 4000 ended tasks of the last hour failed, the job fails with 100");
    assertThat(FailureRule.broken(rules(1, -1, 1, 0), 1, 7))
        .isEqualTo("1 of 7 ended tasks failed, none may");
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 63, 64, 65, 1_000, 3_600_000})
  void theWindowCountsWhatAListOfAllEndsWouldCount(long window) {
    Random random = new Random(window);
    CompletionWindow ring = new CompletionWindow(window);
    assertThat(ring.bucketMillis() * CompletionWindow.BUCKETS).isGreaterThanOrEqualTo(window);
    List<long[]> ends = new ArrayList<>();
    long now = 1_700_000_000_000L;
    for (int i = 0; i < 3_000; i++) {
      now +=
          random.nextInt(10) == 0
              ? random.nextLong(2 * window + 2)
              : random.nextLong(window / 20 + 2);
      long at = random.nextInt(20) == 0 ? now - random.nextLong(2 * window + 2) : now;
      boolean failed = random.nextInt(3) == 0;
      ring.moveTo(now);
      ring.add(at, failed);
      ends.add(new long[] {at, failed ? 1 : 0});
      long oldest = Math.floorDiv(now, ring.bucketMillis()) - CompletionWindow.BUCKETS;
      long ended = 0;
      long bad = 0;
      for (long[] end : ends) {
        if (Math.floorDiv(end[0], ring.bucketMillis()) > oldest) {
          ended++;
          bad += end[1];
        }
      }
      assertThat(ring.ended()).isEqualTo(ended);
      assertThat(ring.failed()).isEqualTo(bad);
    }
    ring.clear();
    assertThat(ring.ended()).isZero();
    assertThat(ring.failed()).isZero();
  }
}
