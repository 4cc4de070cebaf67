package io.espalier.core.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.task.Backoff;
import io.espalier.core.config.task.ProgressRetryRules;
import io.espalier.core.config.task.RetryPolicy;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Result;
import io.espalier.core.status.TaskStatus.Main;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Retries that look at progress, in one task's life
 * (docs/design/features.md#retries-that-look-at-progress).
 */
class RetryTransitionsTest {
  private static final TaskEvent ERROR = new TaskEvent.Ended(ParsedStatus.ERROR_BACKOFF);
  private static final TaskEvent DONE = new TaskEvent.Ended(ParsedStatus.DONE);
  private static final TaskEvent KILLED = new TaskEvent.Ended(ParsedStatus.killed("why"));

  private ProgressRetryRules rules = ProgressRetryRules.DEFAULT;
  private TaskStatus status = TaskTransitions.firstStart(0);
  private long now;
  private int starts = 1;

  /** Ends the attempt under way, and starts the next one as soon as it may. */
  private int after(boolean gotOn, TaskEvent event) {
    now += 1_000;
    status = status.withRetries(status.retries().withGotOn(gotOn));
    apply(event);
    assertThat(status.sinceMillis()).isEqualTo(now);
    int wait = status.usesBackoff() ? status.backoffSeconds() : 0;
    if (wait > 0) {
      assertThat(status.readyAtMillis()).isEqualTo(now + 1000L * wait);
      assertThat(status.isWaiting(now + 1000L * wait - 1)).isTrue();
    }
    assertThat(status.isWaiting(now + 1000L * wait)).isFalse();
    now += 1000L * wait;
    if (!status.isFinal()) {
      apply(new TaskEvent.Started());
      starts++;
    }
    return wait;
  }

  private void apply(TaskEvent event) {
    Transition to =
        TaskTransitions.apply(
            status, event, new RetryPolicy(Backoff.DEFAULT, Optional.of(rules)), now);
    assertThat(to.warning()).isNull();
    status = Objects.requireNonNull(to.status());
  }

  private List<Integer> waits(String attempts, TaskEvent event) {
    List<Integer> waits = new ArrayList<>();
    attempts.chars().forEach(c -> waits.add(after(c == 'Y', event)));
    return waits;
  }

  @Test
  void r13_success_on_attempt_7() {
    assertThat(waits("NNYYYN", ERROR)).containsExactly(10, 30, 0, 0, 0, 10);
    assertThat(status.retries()).isEqualTo(new RetryCounts(1, 3, 3, false));
    after(true, DONE);
    assertThat(status.main()).isEqualTo(Main.DONE);
    assertThat(status.attempts()).isEqualTo(7);
    assertThat(starts).isEqualTo(7);
    assertThat(status.retries()).isEqualTo(RetryCounts.NONE);
  }

  @Test
  void r14_fails_on_attempt_11_because_5_successive_made_no_progress() {
    assertThat(waits("YYYYYYNNNN", ERROR)).containsExactly(0, 0, 0, 0, 0, 0, 10, 30, 90, 270);
    assertThat(status.main()).isEqualTo(Main.RUNNING);
    assertThat(after(false, ERROR)).as("4 back-offs only").isZero();
    assertThat(status.main()).isEqualTo(Main.FAILED);
    assertThat(status.attempts()).isEqualTo(11);
    assertThat(starts).isEqualTo(11);
    assertThat(status.retries()).isEqualTo(new RetryCounts(5, 5, 6, false));
    assertThat(status.retries().exhausted(rules)).contains("max_successive_no_progress");
  }

  @Test
  void ten_without_progress_in_all_are_the_end_although_no_five_follow_each_other() {
    assertThat(waits("NNNNYNNNNYN", ERROR))
        .containsExactly(10, 30, 90, 270, 0, 10, 30, 90, 270, 0, 10);
    assertThat(status.main()).isEqualTo(Main.RUNNING);
    after(false, ERROR);
    assertThat(status.main()).isEqualTo(Main.FAILED);
    assertThat(status.retries()).isEqualTo(new RetryCounts(2, 10, 2, false));
    assertThat(status.retries().exhausted(rules)).contains("max_total_no_progress");
  }

  @Test
  void twenty_with_progress_are_the_end() {
    waits("Y".repeat(19), ERROR);
    assertThat(status.main()).isEqualTo(Main.RUNNING);
    after(true, ERROR);
    assertThat(status.main()).isEqualTo(Main.FAILED);
    assertThat(status.attempts()).isEqualTo(20);
    assertThat(status.retries().exhausted(rules)).contains("max_total_progress");
  }

  @Test
  void each_number_can_be_configured_and_the_last_wait_repeats() {
    rules = new ProgressRetryRules(100, 6, 100, List.of(0, 2, 5), 3);
    assertThat(waits("NNNNYN", ERROR)).containsExactly(0, 2, 5, 5, 3, 0);
    after(false, ERROR);
    assertThat(status.main()).isEqualTo(Main.FAILED);
    rules = new ProgressRetryRules(1, 1, 1, List.of(2_147_483_647), 2_147_483_647);
    status = TaskTransitions.firstStart(now);
    after(false, ERROR);
    assertThat(status.main()).isEqualTo(Main.FAILED);
    rules = new ProgressRetryRules(9, 9, 9, List.of(2_147_483_647), 2_147_483_647);
    status = TaskTransitions.firstStart(now);
    assertThat(after(false, ERROR)).isEqualTo(Integer.MAX_VALUE);
  }

  @ParameterizedTest
  @CsvSource({"false, 1, 2, 1", "true, 0, 1, 2"})
  void an_error_without_a_wait_counts_and_waits_for_nothing(
      boolean gotOn, int successive, int noProgress, int progress) {
    waits("YN", ERROR);
    waits("Y", new TaskEvent.Ended(ParsedStatus.INCOMPLETE));
    assertThat(status.retries()).isEqualTo(new RetryCounts(0, 1, 1, false));
    ParsedStatus bare = new ParsedStatus(Main.ERROR, false, false, null, false);
    assertThat(after(gotOn, new TaskEvent.Ended(bare))).isZero();
    assertThat(status.retries())
        .isEqualTo(new RetryCounts(successive, noProgress, progress, false));
  }

  @Test
  void r15_a_kill_keeps_the_place_and_counts_as_partial_when_it_made_progress() {
    waits("NN", ERROR);
    assertThat(after(false, KILLED)).as("the last wait again").isEqualTo(30);
    assertThat(status.retries()).isEqualTo(new RetryCounts(2, 2, 0, false));
    assertThat(after(true, KILLED)).isZero();
    assertThat(status.retries()).isEqualTo(new RetryCounts(0, 2, 1, false));
    assertThat(after(false, KILLED)).as("the first wait, without a step").isEqualTo(10);
    assertThat(after(false, ERROR)).isEqualTo(10);
  }

  @Test
  void no_kill_and_no_lost_worker_is_what_a_task_fails_for() {
    rules = new ProgressRetryRules(2, 2, 2, List.of(10), 0);
    waits("N", ERROR);
    waits("NNNYYYN", KILLED);
    assertThat(after(true, new TaskEvent.WorkerLost("w", "why", 66))).isEqualTo(66);
    assertThat(after(false, new TaskEvent.WorkerLost("w", "why", 6))).isEqualTo(10);
    assertThat(status.retries()).isEqualTo(new RetryCounts(0, 1, 4, false));
    after(true, ERROR);
    assertThat(status.main()).as("the next failure of its own").isEqualTo(Main.FAILED);
  }

  @Test
  void a_start_that_comes_to_nothing_keeps_everything_and_so_does_the_end_of_the_scheduler() {
    waits("YNN", ERROR);
    RetryCounts before = status.retries();
    assertThat(after(false, new TaskEvent.NotStarted("refused"))).isEqualTo(1);
    assertThat(after(false, new TaskEvent.NotStarted("refused"))).isEqualTo(2);
    assertThat(after(false, new TaskEvent.WasNotRunning("why"))).isZero();
    assertThat(after(false, new TaskEvent.Interrupted("why"))).isZero();
    assertThat(status.retries()).isEqualTo(before);
    assertThat(after(false, ERROR)).isEqualTo(90);
    assertThat(after(true, new TaskEvent.Interrupted("why"))).isZero();
    assertThat(status.retries()).as("it got on").isEqualTo(new RetryCounts(0, 3, 1, false));
  }

  @Test
  void a_late_end_of_a_lost_task_is_not_counted_twice() {
    waits("N", ERROR);
    now += 5;
    status = status.withRetries(status.retries().withGotOn(true));
    apply(new TaskEvent.WorkerLost("w", "why", 66));
    assertThat(status.retries()).isEqualTo(new RetryCounts(0, 1, 1, false));
    apply(ERROR);
    assertThat(status.retries()).isEqualTo(new RetryCounts(0, 1, 1, false));
    assertThat(status.main()).isEqualTo(Main.ERROR);
  }

  @Test
  void incomplete_is_no_failure() {
    waits("N", ERROR);
    assertThat(after(false, new TaskEvent.Ended(ParsedStatus.INCOMPLETE_BACKOFF))).isEqualTo(10);
    assertThat(status.retries()).isEqualTo(new RetryCounts(1, 1, 0, false));
    assertThat(after(false, new TaskEvent.Ended(ParsedStatus.INCOMPLETE))).isZero();
    assertThat(status.retries()).isEqualTo(new RetryCounts(0, 1, 0, false));
  }

  @Test
  void forgiving_begins_anew() {
    waits("YNNNNN", ERROR);
    assertThat(status.main()).isEqualTo(Main.FAILED);
    apply(new TaskEvent.Forgiven());
    assertThat(status.retries()).isEqualTo(RetryCounts.NONE);
    assertThat(status.attempts()).isZero();
    apply(new TaskEvent.Started());
    assertThat(waits("NN", ERROR)).containsExactly(10, 30);
  }

  @Test
  void a_job_that_loses_its_rules_goes_on_at_its_place_in_the_back_off() {
    waits("NN", ERROR);
    Transition to =
        TaskTransitions.apply(status, ERROR, new Backoff(List.of(5, 20, 40), true), now);
    assertThat(Objects.requireNonNull(to.status()).backoffSeconds()).isEqualTo(40);
    assertThat(to.status().retries()).isEqualTo(new RetryCounts(2, 2, 0, false));
  }

  @Test
  void counts_are_stored_with_the_data_and_the_task_cannot_set_them() {
    waits("YNN", ERROR);
    TaskStatus marked = status.withRetries(status.retries().withGotOn(true));
    for (TaskStatus each : List.of(status, marked, marked.withRetries(RetryCounts.NONE))) {
      TaskStatus back =
          TaskStatus.ofBits(
              each.bits(),
              each.sinceMillis(),
              each.backoffSeconds(),
              each.position(),
              each.attempts(),
              each.storedData());
      assertThat(back).isEqualTo(each);
    }
    ParsedStatus report =
        new StatusParser(text -> new Result<>(said(), List.of())).read("{\"x\": 1}");
    assertThat(report.data()).isNull();
  }

  private static Json said() {
    return Json.object()
        .put("result", "error_backoff")
        .put("data", Json.object().put(TaskStatus.RETRIES_KEY, Json.strings(List.of("x"))).build())
        .build();
  }
}
