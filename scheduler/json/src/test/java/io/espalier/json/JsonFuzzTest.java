package io.espalier.json;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.json.Position;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class JsonFuzzTest {
  private static final String INTERESTING = "{}[],:\"\\/*'#-+.eE019tfn \n\r\u0000\ufeffé\ud800";

  static IntStream seeds() {
    return IntStream.rangeClosed(1, 40);
  }

  private static Json random(Random random, int depth) {
    return switch (random.nextInt(depth > 4 ? 5 : 7)) {
      case 0 -> Json.of(random.nextBoolean());
      case 1 -> new Json.Null(Position.NONE);
      case 2 ->
          new Json.Num(
              new BigDecimal(new BigInteger(random.nextInt(90), random), random.nextInt(60) - 30));
      case 3 -> Json.of(random.nextGaussian() * 1e9);
      case 4 -> Json.of(text(random));
      case 5 -> {
        List<Json> items = new ArrayList<>();
        for (int i = random.nextInt(5); i > 0; i--) {
          items.add(random(random, depth + 1));
        }
        yield new Json.Arr(items);
      }
      default -> {
        Map<String, Json> members = new LinkedHashMap<>();
        for (int i = random.nextInt(5); i > 0; i--) {
          members.put(wellFormed(text(random)), random(random, depth + 1));
        }
        yield new Json.Obj(members);
      }
    };
  }

  private static String text(Random random) {
    StringBuilder out = new StringBuilder();
    for (int i = random.nextInt(8); i > 0; i--) {
      int kind = random.nextInt(4);
      if (kind == 0) {
        out.append(INTERESTING.charAt(random.nextInt(INTERESTING.length())));
      } else if (kind == 1) {
        out.append((char) random.nextInt(0x10000));
      } else if (kind == 2) {
        out.appendCodePoint(0x10000 + random.nextInt(0x100000));
      } else {
        out.append((char) ('a' + random.nextInt(26)));
      }
    }
    return out.toString();
  }

  /** Keys must not hold half characters; values may. */
  private static String wellFormed(String text) {
    return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void whatIsWrittenIsReadBackEqual(int seed) {
    Random random = new Random(seed);
    for (int i = 0; i < 100; i++) {
      Json value = random(random, 0);
      for (String text : List.of(JsonWriter.compact(value), JsonWriter.pretty(value))) {
        Result<Json> read = JsonReader.strict().read(text.getBytes(StandardCharsets.UTF_8));
        assertThat(read.problems()).isEmpty();
        assertThat(read.value()).isEqualTo(value);
        assertThat(JsonReader.config().read(text).value()).isEqualTo(value);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void whateverIsReadGivesAValueOrErrorsWithAPlace(int seed) {
    Random random = new Random(seed);
    for (int i = 0; i < 300; i++) {
      StringBuilder text = new StringBuilder(JsonWriter.pretty(random(random, 0)));
      for (int edits = 1 + random.nextInt(3); edits > 0; edits--) {
        mutate(text, random);
      }
      check(JsonReader.config().read(text.toString()));
      check(JsonReader.parse(text.toString()));
      byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
      if (bytes.length > 0) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
      }
      check(JsonReader.config().read(bytes));
    }
  }

  private static void mutate(StringBuilder text, Random random) {
    int at = random.nextInt(text.length() + 1);
    int end = Math.min(text.length(), at + random.nextInt(6));
    char c = INTERESTING.charAt(random.nextInt(INTERESTING.length()));
    switch (random.nextInt(4)) {
      case 0 -> text.insert(at, c);
      case 1 -> text.delete(at, end);
      case 2 -> text.setLength(at);
      default -> text.insert(at, text.substring(at, end));
    }
  }

  private static void check(Result<Json> result) {
    assertThat(result.value() == null).isEqualTo(result.hasErrors());
    for (Problem problem : result.problems()) {
      assertThat(problem.at().line()).isPositive();
      assertThat(problem.at().column()).isPositive();
      assertThat(problem.message()).isNotBlank();
    }
  }
}
