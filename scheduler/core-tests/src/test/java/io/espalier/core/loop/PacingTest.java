package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.Command;
import io.espalier.core.api.TaskSelection;
import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.running.TaskResult;
import io.espalier.core.status.StatusLabel;
import io.espalier.core.status.TaskKey;
import org.junit.jupiter.api.Test;

/** {@code working_wait}: how soon a task that asks to be started again at once is. */
class PacingTest {
  private static final TaskKey TASK = new TaskKey("j", "a");

  private final LoopWorld world = new LoopWorld();

  private static String config(String settings) {
    return """
    {"bistro_settings": {%s
       "nodes": {"levels": ["db"], "node_order": "original", "node_sources": [
         {"source": "manual", "prefs": {"a": []}}]},
       "resources": {}},
     "bistro_job->j": {"owner": "o"}}
    """
        .formatted(settings);
  }

  private boolean runs() {
    return world.running.containsKey(TASK);
  }

  /** A task that ends so at once whenever it is started, for that long. */
  private int startsOfOneThatSays(String status, long millis) {
    int before = world.launches.size();
    for (long end = world.now + millis; world.now < end; world.advance(10)) {
      if (runs()) {
        world.writes("j", "a", status);
      }
    }
    return world.launches.size() - before;
  }

  @Test
  void a_task_that_is_incomplete_at_once_starts_once_a_second() {
    world.configure(config(""));
    assertThat(startsOfOneThatSays("incomplete", 60_000)).isBetween(55, 60);
  }

  @Test
  void an_error_without_a_wait_is_paced_too() {
    world.configure(config(""));
    assertThat(startsOfOneThatSays("{\"result_bits\": 32}", 60_000)).isBetween(55, 60);
  }

  @Test
  void a_task_that_ran_longer_than_the_wait_starts_again_at_once() {
    world.configure(config(""));
    for (int run = 1; run <= 20; run++) {
      assertThat(world.launches).hasSize(run);
      world.advance(500);
      world.writes("j", "a", "incomplete");
    }
  }

  @Test
  void the_wait_counts_from_the_start_of_the_task() {
    world.configure(config("\"working_wait\": 10,"));
    world.advance(4_000);
    world.writes("j", "a", "incomplete");
    world.advance(5_999);
    assertThat(runs()).isFalse();
    world.advance(1);
    assertThat(runs()).isTrue();
  }

  @Test
  void a_changed_wait_holds_for_tasks_that_run() {
    world.configure(config(""));
    world.configure(config("\"working_wait\": 10,"));
    world.writes("j", "a", "incomplete");
    world.advance(9_999);
    assertThat(runs()).isFalse();
    world.advance(1);
    assertThat(runs()).isTrue();
  }

  @Test
  void without_a_wait_nothing_is_paced() {
    world.configure(config("\"working_wait\": 0,"));
    for (int run = 1; run <= 20; run++) {
      assertThat(world.launches).hasSize(run);
      world.writes("j", "a", "incomplete");
    }
  }

  @Test
  void backoffs_are_as_they_were() {
    world.configure(config("\"working_wait\": 10, \"backoff\": [1, \"repeat\"],"));
    world.writes("j", "a", "error_backoff");
    world.advance(999);
    assertThat(runs()).isFalse();
    world.advance(1);
    assertThat(runs()).isTrue();
  }

  @Test
  void explain_names_the_wait_and_its_end() {
    world.configure(config("\"working_wait\": 10,"));
    world.writes("j", "a", "incomplete");
    Explanation explanation = world.core.tasks().explain("j", "a");
    assertThat(explanation.reasons()).hasSize(1);
    Explanation.Reason reason = explanation.reasons().get(0);
    assertThat(reason.kind()).isEqualTo(Kind.BACKOFF);
    assertThat(reason.untilMillis()).isEqualTo(1_010_000);
    assertThat(reason.message())
        .isEqualTo(
            "the task ended sooner than \"working_wait\" after its start: it waits until"
                + " 1970-01-01T00:16:50Z");
  }

  @Test
  void a_restart_remembers_the_wait() {
    world.configure(config("\"working_wait\": 10,"));
    world.writes("j", "a", "incomplete");
    assertThat(world.row("j", "a").status().label()).isEqualTo(StatusLabel.INCOMPLETE);
    assertThat(world.attempts.get(0).backoffSeconds()).isEqualTo(10);
    world.crashAndRestart();
    world.configure(config("\"working_wait\": 10,"));
    world.advance(9_999);
    assertThat(runs()).isFalse();
    world.advance(1);
    assertThat(runs()).isTrue();
  }

  @Test
  void forgiving_ends_the_wait() {
    world.configure(config("\"working_wait\": 10,"));
    world.writes("j", "a", "incomplete");
    assertThat(runs()).isFalse();
    world.done(new Command.Forgive(TaskSelection.all("j", "", "")));
    assertThat(runs()).isTrue();
  }

  @Test
  void a_clock_that_is_set_back_does_not_make_the_wait_longer() {
    world.configure(config(""));
    world.now -= 600_000;
    world.writes("j", "a", "incomplete");
    world.advance(1_000);
    assertThat(runs()).isTrue();
  }

  @Test
  void the_end_of_the_scheduler_is_no_reason_to_wait() {
    world.configure(config("\"working_wait\": 10,"));
    world.post(new LoopInput.Stop());
    world.end("j", "a", TaskResult.Kind.KILLED, null, null);
    assertThat(world.row("j", "a").status().label()).isEqualTo(StatusLabel.INTERRUPTED);
    world.crashAndRestart();
    world.configure(config("\"working_wait\": 10,"));
    assertThat(runs()).isTrue();
  }
}
