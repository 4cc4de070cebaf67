package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.Command;
import io.espalier.core.api.Query;
import io.espalier.core.api.TaskSelection;
import io.espalier.core.api.view.RunningTaskView;
import io.espalier.core.json.Json;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.Progress;
import io.espalier.core.running.TaskResult;
import io.espalier.core.status.ProgressParser;
import io.espalier.core.status.StatusLabel;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import io.espalier.json.JsonReader;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/**
 * Progress lines become checkpoints (docs/design/features.md#progress-and-checkpoints), with the
 * loop driven by hand.
 */
class ProgressTest {
  private static final String CONFIG =
      """
      {"bistro_settings": {
         "nodes": {"levels": ["db"], "node_order": "original", "node_sources": [
           {"source": "manual", "prefs": {"a": []}}]},
         "resources": {}, "backoff": [1, 2, 4, "fail"]},
       "bistro_job->j": {"owner": "o"}}
      """;

  private final LoopWorld world = new LoopWorld();

  private void says(String progress) {
    Progress read =
        Objects.requireNonNull(
            new ProgressParser(JsonReader::parse)
                .read("{\"progress\": " + progress + "}")
                .progress());
    world.post(
        new LoopInput.TaskProgressed(
            new TaskKey("j", "a"), world.launch("j", "a").invocation(), () -> read));
    world.settle();
  }

  private TaskStatus stored() {
    return world.row("j", "a").status();
  }

  private static Json.Obj json(String text) {
    return (Json.Obj) Objects.requireNonNull(JsonReader.parse(text).value());
  }

  private RunningTaskView shown() {
    world.advance(200);
    return Objects.requireNonNull(world.view).running().get(0);
  }

  @Test
  void aKilledTaskHandsItsCheckpointToTheNextAttempt() {
    world.configure(CONFIG);
    assertThat(world.launch("j", "a").argument().get("checkpoint")).isNull();
    says("{\"done\": 60, \"total\": 100, \"cursor\": \"pk=60\"}");
    world.end("j", "a", TaskResult.Kind.KILLED, null, null);
    assertThat(stored().checkpoint())
        .isEqualTo(json("{\"done\": 60, \"total\": 100, \"cursor\": \"pk=60\"}"));
    world.advance(1_000);
    LaunchSpec next = world.launch("j", "a");
    assertThat(next.argument().get("checkpoint")).isEqualTo(stored().checkpoint());
    Json.Obj previous = (Json.Obj) Objects.requireNonNull(next.argument().get("prev_status"));
    assertThat(previous.toString()).as("Bistro's form").doesNotContain("checkpoint");
  }

  @Test
  void itIsStoredAtOnceThenAtMostOnceASecondAndTheNewestWins() {
    world.configure(CONFIG);
    says("{\"done\": 1}");
    assertThat(stored().checkpoint()).isEqualTo(json("{\"done\": 1}"));
    assertThat(stored().label()).isEqualTo(StatusLabel.RUNNING);
    says("{\"done\": 2}");
    says("{\"done\": 3}");
    assertThat(stored().checkpoint()).isEqualTo(json("{\"done\": 1}"));
    world.advance(999);
    assertThat(stored().checkpoint()).isEqualTo(json("{\"done\": 1}"));
    world.advance(1);
    assertThat(stored().checkpoint()).isEqualTo(json("{\"done\": 3}"));
  }

  @Test
  void theNewestIsStoredWithTheEnd() {
    world.configure(CONFIG);
    says("{\"done\": 1}");
    says("{\"done\": 2}");
    world.writes("j", "a", "{\"result\": \"error_backoff\", \"data\": {\"why\": \"x\"}}");
    assertThat(stored().checkpoint()).isEqualTo(json("{\"done\": 2}"));
    assertThat(stored().data()).isEqualTo(json("{\"why\": \"x\"}"));
    world.advance(5_000);
    assertThat(stored().checkpoint()).isEqualTo(json("{\"done\": 2}"));
  }

