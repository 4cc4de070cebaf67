package io.espalier.core.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ShortTextTest {
  @Test
  void onlyLongerTextsAreCut() {
    assertThat(ShortText.cut("abc", 3)).isEqualTo("abc");
    assertThat(ShortText.cut("abcd", 3)).isEqualTo("abc");
    assertThat(ShortText.shown("abc", 3)).isEqualTo("abc");
    assertThat(ShortText.shown("abcd", 3)).isEqualTo("abc…");
  }

  @Test
  void ofManyOnlyAFewAreNamed() {
    assertThat(ShortText.few(List.of(), ", ")).isEmpty();
    assertThat(ShortText.few(List.of("a", "b", "c", "d", "e"), ", ")).isEqualTo("a, b, c, d, e");
    assertThat(ShortText.few(List.of("a", "b", "c", "d", "e", "f", "g"), " and "))
        .isEqualTo("a and b and c and d and e and 2 more");
  }

  @Test
  void aSurrogatePairIsNotCutInTwo() {
    assertThat(ShortText.cut("ab\uD83D\uDE00d", 3)).isEqualTo("ab");
    assertThat(ShortText.shown("ab\uD83D\uDE00d", 3)).isEqualTo("ab…");
    assertThat(ShortText.cut("a\uD83D\uDE00d", 3)).isEqualTo("a\uD83D\uDE00");
  }
}
