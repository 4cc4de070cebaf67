package io.espalier.core.scheduling.util;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class JobBitMatrixTest {
  private static final int PLACES = 150;

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 8, 10, 16, 17, 32, 33, 63, 64, 65, 128, 130})
  void rowsAreSeenAsTheSinglePlacesSayIt(int jobs) {
    Random random = new Random(jobs);
    JobBitMatrix bits = new JobBitMatrix(PLACES, jobs);
    boolean[][] model = new boolean[PLACES][jobs];
    for (int step = 0; step < 3_000; step++) {
      int place = random.nextInt(PLACES);
      int job = random.nextInt(jobs);
      // Mostly empty, so that what is looked for is sometimes far away.
      boolean on = random.nextInt(4) == 0;
      model[place][job] = on;
      long before = bits.get(place, job >>> 6);
      bits.put(place, job >>> 6, on ? before | 1L << job : before & ~(1L << job));
      int from = random.nextInt(PLACES);
      int to = from + random.nextInt(PLACES - from + 1);
      int other = random.nextInt(jobs);
      int next = -1;
      for (int i = to - 1; i >= from; i--) {
        next = model[i][other] ? i : next;
      }
      assertThat(bits.next(from, to, other)).isEqualTo(next);
      long wanted = random.nextLong();
      assertThat(bits.anyOf(from, to, other >>> 6, wanted))
          .isEqualTo(any(model, from, to, other >>> 6) & wanted);
      assertThat(bits.has(place, job)).isEqualTo(on);
      assertThat(bits.get(place, job >>> 6)).isEqualTo(any(model, place, place + 1, job >>> 6));
    }
  }

  private static long any(boolean[][] model, int from, int to, int word) {
    long any = 0;
    for (int place = from; place < to; place++) {
      for (int job = word << 6; job < Math.min(model[place].length, (word + 1) << 6); job++) {
        any |= model[place][job] ? 1L << job : 0;
      }
    }
    return any;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 10, 64})
  void aPlaceTakesAsManyBitsAsThereAreJobsRoundedUp(int jobs) {
    long width = Integer.highestOneBit(2 * jobs - 1);
    assertThat(new JobBitMatrix(6_400, jobs).byteSize()).isEqualTo(6_400 * width / 8);
  }
}
