package io.espalier.core.scheduling.capacity;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class FreeSlotsTest {
  private static final int PLACES = 50;

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 127, 128, 1_000_000})
  void whatIsPutIsGotAlsoWhereItDoesNotFitIntoAByte(int limit) {
    FreeSlots slots = new FreeSlots(PLACES, limit);
    int[] expected = new int[PLACES];
    int[] values = {0, 1, -1, 127, 128, -127, -128, -129, Integer.MAX_VALUE, Integer.MIN_VALUE};
    Random random = new Random(limit);
    for (int i = 0; i < 2_000; i++) {
      int place = random.nextInt(PLACES);
      expected[place] = values[random.nextInt(values.length)];
      slots.put(place, expected[place]);
      if (i == 1_000) {
        slots.widen(1_000);
      }
      for (int at = 0; at < PLACES; at++) {
        assertThat(slots.get(at)).isEqualTo(expected[at]);
      }
    }
  }

  @Test
  void aPlaceTakesAByteUntilManyHaveLargeLimits() {
    FreeSlots slots = new FreeSlots(PLACES, 127);
    slots.put(7, 5_000);
    assertThat(slots.byteSize()).isEqualTo(PLACES);
    slots.widen(127);
    assertThat(slots.byteSize()).isEqualTo(PLACES);
    slots.widen(128);
    assertThat(slots.byteSize()).isEqualTo(4 * PLACES);
    assertThat(slots.get(7)).isEqualTo(5_000);
  }
}
