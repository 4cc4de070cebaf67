package io.espalier.core.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.task.StatusSource;
import io.espalier.core.json.Json;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.TaskResult;
import io.espalier.core.status.TaskStatus.Main;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a task may write (docs/design/bistro.md#what-a-task-writes), and T7 of
 * docs/design/bistro.md#conformance-of-statuses.
 */
class StatusParserTest {
  private final StatusParser text = new StatusParser(new PlainJsonText());

  @ParameterizedTest
  @CsvSource({
    "done, DONE, false, false",
    "incomplete, INCOMPLETE, false, false",
    "incomplete_backoff, INCOMPLETE, true, true",
    "error_backoff, ERROR, true, false",
    "backoff, ERROR, true, false",
    "failed, FAILED, false, false",
  })
  void t7_the_six_labels_alone_and_as_result(String label, Main main, boolean uses, boolean holds) {
    ParsedStatus expected = new ParsedStatus(main, uses, holds, null, false);
    assertThat(text.read(label)).isEqualTo(expected);
    assertThat(text.read("{\"result\": \"" + label + "\"}")).isEqualTo(expected);
    assertThat(text.read("{\"result\": \"" + label + "\", \"data\": {}}")).isEqualTo(expected);
    assertThat(text.read("{\"result\": \"" + label + "\", \"data\": {\"at\": 7}}"))
        .isEqualTo(expected.withData(Json.object().put("at", 7).build()));
  }

  @ParameterizedTest
  @CsvSource({
    "4, DONE, false, false",
    "8, INCOMPLETE, false, false",
    "584, INCOMPLETE, true, true",
    "16, FAILED, false, false",
    "32, ERROR, false, false",
    "96, ERROR, true, false",
    "608, ERROR, true, true",
    "68, DONE, false, false",
    "520, INCOMPLETE, false, false",
  })
  void t7_result_bits_that_a_task_may_send(int bits, Main main, boolean uses, boolean holds) {
    assertThat(text.read("{\"result_bits\": " + bits + ", \"data\": {\"a\": \"b\"}}"))
        .isEqualTo(new ParsedStatus(main, uses, holds, Json.object().put("a", "b").build(), false));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 6, 12, 36, 64, 72, 132, 260, 1028, 2052, 4096, 4100, -1, -4})
  void t7_and_t10_result_bits_that_are_refused(int bits) {
    assertThatItIsRefused("{\"result_bits\": " + bits + ", \"result\": \"done\"}");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " done",
        "done ",
        "Done",
        "running",
        "worked",
        "null",
        "7",
        "\"done\"",
        "[]",
        "[\"done\"]",
        "{}",
        "{",
        "{\"result\": \"done\"} more",
        "{\"result\": \"worked\"}",
        "{\"result\": \"running\"}",
        "{\"result\": 4}",
        "{\"result\": null}",
        "{\"data\": {}}",
        "{\"result_bits\": \"\"}",
        "{\"result_bits\": \"four\"}",
        "{\"result_bits\": \"4.0\"}",
        "{\"result_bits\": \"99999999999\"}",
        "{\"result_bits\": true}",
        "{\"result_bits\": 4.5}",
        "{\"result_bits\": 1e999999999}",
        "{\"result_bits\": 99999999999}",
        "{\"result_bits\": null, \"result\": \"done\"}",
        "{\"result\": \"done\", \"data\": 7}",
        "{\"result\": \"done\", \"data\": null}",
        "{\"result\": \"done\", \"data\": \"x\"}",
        "{\"result\": \"done\", \"data\": [1]}",
      })
  void t7_anything_else_is_an_error_that_explains_and_quotes(String line) {
    assertThatItIsRefused(line);
  }

  private void assertThatItIsRefused(String line) {
    ParsedStatus report = text.read(line);
    assertThat(report.main()).isEqualTo(Main.ERROR);
    assertThat(report.usesBackoff()).isTrue();
    assertThat(report.holdsPosition()).isFalse();
    assertThat(report.keepsData()).isTrue();
    assertThat(exception(report)).endsWith("; the task wrote: " + line);
  }

  @Test
  void t7_other_keys_are_ignored_and_the_private_one_is_stripped() {
    ParsedStatus report =
        text.read(
            "{\"result\": \"incomplete\", \"time\": \"x\", \"backoff_duration\": 9,"
                + " \"data\": {\"__bistro_saved_backoff\": 9, \"k\": 1}}");
    assertThat(report)
        .isEqualTo(ParsedStatus.INCOMPLETE.withData(Json.object().put("k", 1).build()));
    assertThat(text.read("{\"result\": \"done\", \"data\": {\"__bistro_saved_backoff\": 9}}"))
        .isEqualTo(ParsedStatus.DONE);
  }

  @Test
  void result_bits_may_be_text_as_for_bistro() {
    assertThat(text.read("{\"result_bits\": \"4\"}")).isEqualTo(ParsedStatus.DONE);
    assertThat(text.read("{\"result_bits\": \" +16 \"}")).isEqualTo(ParsedStatus.FAILED);
    assertThatItIsRefused("{\"result_bits\": \"2\"}");
  }

  @Test
  void t7_result_bits_win_over_result() {
    assertThat(text.read("{\"result_bits\": 16, \"result\": \"done\"}"))
        .isEqualTo(ParsedStatus.FAILED);
  }

  @Test
  void long_text_is_quoted_in_part_and_never_splits_a_character() {
    String line = "x".repeat(199) + "😀".repeat(1000);
    assertThat(exception(text.read(line)))
        .endsWith("the task wrote: " + "x".repeat(199) + "… (2199 characters)");
    assertThat(exception(text.read("{\"result\": \"" + "y".repeat(5_000_000) + "\"}")))
        .startsWith("status is longer than 1048576 characters; the task wrote: {")
        .hasSizeLessThan(400);
  }

  @Test
  void no_status_is_an_error_unless_we_killed_the_task() {
    assertThat(ended(TaskResult.Kind.EXITED, null, 3, null, StatusSource.STATUS_LINE))
        .isEqualTo(ParsedStatus.error("wrote no status: exited with code 3"));
    assertThat(ended(TaskResult.Kind.EXITED, null, null, 9, StatusSource.STATUS_LINE))
        .isEqualTo(ParsedStatus.error("wrote no status: ended by signal 9"));
    ParsedStatus killed = ended(TaskResult.Kind.KILLED, null, null, 15, StatusSource.STATUS_LINE);
    assertThat(killed)
        .isEqualTo(ParsedStatus.killed("killed before it wrote a status: ended by signal 15"));
    assertThat(killed.main()).isEqualTo(Main.INCOMPLETE);
    assertThat(killed.holdsPosition()).isTrue();
  }

  @Test
  void a_status_line_counts_even_when_the_task_was_killed_and_whatever_its_exit_code() {
    assertThat(ended(TaskResult.Kind.KILLED, "done", null, 9, StatusSource.STATUS_LINE))
        .isEqualTo(ParsedStatus.DONE);
    assertThat(ended(TaskResult.Kind.EXITED, "incomplete", 1, null, StatusSource.STATUS_LINE))
        .isEqualTo(ParsedStatus.INCOMPLETE);
  }

  @Test
  void by_exit_code_only_zero_is_done_and_the_status_line_says_nothing() {
    assertThat(ended(TaskResult.Kind.EXITED, "failed", 0, null, StatusSource.EXIT_CODE))
        .isEqualTo(ParsedStatus.DONE);
    assertThat(ended(TaskResult.Kind.EXITED, "done", 3, null, StatusSource.EXIT_CODE))
        .isEqualTo(
            ParsedStatus.ERROR_BACKOFF.withData(
                Json.object().put("exception", "exited with code 3").put("exit_code", 3).build()));
    assertThat(ended(TaskResult.Kind.EXITED, null, null, 11, StatusSource.EXIT_CODE))
        .isEqualTo(
            ParsedStatus.ERROR_BACKOFF.withData(
                Json.object().put("exception", "ended by signal 11").put("signal", 11).build()));
  }

  @Test
  void by_exit_code_a_killed_task_is_never_done() {
    assertThat(ended(TaskResult.Kind.KILLED, null, 0, null, StatusSource.EXIT_CODE))
        .isEqualTo(ParsedStatus.killed("killed: exited with code 0"));
  }

  @Test
  void a_start_that_failed_is_an_error_and_one_that_was_not_tried_is_none() {
    TaskResult failed =
        TaskResult.of("j", "n", new Invocation(1, 1, 0), TaskResult.Kind.START_FAILED)
            .withMessage("no such file");
    assertThat(text.meaning(failed, StatusSource.EXIT_CODE))
        .isEqualTo(new TaskEvent.Ended(ParsedStatus.error("could not be started: no such file")));
    TaskResult refused =
        TaskResult.of("j", "n", new Invocation(1, 1, 0), TaskResult.Kind.NOT_STARTED);
    assertThat(text.meaning(refused, StatusSource.STATUS_LINE))
        .isEqualTo(new TaskEvent.NotStarted("not started: no reason given"));
  }

  private ParsedStatus ended(
      TaskResult.Kind kind,
      @Nullable String raw,
      @Nullable Integer code,
      @Nullable Integer signal,
      StatusSource from) {
    TaskResult end =
        TaskResult.of("j", "n", new Invocation(1, 1, 0), kind)
            .withRawStatus(raw)
            .withExit(code, signal);
    return ((TaskEvent.Ended) text.meaning(end, from)).report();
  }

  private static String exception(ParsedStatus report) {
    return ((Json.Str)
            Objects.requireNonNull(Objects.requireNonNull(report.data()).get("exception")))
        .value();
  }
}
