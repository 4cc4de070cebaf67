package io.espalier.core.running;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class ThrottleTest {
  @Test
  void theLineHasARatioAndOneLineOfReason() {
    assertThat(Throttle.NONE.line()).isEqualTo("1\n");
    assertThat(new Throttle(0, "window\nends").line()).isEqualTo("0 window ends\n");
    assertThat(new Throttle(1.0 / 3, "lag").line()).isEqualTo("0.334 lag\n");
    assertThat(new Throttle(1e-9, "").line())
        .as("only a pause is written as one")
        .isEqualTo("0.001\n");
    assertThat(new Throttle(0.5, "x".repeat(999)).line()).hasSize(205);
  }

  @Test
  void aRatioIsFromZeroToOne() {
    for (double ratio : new double[] {-0.1, 1.1, Double.NaN, Double.POSITIVE_INFINITY}) {
      assertThatThrownBy(() -> new Throttle(ratio, "")).hasMessageContaining("a ratio of");
    }
  }
}
