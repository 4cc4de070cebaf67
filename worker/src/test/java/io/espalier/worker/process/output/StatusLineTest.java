package io.espalier.worker.process.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class StatusLineTest {
  @Test
  void theLastLineCountsWithoutItsNewlineAndUntrimmed() {
    assertThat(status("done\n")).isEqualTo("done");
    assertThat(status("done")).isEqualTo("done");
    assertThat(status("incomplete\n do", "ne \r\n")).isEqualTo(" done \r");
    assertThat(status("done\n\n")).isEmpty();
    assertThat(status("done\nfai", "led")).isEqualTo("failed");
  }

  @Test
  void nothingIsNoStatus() {
    assertThat(status()).isNull();
    assertThat(status("")).isNull();
  }

  @Test
  void ofAHugeLineTheBeginningIsKept() {
    String[] chunks = new String[100];
    Arrays.fill(chunks, "x".repeat(10_000));
    assertThat(status(chunks)).hasSize(StatusLine.MAX_LINE);
    chunks[99] = "\ndone\n";
    assertThat(status(chunks)).isEqualTo("done");
  }

  private static @Nullable String status(String... chunks) {
    StatusLine line = new StatusLine();
    for (String chunk : chunks) {
      byte[] bytes = chunk.getBytes(StandardCharsets.UTF_8);
      line.add(bytes, bytes.length);
    }
    return line.last();
  }
}
