package io.espalier.worker.process.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The lines of P15 (docs/design/bistro.md#conformance-of-tasks). */
class LineSplitterTest {
  @Test
  void linesKeepTheirNewlineAndTheLastOneHasNone() {
    assertThat(split("a\n\nb", 1)).containsExactly("a\n", "\n", "b");
    assertThat(split("", 1)).isEmpty();
    assertThat(split("a\n", 100)).containsExactly("a\n");
  }

  @Test
  void longLinesAreCutIntoPiecesWithoutNewline() {
    String text = "x".repeat(65_000) + "\n" + "y".repeat(130_001) + "\n" + "z".repeat(65_001);
    assertThat(split(text, 1000))
        .containsExactly(
            "x".repeat(65_000) + "\n",
            "y".repeat(65_000),
            "y".repeat(65_000),
            "y\n",
            "z".repeat(65_000),
            "z");
  }

  @Test
  void charactersAreNotCut() {
    String text = "a" + "\u20ac".repeat(40_000) + "\uD83C\uDF33".repeat(40_000);
    List<String> pieces = split(text, 4096);
    assertThat(String.join("", pieces)).isEqualTo(text);
    assertThat(pieces).hasSizeGreaterThan(4);
  }

  @Test
  void bytesThatAreNoTextAreCutAllTheSameAndEscaped() {
    byte[] bytes = new byte[200_000];
    Arrays.fill(bytes, (byte) 0x80);
    List<String> pieces = split(bytes, 7777);
    assertThat(String.join("", pieces)).isEqualTo("\\x80".repeat(200_000));
    assertThat(pieces.get(0)).hasSize(4 * 65_000);
  }

  @Test
  void everyByteThatIsNoTextIsToldFromEveryOther() {
    byte[] bytes = {'a', (byte) 0xff, (byte) 0xc3, 'b', (byte) 0xe2, (byte) 0x82, '\n', 0, 7};
    assertThat(split(bytes, 3)).containsExactly("a\\xff\\xc3b\\xe2\\x82\n", "\0\u0007");
    assertThat(split("a replacement \uFFFD is text", 5))
        .containsExactly("a replacement \uFFFD is text");
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void randomChunksGiveExactlyTheLines(long seed) {
    Random random = new Random(seed);
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      int length = random.nextInt(10) == 0 ? random.nextInt(64_000) : random.nextInt(40);
      lines.add("\u00e9".repeat(length / 2) + "\n");
    }
    byte[] bytes = String.join("", lines).getBytes(StandardCharsets.UTF_8);
    LineSplitter splitter = new LineSplitter();
    List<String> found = new ArrayList<>();
    int at = 0;
    while (at < bytes.length) {
      int length = Math.min(bytes.length - at, 1 + random.nextInt(70_000));
      splitter.add(Arrays.copyOfRange(bytes, at, at + length), length);
      at += length;
      // Sometimes nobody takes the lines for a while.
      if (random.nextBoolean()) {
        drain(splitter, found);
      }
    }
    drain(splitter, found);
    assertThat(splitter.rest()).isNull();
    assertThat(splitter.isEmpty()).isTrue();
    assertThat(found).isEqualTo(lines);
  }

  private static void drain(LineSplitter splitter, List<String> to) {
    for (String line = splitter.next(); line != null; line = splitter.next()) {
      to.add(line);
    }
  }

  private static List<String> split(String text, int chunk) {
    return split(text.getBytes(StandardCharsets.UTF_8), chunk);
  }

  private static List<String> split(byte[] bytes, int chunk) {
    LineSplitter splitter = new LineSplitter();
    List<String> lines = new ArrayList<>();
    for (int at = 0; at < bytes.length; at += chunk) {
      int length = Math.min(chunk, bytes.length - at);
      splitter.add(Arrays.copyOfRange(bytes, at, at + length), length);
      drain(splitter, lines);
    }
    String rest = splitter.rest();
    if (rest != null) {
      lines.add(rest);
    }
    return lines;
  }
}
