package io.espalier.core.status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How status bits are written (docs/design/bistro.md#reading-queries). */
class StatusBitsTest {
  @ParameterizedTest
  @CsvSource({
    "0, A",
    "1, B",
    "2, C",
    "4, E",
    "8, I",
    "16, Q",
    "32, g",
    "62, -",
    "63, _",
    "64, AB",
    "96, gB",
    "129, BC",
    "584, IJ",
    "3168, gx",
    "4095, __"
  })
  void bits_have_one_or_two_digits_the_lowest_first(int bits, String text) {
    assertThat(StatusBits.encode(bits)).isEqualTo(text);
    assertThat(StatusBits.decode(text)).isEqualTo(bits);
  }

  @Test
  void every_combination_survives_the_round_trip() {
    for (int bits = 0; bits <= StatusBits.ALL; bits++) {
      assertThat(StatusBits.decode(StatusBits.encode(bits))).isEqualTo(bits);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "AAA", "=", "A+", "é", " A"})
  void other_text_is_refused(String text) {
    assertThatThrownBy(() -> StatusBits.decode(text)).isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 4096})
  void other_bits_are_refused(int bits) {
    assertThatThrownBy(() -> StatusBits.encode(bits)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void clients_of_Bistro_see_a_cancelled_task_as_failed_on_an_avoided_node() {
    assertThat(StatusBits.inBistro(TaskStatus.Main.CANCELLED.bit())).isEqualTo(16 + 128);
    assertThat(StatusBits.inBistro(4096 + 4 + 256)).isEqualTo(16 + 128 + 4 + 256);
    assertThat(StatusBits.inBistro(4095)).isEqualTo(4095);
  }
}
