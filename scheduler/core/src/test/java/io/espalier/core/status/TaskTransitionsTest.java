package io.espalier.core.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.task.Backoff;
import io.espalier.core.json.Json;
import io.espalier.core.status.TaskStatus.Main;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** T2 to T6, T8 and T10 of docs/design/bistro.md#conformance-of-statuses. */
class TaskTransitionsTest {
  private static final Backoff LADDER = new Backoff(List.of(1, 2, 4), false);
  private static final Backoff NONE = new Backoff(List.of(), false);
  private static final Json.Obj CHECKPOINT = Json.object().put("at", 7).build();

  private long now = 1_790_000_000_000L;
  private Backoff backoff = LADDER;
  private @Nullable TaskStatus status;

  @Test
  void t2_each_event_gives_the_flags_of_its_named_status() {
    assertThat(start().bits()).isEqualTo(2);
    assertThat(end(ParsedStatus.DONE).bits()).isEqualTo(4);
    assertThat(startAnew(ParsedStatus.INCOMPLETE).bits()).isEqualTo(8);
    assertThat(startAnew(ParsedStatus.INCOMPLETE_BACKOFF).bits()).isEqualTo(8 + 64 + 512);
    assertThat(startAnew(ParsedStatus.ERROR_BACKOFF).bits()).isEqualTo(32 + 64);
    assertThat(startAnew(ParsedStatus.FAILED).bits()).isEqualTo(16);
    // Bistro's 32 without a wait would be tried again in every round.
    assertThat(startAnew(new TaskEvent.NotStarted("refused")).bits())
        .isEqualTo(32 + 64 + 512 + 2048);
    assertThat(startAnew(new TaskEvent.WasNotRunning("unsure")).bits()).isEqualTo(32 + 1024);
    assertThat(startAnew(new TaskEvent.WorkerLost("w", "gone", 66)).bits())
        .isEqualTo(32 + 64 + 1024 + 2048);
    assertThat(startAnew(new TaskEvent.Interrupted("stopped")).bits()).isEqualTo(8 + 512);
  }

  @Test
  void the_reason_of_an_earlier_stop_does_not_stay_with_a_later_explanation() {
    Json.Obj timedOut =
        Json.object().put("exception", "timed out").put("stop_reason", "timeout").build();
    startAnew(ParsedStatus.ERROR_BACKOFF.withData(timedOut));
    assertThat(startAnew(new TaskEvent.Interrupted("stopped")).data())
        .isEqualTo(Json.object().put("exception", "stopped").build());
  }

  @Test
  void t2_data_is_kept_and_errors_are_explained() {
    start();
    assertThat(end(ParsedStatus.DONE.withData(CHECKPOINT)).data()).isEqualTo(CHECKPOINT);
    assertThat(startAnew(ParsedStatus.error("why")).data())
        .isEqualTo(Json.object().put("exception", "why").build());
    assertThat(startAnew(new TaskEvent.NotStarted("why")).data())
        .isEqualTo(Json.object().put("exception", "why").build());
    assertThat(startAnew(new TaskEvent.WorkerLost("w7", "why", 66)).data())
        .isEqualTo(Json.object().put("exception", "why").put("worker_shard", "w7").build());
  }

  @Test
  void t2_only_guesses_are_overwriteable() {
    for (ParsedStatus report :
        List.of(
            ParsedStatus.DONE,
            ParsedStatus.INCOMPLETE,
            ParsedStatus.INCOMPLETE_BACKOFF,
            ParsedStatus.ERROR_BACKOFF,
            ParsedStatus.FAILED)) {
      assertThat(startAnew(report).overwriteable()).isFalse();
    }
    assertThat(startAnew(new TaskEvent.NotStarted("x")).overwriteable()).isFalse();
    assertThat(startAnew(new TaskEvent.Interrupted("x")).overwriteable()).isFalse();
    assertThat(startAnew(new TaskEvent.WasNotRunning("x")).overwriteable()).isTrue();
    assertThat(startAnew(new TaskEvent.WorkerLost("w", "x", 1)).overwriteable()).isTrue();
  }

