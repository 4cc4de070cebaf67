package io.espalier.core.json;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JsonWriterTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "0",
        "-1",
        "63",
        "64",
        "999999999999999999",
        "-999999999999999999",
        "1000000000000000000",
        "9223372036854775807",
        "-9223372036854775808",
        "9223372036854775808",
        "123456789012345678901234567890",
        "1.50",
        "-0.001",
      })
  void plainNumbersAreWrittenAsTheyAre(String text) {
    assertThat(JsonWriter.compact(new Json.Num(new BigDecimal(text)))).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({"1E+3, 1000", "1E-3, 0.001", "1E+41, 1E+41", "1E+1000000, 1E+1000000"})
  void onlyNumbersOfManyZerosHaveAnExponent(String number, String text) {
    assertThat(JsonWriter.compact(new Json.Num(new BigDecimal(number)))).isEqualTo(text);
  }

  @Test
  void objectsOfFewAndOfManyMembersLookTheSame() {
    for (int members = 0; members <= 2 * Members.MOST; members++) {
      Json.Builder object = Json.object();
      StringBuilder compact = new StringBuilder();
      StringBuilder pretty = new StringBuilder();
      for (int i = 0; i < members; i++) {
        object.put("k" + i, i);
        compact.append(i == 0 ? "" : ",").append("\"k" + i + "\":" + i);
        pretty.append(i == 0 ? "\n" : ",\n").append("  \"k" + i + "\": " + i);
      }
      Json.Obj built = object.build();
      assertThat(JsonWriter.compact(built)).isEqualTo("{" + compact + "}");
      assertThat(JsonWriter.pretty(built))
          .isEqualTo("{" + pretty + (members == 0 ? "" : "\n") + "}");
    }
  }

  @Test
  void everyCharacterIsWrittenOrEscaped() {
    StringBuilder plain = new StringBuilder();
    for (char c = 0; c < Character.MAX_VALUE; c++) {
      StringBuilder out = new StringBuilder();
      JsonWriter.quote("a" + c + "b", out);
      boolean escaped = out.length() != 5;
      if (!escaped) {
        assertThat(out.charAt(2)).isEqualTo(c);
        plain.append(c);
      }
    }
    assertThat(plain)
        .hasSize(0xffff - 0x20 - 3 - 2_048 - 2)
        .doesNotContain("\"", "\\", "\u007f", "\u2028", "\u2029")
        .contains(" ", "~", "\u0080", "\ufffe");
  }

  @Test
  void smallNumbersAreNoNewObjects() {
    // The events that a scheduler keeps in memory have hundreds of thousands of them.
    assertThat(Json.of(0)).isSameAs(Json.of(0));
    assertThat(Json.of(63)).isSameAs(Json.of(63));
    for (long value : new long[] {Long.MIN_VALUE, -1, 0, 1, 10, 63, 64, Long.MAX_VALUE}) {
      assertThat(Json.of(value).value()).isEqualTo(BigDecimal.valueOf(value));
    }
  }
}
