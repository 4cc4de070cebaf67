package io.espalier.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class UiCommandTest {
  @Test
  void usageErrorsEndWithTwo() {
    assertThat(EspalierCommand.execute(new String[] {"ui"}, Map.of())).isEqualTo(2);
    assertThat(
            EspalierCommand.execute(
                new String[] {"ui", "--schedulers", "a:1", "--http", "0.0.0.0:0"}, Map.of()))
        .isEqualTo(2);
    assertThat(
            EspalierCommand.execute(
                new String[] {"ui", "--schedulers", "a:1", "--poll-ms", "1"}, Map.of()))
        .isEqualTo(2);
    assertThat(EspalierCommand.execute(new String[] {"ui", "--schedulers", "zk://h"}, Map.of()))
        .isEqualTo(2);
  }
}
