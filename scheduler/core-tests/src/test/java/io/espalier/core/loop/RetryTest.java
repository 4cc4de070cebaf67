package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.Command;
import io.espalier.core.api.Query;
import io.espalier.core.api.TaskSelection;
import io.espalier.core.api.view.Explanation;
import io.espalier.core.event.Event;
import io.espalier.core.json.Json;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult;
import io.espalier.core.scheduling.query.NextAttempt;
import io.espalier.core.status.Attempt;
import io.espalier.core.status.ProgressParser;
import io.espalier.core.status.RetryCounts;
import io.espalier.core.status.StatusLabel;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.status.store.StatusRowEvents;
import io.espalier.json.JsonReader;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/**
 * Retries that look at progress (docs/design/features.md#retries-that-look-at-progress), with the
 * loop and its clock in hand.
 */
class RetryTest {
  private static final String CONFIG =
      """
      {"bistro_settings": {
         "nodes": {"levels": ["db"], "node_order": "original", "node_sources": [
           {"source": "manual", "prefs": {"a": []}}]},
         "resources": {}},
       "bistro_job->j": {"owner": "o", "retry": {}}}
      """;

  private final LoopWorld world = new LoopWorld();
  private int done;

  private TaskStatus stored() {
    return world.row("j", "a").status();
  }

  private void getsOn() {
    done++;
    world.post(
        new LoopInput.TaskProgressed(
            new TaskKey("j", "a"),
            world.launch("j", "a").invocation(),
            () ->
                Objects.requireNonNull(
                    new ProgressParser(JsonReader::parse)
                        .read("{\"progress\": {\"done\": " + done + "}}")
                        .progress())));
    world.settle();
  }

  private boolean runs() {
    return world.running.containsKey(new TaskKey("j", "a"));
  }

  /** N or Y fails; the exact wait until the next start, by the clock. */
  private int fails(char attempt) {
    if (attempt == 'Y') {
      getsOn();
    }
    world.writes("j", "a", "error_backoff");
    int wait = stored().backoffSeconds();
    if (wait > 0) {
      assertThat(runs()).isFalse();
      world.advance(1000L * wait - 1);
      assertThat(runs()).as("a millisecond before its time").isFalse();
      world.advance(1);
    }
    assertThat(runs()).isEqualTo(stored().main() != TaskStatus.Main.FAILED);
    return wait;
  }

  private List<Integer> failEach(String attempts) {
    List<Integer> waits = new ArrayList<>();
    attempts.chars().forEach(c -> waits.add(fails((char) c)));
    return waits;
  }

  private Explanation.Reason why() {
    Explanation explanation = world.core.tasks().explain("j", "a");
    assertThat(explanation.reasons()).hasSize(1);
    return explanation.reasons().get(0);
  }

  @Test
  void r13_success_on_attempt_7_at_the_exact_times() {
    world.configure(CONFIG);
    assertThat(failEach("NNYYYN")).containsExactly(10, 30, 0, 0, 0, 10);
    getsOn();
    world.writes("j", "a", "done");
    assertThat(stored().label()).isEqualTo(StatusLabel.DONE);
    assertThat(stored().attempts()).isEqualTo(7);
    assertThat(world.launches).hasSize(7);
  }

  @Test
  void r14_fails_on_attempt_11_and_history_says_of_each_attempt_what_it_was() {
    world.configure(CONFIG);
    assertThat(failEach("YYYYYYNNNNN")).containsExactly(0, 0, 0, 0, 0, 0, 10, 30, 90, 270, 0);
    assertThat(stored().label()).isEqualTo(StatusLabel.FAILED);
    assertThat(world.launches).hasSize(11);
    assertThat(why().message())
        .isEqualTo(
            "the task has failed for good after 5 failures in a row without progress"
                + " (max_successive_no_progress); it can be forgiven");
    assertThat(world.attempts).as("as many as starts").hasSize(11);
    assertThat(world.attempts)
        .extracting(Attempt::gotOn)
        .containsExactly(true, true, true, true, true, true, false, false, false, false, false);
    assertThat(world.attempts)
        .extracting(Attempt::backoffSeconds)
        .containsExactly(0, 0, 0, 0, 0, 0, 10, 30, 90, 270, 0);
  }

  @Test
  void r12_explain_says_until_when_and_after_what() {
    world.configure(CONFIG);
    fails('N');
    fails('N');
    world.writes(
        "j", "a", "{\"result\": \"error_backoff\", \"data\": {\"exception\": \"no disk\"}}");
    Explanation.Reason reason = why();
    assertThat(reason.untilMillis()).isEqualTo(world.now + 90_000);
    assertThat(reason.message())
        .isEqualTo(
            "the task waits until "
                + Instant.ofEpochMilli(world.now + 90_000)
                + " (90 s after 3rd failure without progress): no disk");
    assertThat(world.answer(new Query.Task("j", "a")).retries())
        .isEqualTo(new RetryCounts(3, 3, 0, false));
  }

