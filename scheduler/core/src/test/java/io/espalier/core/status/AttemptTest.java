package io.espalier.core.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.task.StatusSource;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Result;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.WorkerRef;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AttemptTest {
  private static final Invocation INVOCATION = new Invocation(1, 2, 3);

  private static TaskResult end(
      String node, TaskResult.Kind kind, int code, @Nullable String message) {
    return TaskResult.of("job", node, INVOCATION, kind).withExit(code, null).withMessage(message);
  }

  private static TaskStatus status(int bits, Json.@Nullable Obj data) {
    return TaskStatus.ofBits(bits, 5, 0, 0, 1, data);
  }

  private static Attempt failed(String node, int code, String exception) {
    Json.Obj data = Json.object().put("exception", exception).build();
    return Attempt.of(
        end(node, TaskResult.Kind.EXITED, code, null),
        1,
        WorkerRef.LOCAL,
        status(96, data),
        false,
        5,
        9);
  }

  @Test
  void a_task_that_is_done_has_no_message_and_no_fingerprint() {
    Attempt attempt =
        Attempt.of(
            end("n", TaskResult.Kind.EXITED, 0, null),
            4,
            WorkerRef.LOCAL,
            status(4, Json.object().put("exception", "an older one").build()),
            false,
            5,
            9);
    assertThat(attempt.message()).isEmpty();
    assertThat(attempt.fingerprint()).isEmpty();
    assertThat(attempt.number()).isEqualTo(4);
    assertThat(attempt.endedAtMillis()).isEqualTo(9);
    assertThat(attempt.usage()).isEqualTo(ResourceUsage.UNKNOWN);
  }

  @Test
  void what_its_runner_says_stands_before_what_the_task_says() {
    Attempt attempt =
        Attempt.of(
            end("n", TaskResult.Kind.START_FAILED, 1, "no such file")
                .withUsage(new ResourceUsage(1, 2, 3, 4), false, 7),
            1,
            new WorkerRef("w", 5),
            status(96, Json.object().put("exception", "x").build()),
            false,
            5,
            9);
    assertThat(attempt.message()).isEqualTo("no such file");
    assertThat(attempt.endedAtMillis()).isEqualTo(7);
    assertThat(attempt.worker()).isEqualTo(new WorkerRef("w", 5));
    assertThat(attempt.usage().cpuMillis()).isEqualTo(1);
  }

  @Test
  void a_failure_without_words_says_how_the_process_ended() {
    Attempt attempt =
        Attempt.of(
            end("n", TaskResult.Kind.EXITED, 3, null),
            1,
            WorkerRef.LOCAL,
            status(96, null),
            false,
            5,
            9);
    assertThat(attempt.message()).isEqualTo("exited with code 3");
    assertThat(attempt.fingerprint()).matches("[0-9a-f]{16}");
  }

  @Test
  void a_task_that_was_stopped_has_failed_even_if_it_costs_nothing() {
    TaskResult end = end("n", TaskResult.Kind.KILLED, 0, null).withStopReason(StopReason.TIMEOUT);
    Attempt attempt = Attempt.of(end, 1, WorkerRef.LOCAL, status(584, null), false, 5, 9);
    assertThat(attempt.fingerprint()).isNotEmpty();
    assertThat(attempt.stopReason()).isEqualTo(StopReason.TIMEOUT);
  }

  @Test
  void long_messages_are_cut_but_never_within_a_character() {
    String text = "x".repeat(Attempt.MAX_MESSAGE - 1) + "\ud83d\ude00" + "tail";
    assertThat(failed("n", 1, text).message()).isEqualTo("x".repeat(Attempt.MAX_MESSAGE - 1));
  }

  @Test
  void one_cause_has_one_fingerprint_on_all_nodes() {
    Attempt first = failed("db-17", 1, "2026-11-21T07:00:01Z db-17: timeout after 30 s (0x7f3a)");
    Attempt second = failed("db-4", 1, "2026-12-01T17:10:59Z  db-4: Timeout after 31 s (0x10)");
    assertThat(second.fingerprint()).isEqualTo(first.fingerprint());
    assertThat(failed("db-17", 2, first.message()).fingerprint()).isNotEqualTo(first.fingerprint());
    assertThat(failed("db-17", 1, "connection refused").fingerprint())
        .isNotEqualTo(first.fingerprint());
  }

  /** As a job with {@code status_from: exit_code} fails. */
  private static Attempt exited(String node, int code, String lastErrorLine) {
    TaskResult end = end(node, TaskResult.Kind.EXITED, code, lastErrorLine);
    TaskEvent.Ended ended =
        (TaskEvent.Ended)
            new StatusParser(text -> new Result<>(null, List.of()))
                .meaning(end, StatusSource.EXIT_CODE);
    return Attempt.of(end, 1, WorkerRef.LOCAL, status(96, ended.report().data()), false, 5, 9);
  }

  @Test
  void the_last_line_of_its_error_output_is_the_cause_and_the_exit_code_a_detail() {
    Attempt attempt = exited("db-17", 3, "disk 7 of db-17 is read-only");
    assertThat(attempt.message()).isEqualTo("disk 7 of db-17 is read-only");
    assertThat(attempt.exitCode()).isEqualTo(3);
    assertThat(exited("db-4", 4, "disk 12 of db-4 is read-only").fingerprint())
        .isEqualTo(attempt.fingerprint());
    assertThat(exited("db-17", 3, "no space left").fingerprint())
        .isNotEqualTo(attempt.fingerprint());
  }

  @Test
  void a_task_that_says_failed_and_no_more_has_its_last_error_line_as_cause() {
    TaskResult silent = end("n", TaskResult.Kind.EXITED, 0, null).withRawStatus("failed");
    assertThat(said(silent).message()).isEqualTo("the task said failed without a reason");
    assertThat(said(silent.withMessage("disk is read-only")).message())
        .isEqualTo("disk is read-only");
  }

  private static Attempt said(TaskResult end) {
    return Attempt.of(end, 1, WorkerRef.LOCAL, status(16, null), false, 5, 9);
  }

  @Test
  void what_a_task_says_itself_stands_before_its_error_output() {
    TaskResult end = end("n", TaskResult.Kind.EXITED, 1, "a warning").withRawStatus("...");
    Json.Obj data = Json.object().put("exception", "table is locked").build();
    Attempt attempt = Attempt.of(end, 1, WorkerRef.LOCAL, status(96, data), false, 5, 9);
    assertThat(attempt.message()).isEqualTo("table is locked");
  }

  @Test
  void a_task_that_is_done_or_was_stopped_has_no_cause_in_its_error_output() {
    TaskResult noisy = end("n", TaskResult.Kind.EXITED, 0, "a warning");
    assertThat(Attempt.of(noisy, 1, WorkerRef.LOCAL, status(4, null), false, 5, 9).message())
        .isEmpty();
    TaskResult stopped = noisy.withStopReason(StopReason.OUT_OF_MEMORY);
    assertThat(stopped.lastErrorLine()).isNull();
  }

  @Test
  void a_signal_is_part_of_the_cause() {
    TaskResult end =
        TaskResult.of("job", "n", INVOCATION, TaskResult.Kind.EXITED)
            .withExit(null, 11)
            .withMessage("reading row 7");
    assertThat(Attempt.of(end, 1, WorkerRef.LOCAL, status(96, null), false, 5, 9).message())
        .isEqualTo("ended by signal 11: reading row 7");
  }

  @Test
  void a_fingerprint_never_changes_between_versions() {
    assertThat(failed("db-17", 1, "cannot read row 17 of job").fingerprint())
        .isEqualTo("5e159f737252832a");
  }

  @ParameterizedTest
  @CsvSource({
    "Row 17 of  db-4 is bad, row <n> of <node> is bad",
    "id 123e4567-e89b-12d3-a456-426614174000 gone, id <id> gone",
    "at 0xDEADbeef and deadbeef and deadbee1, at <hex> and deadbeef and <hex>",
    "the job of load, the job of <job>",
    "'  ', ''"
  })
  void what_differs_between_tasks_is_taken_out(String message, String normalised) {
    assertThat(FailureFingerprint.normalised(message, "load", "db-4")).isEqualTo(normalised);
  }
}
