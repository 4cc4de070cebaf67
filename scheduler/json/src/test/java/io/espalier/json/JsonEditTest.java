package io.espalier.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.json.Json;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class JsonEditTest {
  private static final Json VALUE = Json.object().put("x", 1).build();

  private static final String TEXT =
      """
      // the site
      {
        "a": {"n": 1}, // one, two
        /* about b, {"b": 0} */
        "b": {
          "n": 2 // inner
        },
        "c": "three" // last
      }
      // end
      """;

  @Test
  void aValueIsReplacedWhereItStands() {
    assertThat(JsonEdit.put(TEXT, "b", VALUE))
        .isEqualTo(TEXT.replace("{\n    \"n\": 2 // inner\n  }", "{\n    \"x\": 1\n  }"));
  }

  @Test
  void aNewMemberGoesLastAndLeavesTheCommentOfTheOneBefore() {
    assertThat(JsonEdit.put(TEXT, "d", VALUE))
        .isEqualTo(
            TEXT.replace(
                "\"three\" // last\n", "\"three\", // last\n  \"d\": {\n    \"x\": 1\n  }\n"));
  }

  @Test
  void aMemberIsRemovedWithItsCommaAndLine() {
    assertThat(JsonEdit.remove(TEXT, "b"))
        .isEqualTo(TEXT.replace("  \"b\": {\n    \"n\": 2 // inner\n  },\n", ""));
    assertThat(JsonEdit.remove(TEXT, "c"))
        .isEqualTo(TEXT.replace("  },\n  \"c\": \"three\" // last\n", "  }\n // last\n"));
    assertThat(JsonEdit.remove(TEXT, "nothing")).isEqualTo(TEXT);
  }

  @ParameterizedTest
  @ValueSource(strings = {TEXT, "{}", "{\n}\n", "{\"b\": 1}", "{\n    \"c\": 1,\n    \"b\": 2}"})
  void manyMembersAreSetAsOneAfterTheOther(String text) {
    Map<String, Json> members = new LinkedHashMap<>();
    for (String key : List.of("d", "c", "new", "a", "last")) {
      members.put(key, Json.object().put("of", key).build());
    }
    String oneByOne = text;
    for (Map.Entry<String, Json> member : members.entrySet()) {
      oneByOne = JsonEdit.put(oneByOne, member.getKey(), member.getValue());
    }
    assertThat(JsonEdit.put(text, members)).isEqualTo(oneByOne);
    assertThat(JsonEdit.put(text, Map.of())).isEqualTo(text);
  }

  @Test
  void emptyAndOneLineDocumentsCanBeEdited() {
    String one = JsonEdit.put("{}", "a", VALUE);
    assertThat(one).isEqualTo("{\n  \"a\": {\n    \"x\": 1\n  }\n}");
    assertThat(JsonEdit.remove("{\"a\": 1}", "a")).isEqualTo("{}");
    assertThat(JsonEdit.remove("{\"a\": 1, \"b\": 2}", "a")).isEqualTo("{ \"b\": 2}");
    assertThat(JsonEdit.remove("{\"a\": 1, \"b\": [2]}", "b")).isEqualTo("{\"a\": 1 }");
    assertThatThrownBy(() -> JsonEdit.put("[]", "a", VALUE))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> JsonEdit.put("{", "a", VALUE))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
  void whateverIsEditedReadsAsTheEditedValue(long seed) {
    Random random = new Random(seed);
    for (int round = 0; round < 200; round++) {
      Map<String, Json> expected = new LinkedHashMap<>();
      StringBuilder text = new StringBuilder(comment(random)).append('{');
      int members = random.nextInt(5);
      for (int i = 0; i < members; i++) {
        Json value = value(random);
        expected.put("k" + i, value);
        text.append(comment(random)).append("\"k").append(i).append('"').append(comment(random));
        text.append(':').append(comment(random)).append(value).append(comment(random));
        text.append(i + 1 < members ? "," : "");
      }
      text.append(comment(random)).append('}').append(comment(random));
      String key = "k" + random.nextInt(6);
      String edited;
      if (random.nextBoolean()) {
        edited = JsonEdit.remove(text.toString(), key);
        expected.remove(key);
      } else {
        Json value = value(random);
        edited = JsonEdit.put(text.toString(), key, value);
        expected.put(key, value);
      }
      Json read = JsonReader.config().read(edited).value();
      assertThat(read).as(text + "\n=>\n" + edited).isInstanceOf(Json.Obj.class);
      assertThat(((Json.Obj) Objects.requireNonNull(read)).members())
          .as(text + "\n=>\n" + edited)
          .isEqualTo(expected);
    }
  }

  private static Json value(Random random) {
    return switch (random.nextInt(6)) {
      case 0 -> Json.of("a,\"}{/*\\ü");
      case 1 -> Json.of(random.nextInt());
      case 2 -> Json.object().put("a", "},").put("b", random.nextInt(9)).build();
      case 3 -> Json.strings(List.of("x", ","));
      case 4 -> Json.object().build();
      default ->
          Objects.requireNonNull(JsonReader.parse(random.nextBoolean() ? "null" : "-1.5").value());
    };
  }

  private static String comment(Random random) {
    return switch (random.nextInt(7)) {
      case 0 -> " ";
      case 1 -> "\n  ";
      case 2 -> " // x, \"k0\": }\n";
      case 3 -> "/* , \"k1\": { */";
      case 4 -> "\r\n\t";
      default -> "";
    };
  }
}