  @Test
  void the_next_attempt_is_known_while_the_task_may_start_then() {
    world.configure(CONFIG);
    assertThat(world.loop.nextAttempt()).as("it runs").isEmpty();
    world.writes("j", "a", "error_backoff");
    NextAttempt next = new NextAttempt("j", stored().readyAtMillis());
    assertThat(world.loop.nextAttempt()).contains(next);
    world.done(new Command.Pause("j", 0, "o", "r"));
    assertThat(world.loop.nextAttempt()).as("its job is paused").isEmpty();
    world.done(new Command.Resume("j", "o", "r"));
    assertThat(world.loop.nextAttempt()).contains(next);
    world.done(new Command.Forgive(TaskSelection.all("j", "o", "r")));
    assertThat(world.loop.nextAttempt()).as("it runs again").isEmpty();
  }

  @Test
  void r15_killed_at_60_percent_it_counts_as_partial_and_goes_on_from_there() {
    world.configure(CONFIG);
    fails('N');
    world.post(
        new LoopInput.TaskProgressed(
            new TaskKey("j", "a"),
            world.launch("j", "a").invocation(),
            () ->
                ProgressParser.of(
                    Json.object()
                        .put("done", 60)
                        .put("total", 100)
                        .put("cursor", "pk=60")
                        .build())));
    world.settle();
    world.end("j", "a", TaskResult.Kind.KILLED, null, null);
    assertThat(stored().retries().withGotOn(false)).isEqualTo(new RetryCounts(0, 1, 1, false));
    LaunchSpec next = world.launch("j", "a");
    Json.Obj checkpoint = (Json.Obj) Objects.requireNonNull(next.argument().get("checkpoint"));
    assertThat(checkpoint.get("cursor")).isEqualTo(Json.of("pk=60"));
  }

  @Test
  void counts_survive_a_crash_and_progress_made_before_it_too() {
    world.configure(CONFIG);
    failEach("YNN");
    getsOn();
    world.crashAndRestart();
    world.configure(CONFIG);
    assertThat(stored().retries()).as("it got on").isEqualTo(new RetryCounts(0, 2, 1, false));
    assertThat(failEach("NN")).containsExactly(10, 30);
    world.writes("j", "a", "error_backoff");
    world.crashAndRestart();
    world.configure(CONFIG);
    assertThat(runs()).isFalse();
    world.advance(89_999);
    assertThat(runs()).isFalse();
    world.advance(1);
    assertThat(runs()).isTrue();
    assertThat(failEach("NN")).containsExactly(270, 0);
    assertThat(stored().label()).isEqualTo(StatusLabel.FAILED);
  }

  @Test
  void a_task_that_cannot_be_started_keeps_its_place_and_makes_no_attempt() {
    world.configure(CONFIG);
    failEach("NN");
    world.refuses("j", "a", "full", 0);
    world.advance(1_000);
    world.refuses("j", "a", "full", 0);
    world.advance(2_000);
    assertThat(fails('N')).isEqualTo(90);
    assertThat(world.attempts).hasSize(3);
    assertThat(stored().attempts()).isEqualTo(4);
  }

  @Test
  void forgiving_resets_the_counts_and_rerun_too() {
    world.configure(CONFIG);
    failEach("NNNNN");
    assertThat(stored().label()).isEqualTo(StatusLabel.FAILED);
    var unused = world.run(new Command.Forgive(TaskSelection.all("j", "", "")));
    world.settle();
    assertThat(stored().retries()).isEqualTo(RetryCounts.NONE);
    assertThat(failEach("NNNNN")).containsExactly(10, 30, 90, 270, 0);
  }

  @Test
  void max_attempts_of_a_run_still_bounds() {
    LoopWorld bounded = new LoopWorld(2);
    bounded.configure(CONFIG);
    bounded.writes("j", "a", "error_backoff");
    bounded.advance(10_000);
    bounded.writes("j", "a", "error_backoff");
    assertThat(bounded.row("j", "a").status().label()).isEqualTo(StatusLabel.FAILED);
    assertThat(bounded.row("j", "a").status().retries()).isEqualTo(new RetryCounts(2, 2, 0, false));
  }

  @Test
  void other_rules_hold_from_the_next_start_and_the_rows_can_be_rebuilt_from_events() {
    world.configure(CONFIG);
    failEach("NN");
    world.configure(CONFIG.replace("{}}}", "{\"max_successive_no_progress\": 4}}}"));
    assertThat(fails('N')).isEqualTo(90);
    assertThat(fails('N')).as("the 4th").isZero();
    assertThat(stored().label()).isEqualTo(StatusLabel.FAILED);
    StatusRowEvents.Replay replay = new StatusRowEvents.Replay();
    for (Event event : world.events) {
      replay.apply(event);
    }
    StatusRow rebuilt = Objects.requireNonNull(replay.rows().get(new TaskKey("j", "a")));
    assertThat(rebuilt.status()).isEqualTo(stored());
  }
}