  /** Seconds that a task waits which says {@code incomplete} after that time. */
  private int pauseAfter(long ranMillis, Duration leastBetweenStarts) {
    status = null;
    TaskStatus running = start();
    now += ranMillis;
    TaskStatus ended = end(ParsedStatus.INCOMPLETE);
    TaskStatus paced = TaskTransitions.paced(running, ended, leastBetweenStarts);
    assertThat(paced.readyAtMillis())
        .isEqualTo(paced.backoffSeconds() == 0 ? 0 : now + 1000L * paced.backoffSeconds());
    assertThat(paced.bits()).isEqualTo(ended.bits());
    return paced.backoffSeconds();
  }

  @Test
  void a_task_that_ends_sooner_than_the_wait_after_its_start_waits_for_the_rest() {
    Duration wait = Duration.ofMillis(10_500);
    assertThat(pauseAfter(0, wait)).isEqualTo(11);
    assertThat(pauseAfter(500, wait)).isEqualTo(10);
    assertThat(pauseAfter(501, wait)).as("whole seconds").isEqualTo(10);
    assertThat(pauseAfter(10_499, wait)).isEqualTo(1);
    assertThat(pauseAfter(10_500, wait)).isZero();
    assertThat(pauseAfter(-3_600_000, wait)).as("the clock was set back").isEqualTo(11);
    assertThat(pauseAfter(0, Duration.ZERO)).isZero();
  }

  @Test
  void what_ends_for_good_or_waits_already_or_was_interrupted_is_not_paced() {
    for (TaskEvent event :
        List.of(
            new TaskEvent.Ended(ParsedStatus.DONE),
            new TaskEvent.Ended(ParsedStatus.FAILED),
            new TaskEvent.Ended(ParsedStatus.ERROR_BACKOFF),
            new TaskEvent.Ended(ParsedStatus.INCOMPLETE_BACKOFF),
            new TaskEvent.NotStarted("busy"),
            new TaskEvent.Interrupted("stopped"))) {
      status = null;
      TaskStatus running = start();
      TaskStatus ended = apply(event);
      assertThat(TaskTransitions.paced(running, ended, Duration.ofSeconds(10))).isSameAs(ended);
    }
  }

  @Test
  void the_pause_between_two_starts_leaves_no_trace_in_the_next_attempt() {
    TaskStatus running = start();
    status = TaskTransitions.paced(running, end(ParsedStatus.INCOMPLETE), Duration.ofSeconds(10));
    assertThat(start().backoffSeconds()).isZero();
    assertThat(end(ParsedStatus.ERROR_BACKOFF).backoffSeconds()).as("the first step").isEqualTo(1);
  }

  @Test
  void t3_a_forgiven_task_waits_no_longer() {
    TaskStatus waiting = startAnew(ParsedStatus.ERROR_BACKOFF);
    assertThat(waiting.isWaiting(now)).isTrue();
    TaskStatus free = apply(new TaskEvent.Forgiven());
    assertThat(free.isWaiting(now)).isFalse();
    assertThat(free.readyAtMillis()).isZero();
    assertThat(waiting.attempts()).isEqualTo(1);
    assertThat(free.attempts()).as("counted again").isZero();
    assertThat(free.data()).isEqualTo(waiting.data());
  }

  @Test
  void t3_a_forgiven_failure_is_none_and_begins_the_ladder_anew() {
    startAnew(ParsedStatus.FAILED.withData(CHECKPOINT));
    TaskStatus free = apply(new TaskEvent.Forgiven());
    assertThat(free.main()).isEqualTo(Main.ERROR);
    assertThat(free.isFinal()).isFalse();
    assertThat(free.isWaiting(now)).isFalse();
    assertThat(free.data()).isEqualTo(CHECKPOINT);
    start();
    assertThat(end(ParsedStatus.ERROR_BACKOFF).backoffSeconds()).isEqualTo(1);
  }

