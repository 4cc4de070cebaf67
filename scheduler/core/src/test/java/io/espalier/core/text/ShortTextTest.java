package io.espalier.core.text;

import static org.assertj.core.api.Assertions.assertThat;

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
  void aSurrogatePairIsNotCutInTwo() {
    assertThat(ShortText.cut("ab\uD83D\uDE00d", 3)).isEqualTo("ab");
    assertThat(ShortText.shown("ab\uD83D\uDE00d", 3)).isEqualTo("ab…");
    assertThat(ShortText.cut("a\uD83D\uDE00d", 3)).isEqualTo("a\uD83D\uDE00");
  }
}
