package io.espalier.core.problem;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SuggestionsTest {
  private static final List<String> KEYS = List.of("idle_wait", "working_wait", "enabled");

  @ParameterizedTest
  @CsvSource({
    "idle_wait, idle_wait",
    "idle_wiat, idle_wait",
    "idlewait, idle_wait",
    "IDLE-WAIT, idle_wait",
    "idle wait, idle_wait",
    "enable, enabled",
    "disabled, ",
    "colour, ",
    "idle, "
  })
  void findsWhatIsWithinTwoLetters(String word, String expected) {
    assertThat(Suggestions.closest(word, KEYS, 2)).isEqualTo(expected);
  }

  @Test
  void theNearestWinsAndTiesGoByName() {
    assertThat(Suggestions.closest("aab", List.of("aaa", "aax", "aabb"), 2)).isEqualTo("aaa");
    assertThat(Suggestions.closest("host7", List.of("host8", "host9", "host7x"), 2))
        .isEqualTo("host7x");
  }

  @ParameterizedTest
  @CsvSource({
    "'', ",
    "hots, host",
    "ohst, host",
    "hosst, host",
    "soft, ",
    "qqq, ",
    "tohs, ",
    "htos, "
  })
  void aSwapOfNeighboursIsOneMistakeAndShortWordsMayHaveOne(String word, String expected) {
    assertThat(Suggestions.didYouMean(word, List.of("ask", "host", "CET", "none")))
        .isEqualTo(expected == null ? null : "did you mean \"" + expected + "\"?");
  }

  @Test
  void withoutAnythingNearTheKnownNamesAreListedIfTheyAreFew() {
    assertThat(Suggestions.hint("zzz", List.of("host", "rack"))).isEqualTo("known: host, rack");
    assertThat(Suggestions.hint("zzz", List.of())).isNull();
  }
}