  @Test
  void t3_what_is_forgiven_already_is_not_changed_again() {
    startAnew(ParsedStatus.FAILED);
    apply(new TaskEvent.Forgiven());
    now += 5000;
    Transition again = TaskTransitions.apply(status, new TaskEvent.Forgiven(), backoff, now);
    assertThat(again.changed()).isFalse();
    assertThat(again.warning()).isNull();
  }

  @Test
  void t4_a_lost_task_waits_as_long_as_it_may_live_and_the_ladder_goes_on_from_its_own_step() {
    backoff = new Backoff(List.of(9, 20), false);
    start();
    TaskStatus lost = apply(new TaskEvent.WorkerLost("w", "gone", 66));
    assertThat(lost.backoffSeconds()).isEqualTo(66);
    assertThat(lost.position()).isEqualTo(9);
    assertThat(lost.isWaiting(now + 65_999)).isTrue();
    assertThat(lost.isWaiting(now + 66_000)).isFalse();
    start();
    assertThat(end(ParsedStatus.ERROR_BACKOFF).backoffSeconds()).isEqualTo(20);
  }

  @Test
  void t4_the_job_s_own_interval_wins_when_it_is_longer() {
    backoff = new Backoff(List.of(300), true);
    start();
    assertThat(apply(new TaskEvent.WorkerLost("w", "gone", 66)).backoffSeconds()).isEqualTo(300);
  }

  @Test
  void t4_effective_seven_configured_nine() {
    status =
        TaskStatus.ofBits(
            Main.ERROR.bit()
                | TaskStatus.USES_BACKOFF
                | TaskStatus.OVERWRITEABLE
                | TaskStatus.HAS_SAVED_BACKOFF,
            now,
            7,
            9,
            1,
            CHECKPOINT);
    assertThat(status.isWaiting(now + 6_999)).isTrue();
    assertThat(status.isWaiting(now + 7_000)).isFalse();
    assertThat(status.toJson())
        .isEqualTo(
            Json.object()
                .put("result_bits", 32 + 64 + 1024 + 2048)
                .put("time", now / 1000)
                .put("data", CHECKPOINT)
                .put("backoff_duration", 7)
                .build());
    TaskStatus free = apply(new TaskEvent.Forgiven());
    assertThat(free.position()).isZero();
    assertThat(free.backoffSeconds()).isEqualTo(7);
    assertThat(free.sinceMillis()).isEqualTo(now);
    assertThat(free.main()).isEqualTo(Main.ERROR);
  }

  @Test
  void t4_and_l15_without_retries_it_has_failed_until_a_real_status_says_otherwise() {
    backoff = NONE;
    start();
    TaskStatus failed = apply(new TaskEvent.WorkerLost("w", "gone", 7));
    assertThat(failed.main()).isEqualTo(Main.FAILED);
    assertThat(failed.isWaiting(now + 6_999)).isTrue();
    TaskStatus forgiven = apply(new TaskEvent.Forgiven());
    assertThat(forgiven.main()).isEqualTo(Main.ERROR);
    assertThat(forgiven.isWaiting(now + 6_999)).isTrue();

    status = failed;
    assertThat(end(ParsedStatus.INCOMPLETE).label()).isEqualTo(StatusLabel.INCOMPLETE);
    status = failed;
    assertThat(end(ParsedStatus.ERROR_BACKOFF).label()).isEqualTo(StatusLabel.FAILED);
    assertThat(Objects.requireNonNull(status).overwriteable()).isFalse();
  }

