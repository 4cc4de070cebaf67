package io.espalier.cli.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.cli.term.DurationConverter;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.TypeConversionException;

class DurationConverterTest {
  @Test
  void allFlagsTakeTheSameTextAndAPlainNumberIsOfTheirOwnUnit() {
    assertThat(new DurationConverter().convert("2h")).isEqualTo(7_200);
    assertThat(new DurationConverter().convert("90")).isEqualTo(90);
    assertThat(new DurationConverter.Millis().convert("90s")).isEqualTo(90_000);
    assertThat(new DurationConverter.Millis().convert("250")).isEqualTo(250);
    assertThat(new DurationConverter.IntMillis().convert("1.5m")).isEqualTo(90_000);
    assertThat(new DurationConverter.Days().convert("48h")).isEqualTo(2);
    assertThat(new DurationConverter.Days().convert("0")).isZero();
    assertThat(new DurationConverter.Seconds().convert("0.5")).isEqualTo(0.5);
    assertThat(new DurationConverter.Seconds().convert("250ms")).isEqualTo(0.25);
  }

  @Test
  void whatIsNoSpanOrNoWholeUnitIsRefused() {
    for (String text : List.of("", "-1", "1w", "m", "1e3", "0.5ms", "9999999999999999")) {
      assertThatThrownBy(() -> new DurationConverter.Millis().convert(text))
          .as(text)
          .isInstanceOf(TypeConversionException.class);
    }
    assertThatThrownBy(() -> new DurationConverter.Days().convert("36h"))
        .hasMessageContaining("36h");
    assertThatThrownBy(() -> new DurationConverter.IntMillis().convert("60d"))
        .hasMessageContaining("60d");
  }
}
