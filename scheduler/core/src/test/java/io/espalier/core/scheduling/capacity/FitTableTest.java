package io.espalier.core.scheduling.capacity;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class FitTableTest {
  @ParameterizedTest
  @CsvSource({"1, 2", "10, 5", "70, 1024", "130, 5000", "3, 0"})
  void theJobsThatFitAreThoseThatNeedNoMore(int jobs, int largest) {
    Random random = new Random(jobs);
    int[] needs = random.ints(jobs, 0, largest + 1).toArray();
    int words = (jobs + 63) >>> 6;
    FitTable table = new FitTable(needs, words);
    for (int room = -2; room <= largest + 2; room++) {
      boolean differs = false;
      for (int j = 0; j < jobs; j++) {
        boolean fits = needs[j] == 0 || needs[j] <= room;
        assertThat((table.fits(room, j >>> 6) & 1L << j) != 0).isEqualTo(fits);
        differs |= needs[j] > 0 && needs[j] == room;
      }
      assertThat(table.step(room) != table.step(room - 1)).isEqualTo(differs);
    }
  }
}