  @Test
  void t5_errors_climb_and_incomplete_resets_then_it_has_failed() {
    start();
    assertThat(end(ParsedStatus.ERROR_BACKOFF).backoffSeconds()).isEqualTo(1);
    assertThat(startAnew(ParsedStatus.ERROR_BACKOFF).backoffSeconds()).isEqualTo(2);
    assertThat(startAnew(ParsedStatus.INCOMPLETE).position()).isZero();
    assertThat(startAnew(ParsedStatus.ERROR_BACKOFF).backoffSeconds()).isEqualTo(1);
    assertThat(startAnew(ParsedStatus.ERROR_BACKOFF).backoffSeconds()).isEqualTo(2);
    assertThat(startAnew(ParsedStatus.ERROR_BACKOFF).backoffSeconds()).isEqualTo(4);
    TaskStatus failed = startAnew(ParsedStatus.ERROR_BACKOFF);
    assertThat(failed.label()).isEqualTo(StatusLabel.FAILED);
    assertThat(failed.attempts()).isEqualTo(7);
    assertThat(failed.isFinal()).isTrue();
    Transition again = TaskTransitions.apply(failed, new TaskEvent.Started(), backoff, now);
    assertThat(again.status()).isEqualTo(failed);
    assertThat(again.warning()).contains("failed", "must not be started");
  }

  @Test
  void t6_a_status_that_does_not_advance_keeps_its_interval() {
    start();
    assertThat(end(ParsedStatus.INCOMPLETE_BACKOFF).backoffSeconds()).isEqualTo(1);
    assertThat(startAnew(ParsedStatus.INCOMPLETE_BACKOFF).backoffSeconds()).isEqualTo(1);
    assertThat(startAnew(ParsedStatus.ERROR_BACKOFF).backoffSeconds()).isEqualTo(2);
    assertThat(startAnew(ParsedStatus.INCOMPLETE_BACKOFF).backoffSeconds()).isEqualTo(2);
    assertThat(startAnew(ParsedStatus.INCOMPLETE_BACKOFF).backoffSeconds()).isEqualTo(2);
  }

  @Test
  void t6_without_any_interval_it_waits_a_minute_and_never_fails() {
    backoff = NONE;
    for (int i = 0; i < 3; i++) {
      TaskStatus waiting = startAnew(ParsedStatus.INCOMPLETE_BACKOFF);
      assertThat(waiting.backoffSeconds()).isEqualTo(60);
      assertThat(waiting.label()).isEqualTo(StatusLabel.INCOMPLETE_BACKOFF);
      assertThat(waiting.position()).isZero();
    }
  }

  @Test
  void t8_a_guess_is_replaced_by_the_real_end_and_that_by_nothing() {
    start();
    apply(new TaskEvent.WasNotRunning("unsure"));
    TaskStatus done = end(ParsedStatus.DONE);
    Transition late =
        TaskTransitions.apply(done, new TaskEvent.Ended(ParsedStatus.FAILED), backoff, now);
    assertThat(late.changed()).isFalse();
    assertThat(late.status()).isEqualTo(done);
    assertThat(late.warning()).contains("done");
  }

  @Test
  void t10_and_l13_a_killed_task_keeps_its_place_over_real_restarts() {
    startAnew(ParsedStatus.ERROR_BACKOFF);
    startAnew(ParsedStatus.ERROR_BACKOFF.withData(CHECKPOINT));
    for (int i = 0; i < 5; i++) {
      TaskStatus killed = startAnew(ParsedStatus.killed("killed"));
      assertThat(killed.backoffSeconds()).isEqualTo(2);
      assertThat(killed.data()).isEqualTo(CHECKPOINT.with("exception", Json.of("killed")));
    }
    assertThat(startAnew(ParsedStatus.ERROR_BACKOFF).backoffSeconds()).isEqualTo(4);
  }

