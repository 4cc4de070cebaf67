package io.espalier.json;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.json.Position;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JsonReaderTest {
  private static Json good(String text) {
    Result<Json> result = JsonReader.config().read(text);
    assertThat(result.problems()).isEmpty();
    return Objects.requireNonNull(result.value());
  }

  private static Problem bad(Result<Json> result) {
    assertThat(result.value()).isNull();
    assertThat(result.problems()).hasSize(1);
    assertThat(result.problems().get(0).isError()).isTrue();
    return result.problems().get(0);
  }

  @Test
  void readsEveryKindOfValue() {
    assertThat(good("{\"a\": [1, -2.5e3, true, false, null, \"x\\u00e9\\n\"], \"b\": {}}"))
        .hasToString("{\"a\":[1,-2500,true,false,null,\"xé\\n\"],\"b\":{}}");
  }

  @Test
  void valuesAndKeysKnowTheirPlace() {
    Json.Obj object = (Json.Obj) good("{\n  \"a\": [1,\r\n    \"é\", {}],\r \"b\" : // c\n true}");
    assertThat(object.at()).isEqualTo(new Position(1, 1));
    assertThat(object.keyAt("a")).isEqualTo(new Position(2, 3));
    Json.Arr list = (Json.Arr) Objects.requireNonNull(object.get("a"));
    assertThat(list.at()).isEqualTo(new Position(2, 8));
    assertThat(list.items())
        .extracting(Json::at)
        .containsExactly(new Position(2, 9), new Position(3, 5), new Position(3, 10));
    assertThat(object.keyAt("b")).as("a lone CR ends a line too").isEqualTo(new Position(4, 2));
    assertThat(Objects.requireNonNull(object.get("b")).at()).isEqualTo(new Position(5, 2));
  }

  @Test
  void theFileIsPartOfThePlace() {
    Problem problem = bad(JsonReader.config().withFile("x.json").read("{"));
    assertThat(problem.at()).hasToString("x.json:1:2");
  }

  @Test
  void commentsAreForPeopleOnly() {
    String text = "/* a */ {\"x\": 1 // b\n}";
    assertThat(good(text)).hasToString("{\"x\":1}");
    assertThat(bad(JsonReader.parse(text)).message()).contains("comments are not allowed");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "``                    | 1:1  | empty",
        "`   `                 | 1:1  | empty",
        "// only a comment     | 1:1  | empty",
        "{\"a\": [1, 2         | 1:12 | list opened at 1:7 is not closed",
        "{\"a\": 1             | 1:8  | object opened at 1:1 is not closed",
        "{\"a\": \"xyz         | 1:11 | is not closed",
        "{\"a\"                | 1:5  | is not closed",
        "/* never              | 1:9  | ends",
        "{\"a\": 1} x          | 1:10 | word \"x\"",
        "{} {}                 | 1:4  | more text after the end",
        "1 2                   | 1:3  | more text after the end",
        "{\"a\": 1,}           | 1:9  | comma before",
        "[1,]                  | 1:4  | found \"]\"",
        "[1 2]                 | 1:4  | comma",
        "{\"a\" 1}             | 1:6  | colon",
        "{a: 1}                | 1:2  | key in double quotes",
        "{'a': 1}              | 1:2  | single quotes",
        "['a']                 | 1:2  | single quotes",
        "[tru]                 | 1:2  | word \"tru\"",
        "[NaN]                 | 1:5  | NaN is not a number of JSON",
        "[01]                  | 1:3  | starts with zero",
        "[1.]                  | 1:3  | not a number of JSON: Decimal point",
        "[+1]                  | 1:3  | not a number of JSON: JSON spec does not allow",
        "[\"\\q\"]             | 1:4  | backslash",
        "[}                    | 1:2  | bracket",
        "{\"\\ud800\": 1}       | 1:9  | half a character",
        "# x                   | 1:1  | does not start a comment",
        "{\"a\": 1, \"a\": 2}  | 1:10 | given twice, first at line 1:2",
        "[1e99999999999]       | 1:2  | out of all range",
      })
  void whatIsWrongIsSaidInPlainWordsWithItsPlace(String text, String at, String words) {
    Problem problem = bad(JsonReader.config().read(text));
    assertThat(problem.message()).contains(words == null ? "" : words);
    assertThat(problem.message()).doesNotContain("[Source").doesNotContain("code ");
    assertThat(problem.at()).as(problem.toString()).hasToString(at);
  }

  @Test
  void aTextWhoseOnlyErrorsAreKeysThatAreGivenTwiceCanBeLookedInto() {
    Result<Json> found =
        JsonReader.config().inspect("{\"a\": 1, \"a\": \"x\"}".getBytes(StandardCharsets.UTF_8));
    assertThat(found.value()).isEqualTo(JsonReader.parse("{\"a\": 1}").value());
    assertThat(found.problems()).extracting(Problem::value).containsExactly("\"x\"");
    assertThat(
            JsonReader.config()
                .inspect("{\"a\": 1, \"a\": ".getBytes(StandardCharsets.UTF_8))
                .value())
        .isNull();
  }

  @Test
  void everyKeyGivenTwiceIsReported() {
    Result<Json> result = JsonReader.parse("{\"a\": {\"b\": 1, \"b\": 1}, \"a\": 2, \"a\": 3}");
    assertThat(result.value()).isNull();
    assertThat(result.problems()).extracting(Problem::path).containsExactly("a.b", "a", "a");
  }

  @ParameterizedTest
  @ValueSource(strings = {"[", "{\"k\":"})
  void nestingHasABound(String open) {
    String close = open.equals("[") ? "]" : "}";
    String inner = open.equals("[") ? "" : "1";
    int max = JsonReader.MAX_DEPTH;
    assertThat(JsonReader.parse(open.repeat(max) + inner + close.repeat(max)).value()).isNotNull();
    assertThat(
            bad(JsonReader.parse(open.repeat(max + 1) + inner + close.repeat(max + 1))).message())
        .contains("more than 100 deep");
    assertThat(bad(JsonReader.parse(open.repeat(1_000_000))).message()).contains("100 deep");
  }

  @Test
  void lengthHasABound() {
    JsonReader reader = JsonReader.strict().withMaxBytes(10);
    assertThat(reader.read("[1,2,3,4]").value()).isNotNull();
    assertThat(bad(reader.read("[1,2,3,4,5]")).message()).contains("10 bytes");
    assertThat(bad(reader.read("[1,2,3,4,5]".getBytes(StandardCharsets.UTF_8))).message())
        .contains("10 bytes");
  }

  @Test
  void aByteOrderMarkIsAWarningForPeopleAndAnErrorForPrograms() {
    Result<Json> lenient = JsonReader.config().read("\ufeff{}");
    assertThat(lenient.value()).isEqualTo(Json.Obj.EMPTY);
    assertThat(lenient.problems()).hasSize(1).noneMatch(Problem::isError);
    bad(JsonReader.parse("\ufeff{}"));
  }

  @Test
  void bytesThatAreNotUtf8HaveTheirPlace() {
    byte[] bytes = "{\n \"é\": \"x\"}".getBytes(StandardCharsets.UTF_8);
    bytes[9] = (byte) 0xff;
    Problem problem = bad(JsonReader.config().read(bytes));
    assertThat(problem.at()).isEqualTo(new Position(2, 7));
    assertThat(problem.message()).contains("0xff");
    assertThat(bad(JsonReader.config().read("{}".getBytes(StandardCharsets.UTF_16))).message())
        .contains("UTF-16");
    byte[] cut = {'"', (byte) 0xc3};
    assertThat(bad(JsonReader.config().read(cut)).message()).contains("0xc3");
  }

  @Test
  void extremeNumbersAreNoTrouble() {
    Json huge = good("[1e999999999, -1e-999999999, 123456789012345678901234567890.5]");
    assertThat(JsonReader.parse(JsonWriter.compact(huge)).value()).isEqualTo(huge);
    assertThat(JsonWriter.compact(huge)).hasSizeLessThan(100);
    bad(JsonReader.parse("[" + "9".repeat(2000) + "]"));
  }
}
