package io.espalier.core.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.json.Json;
import io.espalier.core.running.Counters;
import io.espalier.core.running.Progress;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Lines of progress (docs/design/features.md#progress-and-checkpoints). */
class ProgressParserTest {
  private final ProgressParser text = new ProgressParser(new PlainJsonText());

  private Progress progress(String line) {
    return Objects.requireNonNull(text.read(line).progress(), line);
  }

  @Test
  void allThreeKeysAreReadAndOthersKept() {
    Progress progress =
        progress(
            "{\"progress\":{\"done\":120000,\"total\":300000,\"cursor\":\"pk=8123\",\"x\":[1]}}");
    assertThat(progress.done()).isEqualTo(120_000);
    assertThat(progress.total()).isEqualTo(300_000);
    assertThat(progress.cursor()).isEqualTo("pk=8123");
    assertThat(progress.json().members()).containsOnlyKeys("done", "total", "cursor", "x");
    assertThat(ProgressParser.of(progress.json())).isEqualTo(progress);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      nullValues = "-",
      value = {
        "{}                          | - | - | -",
        "{\"done\": 0}               | 0 | - | -",
        "{\"total\": 5.0}            | - | 5 | -",
        "{\"cursor\": 77}            | - | - | 77",
        "{\"cursor\": null}          | - | - | -",
        "{\"done\": null}            | - | - | -",
      })
  void eachKeyMayBeLeftOut(
      String json, @Nullable Long done, @Nullable Long total, @Nullable String cursor) {
    Progress progress = progress("  {\"progress\": " + json + ", \"more\": 1}");
    assertThat(progress.done()).isEqualTo(done);
    assertThat(progress.total()).isEqualTo(total);
    assertThat(progress.cursor()).isEqualTo(cursor);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "done",
        "{\"result\": \"done\"}",
        "{\"result\": \"done\", \"progress\": {\"done\": 1}}",
        "{\"result_bits\": 4, \"progress\": {\"done\": 1}}",
        "{\"result\": \"incomplete\", \"data\": {\"progress\": {\"done\": 1}}}",
        "{\"progress\": {\"done\": 1}",
        "[\"progress\"]",
        "progress",
        "{\"Progress\": {\"done\": 1}}"
      })
  void everythingElseIsLeftToBeTheStatus(String line) {
    assertThat(text.read(line).isStatus()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1",
        "null",
        "[]",
        "\"half\"",
        "{\"done\": -1}",
        "{\"done\": 1.5}",
        "{\"done\": \"3\"}",
        "{\"done\": 1000000000000000000000}",
        "{\"total\": true}",
        "{\"cursor\": {}}",
        "{\"cursor\": true}"
      })
  void badProgressIsSaidAndIsNoStatus(String value) {
    ProgressParser.Reading reading = text.read("{\"progress\": " + value + "}");
    assertThat(reading.isStatus()).isFalse();
    assertThat(reading.progress()).isNull();
    assertThat(reading.problem()).contains("progress").contains(value);
  }

  @Test
  void countersAreReadAloneAndBesideProgress() {
    ProgressParser.Reading alone = text.read("{\"count\": {\"rows\": 1200, \"b_2\": 0}}");
    assertThat(alone.isStatus()).isFalse();
    assertThat(alone.progress()).isNull();
    assertThat(alone.counters().values())
        .containsOnly(Map.entry("rows", 1200L), Map.entry("b_2", 0L));
    ProgressParser.Reading both =
        text.read("{\"progress\": {\"done\": 3}, \"count\": {\"rows\": 9007199254740992}}");
    assertThat(both.counters().get("rows")).isEqualTo(Counters.MOST);
    assertThat(Objects.requireNonNull(both.progress()).done()).isEqualTo(3);
    assertThat(text.read("{\"result\": \"done\", \"count\": {\"rows\": 1}}").isStatus()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "5",
        "[]",
        "null",
        "{}",
        "{\"rows\": -1}",
        "{\"rows\": 1.5}",
        "{\"rows\": \"1\"}",
        "{\"rows\": null}",
        "{\"rows\": 9007199254740993}",
        "{\"rows\": 1e400}",
        "{\"Rows\": 1}",
        "{\"r-s\": 1}",
        "{\"\": 1}",
        "{\"\\n\": 1}"
      })
  void badCountersAreSaidAndAreNoStatus(String value) {
    ProgressParser.Reading reading = text.read("{\"count\": " + value + "}");
    assertThat(reading.isStatus()).isFalse();
    assertThat(reading.counters().isEmpty()).isTrue();
    assertThat(reading.problem()).contains("count");
  }

  @Test
  void aLineWithManyNamesIsRefused() {
    StringBuilder line = new StringBuilder("{\"count\":{\"n0\":1");
    for (int i = 1; i < 10_000; i++) {
      line.append(",\"n").append(i).append("\":1");
    }
    assertThat(text.read(line + "}}").problem()).isNotNull();
    assertThat(text.read("{\"count\": {\"" + "n".repeat(65) + "\": 1}}").problem())
        .contains("1 to 64");
  }

  @Test
  void aLineOf64KibIsTakenAndALongerOneRefused() {
    String frame = "{\"progress\":{\"cursor\":\"%s\"}}";
    int room = Progress.MAX_BYTES - frame.length() + 2;
    assertThat(progress(frame.formatted("x".repeat(room))).cursor()).hasSize(room);
    ProgressParser.Reading longer = text.read(frame.formatted("x".repeat(room + 1)));
    assertThat(longer.problem()).contains("too long");
    assertThat(text.read(frame.formatted("ä".repeat(room / 2 + 1))).problem())
        .as("bytes count")
        .contains("too long");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      nullValues = "-",
      value = {
        "-                                  | -                                  | false",
        "-                                  | {\"done\": 0}                      | false",
        "-                                  | {\"done\": 1}                      | true",
        "-                                  | {\"cursor\": \"a\"}                | true",
        "{\"done\": 5}                      | {\"done\": 5}                      | false",
        "{\"done\": 5}                      | {\"done\": 4}                      | false",
        "{\"done\": 5}                      | {\"done\": 6}                      | true",
        "{\"cursor\": \"a\"}                | {\"cursor\": \"a\"}                | false",
        "{\"cursor\": \"a\", \"done\": 5}   | {\"cursor\": \"b\", \"done\": 1}   | true",
        "{\"cursor\": \"a\", \"done\": 5}   | {\"total\": 9}                     | false",
      })
  void gettingOnIsAnotherCursorOrMoreDone(
      @Nullable String before, @Nullable String after, boolean gotOn) {
    assertThat(Checkpoints.gotOn(json(before), json(after))).isEqualTo(gotOn);
  }

  @Test
  void aCursorStaysUntilThereIsAnother() {
    Json.Obj first = Checkpoints.updated(null, progress("{\"progress\":{\"cursor\":\"a\"}}"));
    Json.Obj second = Checkpoints.updated(first, progress("{\"progress\":{\"done\":2}}"));
    assertThat(second.toString()).isEqualTo("{\"done\":2,\"cursor\":\"a\"}");
    Json.Obj third = Checkpoints.updated(second, progress("{\"progress\":{\"cursor\":\"b\"}}"));
    assertThat(third.toString()).isEqualTo("{\"cursor\":\"b\"}");
  }

  @Test
  void storesKeepACheckpointWithinTheData() {
    Json.Obj data = Json.object().put("why", "x").build();
    Json.Obj checkpoint = Json.object().put("done", 3).build();
    for (Json.Obj own : new Json.@Nullable Obj[] {data, null}) {
      for (Json.Obj kept : new Json.@Nullable Obj[] {checkpoint, null}) {
        TaskStatus status = TaskStatus.waiting(1, 2, 4).withData(own).withCheckpoint(kept);
        assertThat(
                TaskStatus.ofBits(
                    status.bits(),
                    status.sinceMillis(),
                    status.backoffSeconds(),
                    status.position(),
                    status.attempts(),
                    status.storedData()))
            .isEqualTo(status);
      }
    }
  }

  private static Json.@Nullable Obj json(@Nullable String text) {
    return text == null
        ? null
        : (Json.Obj) Objects.requireNonNull(new PlainJsonText().read(text).value());
  }
}