  @Test
  void l13_failures_that_are_not_the_task_s_neither_advance_nor_reset_nor_forget() {
    startAnew(ParsedStatus.ERROR_BACKOFF.withData(CHECKPOINT));
    for (TaskEvent event :
        List.of(
            new TaskEvent.NotStarted("x"),
            new TaskEvent.WasNotRunning("x"),
            new TaskEvent.Interrupted("x"))) {
      TaskStatus after = startAnew(event);
      assertThat(after.position()).isEqualTo(1);
      assertThat(Objects.requireNonNull(after.data()).get("at")).isEqualTo(Json.of(7));
    }
    assertThat(startAnew(ParsedStatus.ERROR_BACKOFF).backoffSeconds()).isEqualTo(2);
  }

  @Test
  void l13_a_late_error_of_a_lost_task_does_not_climb_twice() {
    start();
    apply(new TaskEvent.WorkerLost("w", "gone", 66));
    assertThat(end(ParsedStatus.ERROR_BACKOFF).backoffSeconds()).isEqualTo(1);
  }

  @Test
  void l35_starts_that_come_to_nothing_wait_a_little_longer_each_time_and_cost_no_attempt() {
    for (int expected : new int[] {1, 2, 4, 8, 16, 32, 60, 60}) {
      TaskStatus refused = startAnew(new TaskEvent.NotStarted("busy"));
      assertThat(refused.backoffSeconds()).isEqualTo(expected);
      assertThat(refused.attempts()).isZero();
      assertThat(refused.label()).isEqualTo(StatusLabel.NEVER_STARTED);
      now += expected * 1000L;
    }
    startAnew(ParsedStatus.INCOMPLETE);
    assertThat(startAnew(new TaskEvent.NotStarted("busy")).backoffSeconds()).isEqualTo(1);
    assertThat(Objects.requireNonNull(status).attempts()).isEqualTo(1);
  }

  @Test
  void an_interrupted_task_is_eligible_at_once_with_everything_kept() {
    startAnew(ParsedStatus.ERROR_BACKOFF.withData(CHECKPOINT));
    start();
    TaskStatus interrupted = apply(new TaskEvent.Interrupted("the scheduler was stopped"));
    assertThat(interrupted.isWaiting(now)).isFalse();
    assertThat(interrupted.readyAtMillis()).isZero();
    assertThat(interrupted.attempts()).isEqualTo(2);
    assertThat(interrupted.position()).isEqualTo(1);
    assertThat(interrupted.data())
        .isEqualTo(CHECKPOINT.with("exception", Json.of("the scheduler was stopped")));
  }

  @Test
  void a_real_end_without_data_clears_what_was_said_before() {
    startAnew(ParsedStatus.INCOMPLETE.withData(CHECKPOINT));
    assertThat(startAnew(ParsedStatus.INCOMPLETE).data()).isNull();
  }

  @Test
  void bits_and_fields_make_the_same_status_again() {
    for (TaskEvent event : TransitionTable.events()) {
      TaskStatus made = startAnew(event);
      assertThat(
              TaskStatus.ofBits(
                  made.bits(),
                  made.sinceMillis(),
                  made.backoffSeconds(),
                  made.position(),
                  made.attempts(),
                  made.data()))
          .isEqualTo(made);
      status = null;
    }
  }

  private TaskStatus start() {
    return apply(new TaskEvent.Started());
  }

  private TaskStatus end(ParsedStatus report) {
    return apply(new TaskEvent.Ended(report));
  }

  /** Forgets a final status, as an operator would, then starts and ends the task. */
  private TaskStatus startAnew(ParsedStatus report) {
    return startAnew(new TaskEvent.Ended(report));
  }

  private TaskStatus startAnew(TaskEvent event) {
    if (status != null && status.isFinal()) {
      status = null;
    }
    if (status == null || status.main() != Main.RUNNING) {
      start();
    }
    return event instanceof TaskEvent.Started ? Objects.requireNonNull(status) : apply(event);
  }

  private TaskStatus apply(TaskEvent event) {
    Transition transition = TaskTransitions.apply(status, event, backoff, now);
    assertThat(transition.warning()).isNull();
    status = Objects.requireNonNull(transition.status());
    return status;
  }
}