  @Test
  void aLargeCheckpointIsStoredLessOften() {
    world.configure(CONFIG);
    String cursor = "x".repeat(30_000);
    says("{\"cursor\": \"" + cursor + "\", \"done\": 1}");
    says("{\"done\": 2}");
    world.advance(7_999);
    assertThat(ProgressParser.of(Objects.requireNonNull(stored().checkpoint())).done())
        .isEqualTo(1);
    world.advance(1);
    Progress now = ProgressParser.of(Objects.requireNonNull(stored().checkpoint()));
    assertThat(now.done()).isEqualTo(2);
    assertThat(now.cursor()).as("kept until there is another").isEqualTo(cursor);
  }

  @Test
  void itSurvivesACrashAndForgivingAndIsGoneWhenTheTaskIsDone() {
    world.configure(CONFIG);
    says("{\"cursor\": \"c\"}");
    world.crashAndRestart();
    world.configure(CONFIG);
    assertThat(world.launch("j", "a").argument().get("checkpoint"))
        .isEqualTo(json("{\"cursor\": \"c\"}"));
    world.writes("j", "a", "failed");
    assertThat(stored().checkpoint()).isEqualTo(json("{\"cursor\": \"c\"}"));
    var unused = world.run(new Command.Forgive(TaskSelection.all("j", "", "")));
    world.settle();
    assertThat(world.launch("j", "a").argument().get("checkpoint"))
        .isEqualTo(json("{\"cursor\": \"c\"}"));
    world.writes("j", "a", "done");
    assertThat(stored().checkpoint()).isNull();
  }

  @Test
  void anAttemptThatGotOnBeginsTheBackoffAnew() {
    world.configure(CONFIG);
    for (int i = 1; i <= 10; i++) {
      says("{\"done\": " + i + "}");
      world.writes("j", "a", "error_backoff");
      assertThat(stored().backoffSeconds()).isEqualTo(1);
      world.advance(1_000);
    }
    assertThat(world.events.stream().filter(e -> e.data().get("got_on") != null)).hasSize(10);
    says("{\"done\": 10}");
    world.writes("j", "a", "error_backoff");
    assertThat(stored().backoffSeconds()).as("it did not get on").isEqualTo(2);
    world.advance(2_000);
    world.writes("j", "a", "error_backoff");
    assertThat(stored().backoffSeconds()).isEqualTo(4);
    world.advance(4_000);
    world.writes("j", "a", "error_backoff");
    assertThat(stored().label()).isEqualTo(StatusLabel.FAILED);
  }

  @Test
  void aCursorAloneIsGettingOnToo() {
    world.configure(CONFIG);
    says("{\"cursor\": \"a\"}");
    world.writes("j", "a", "error_backoff");
    world.advance(1_000);
    says("{\"cursor\": \"b\"}");
    world.writes("j", "a", "error_backoff");
    assertThat(stored().backoffSeconds()).isEqualTo(1);
    world.advance(1_000);
    says("{\"cursor\": \"b\"}");
    world.writes("j", "a", "error_backoff");
    assertThat(stored().backoffSeconds()).isEqualTo(2);
  }

  @Test
  void itIsShownLiveWithItsRate() {
    world.configure(CONFIG);
    says("{\"done\": 100, \"total\": 300}");
    world.advance(10_000);
    says("{\"done\": 120, \"total\": 300, \"cursor\": \"x\"}");
    RunningTaskView task = shown();
    assertThat(Objects.requireNonNull(task.progress()).done()).isEqualTo(120);
    assertThat(task.ratePerSecond()).isEqualTo(2);
    assertThat(task.secondsLeft()).isEqualTo(90);
    assertThat(world.answer(new Query.Task("j", "a")).checkpoint())
        .isEqualTo(json("{\"done\": 120, \"total\": 300, \"cursor\": \"x\"}"));
    assertThat(
            Objects.requireNonNull(world.answer(new Query.Task("j", "a")).running())
                .ratePerSecond())
        .isEqualTo(2);
  }

  @Test
  void whatAnotherInvocationSaysIsIgnored() {
    world.configure(CONFIG);
    Invocation old = world.launch("j", "a").invocation();
    world.writes("j", "a", "incomplete");
    world.post(
        new LoopInput.TaskProgressed(
            new TaskKey("j", "a"), old, () -> ProgressParser.of(json("{\"done\": 9}"))));
    world.advance(1_000);
    world.writes("j", "a", "incomplete");
    assertThat(stored().checkpoint()).isNull();
  }
}
