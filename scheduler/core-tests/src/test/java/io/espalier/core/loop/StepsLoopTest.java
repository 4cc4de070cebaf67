package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.Command;
import io.espalier.core.api.TaskSelection;
import io.espalier.core.json.Json;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult.Kind;
import io.espalier.core.status.StatusLabel;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tasks with several steps: one after the other, from the first that is not done. */
class StepsLoopTest extends SteppedLoop {
  private static final String CONFIG =
      """
      {"bistro_settings": {
         "nodes": {"levels": ["host"], "node_sources": [
           {"source": "manual", "prefs": {"h1": [], "h2": []}}]},
         "resources": {"instance": {"slots": {"default": 1, "limit": 1}}},
         "working_wait": 0,
         "backoff": [1, 5, "repeat"]},
       "bistro_job->j": {"owner": "o", "filters": {"host": {"whitelist": ["h1"]}}, %s},
       "bistro_job->other": {"owner": "o", "filters": {"host": {"whitelist": ["h2"]}},
         "command": ["/x"], "enabled": %s}}
      """;
  private static final String STEPS =
      "\"steps\": [{\"name\": \"dump\", \"command\": [\"/dump\"]},"
          + " {\"name\": \"ship\", \"command\": [\"/ship\"], \"timeout_sec\": 7},"
          + " {\"name\": \"check\", \"command\": [\"/check\"], \"on_failure\": \"undo\"}]";
  private static final String UNDO =
      ", \"compensate\": [{\"step\": \"ship\", \"command\": [\"/unship\"]},"
          + " {\"step\": \"dump\", \"command\": [\"/undump\"]}]";

  private static String config(String job) {
    return CONFIG.formatted(job, "false");
  }

  private void fails() {
    world.writes("j", "h1", "error_backoff");
  }

  @Test
  void aStepThatWasNotStartedCostsNoAttempt() {
    LoopWorld bounded = new LoopWorld(1);
    bounded.configure(config(STEPS + UNDO));
    bounded.writes("j", "h1", "done");
    bounded.refuses("j", "h1", "full", 0);
    assertThat(bounded.row("j", "h1").status().label()).isEqualTo(StatusLabel.NEVER_STARTED);
    bounded.advance(1_000);
    assertThat(bounded.launch("j", "h1").command()).containsExactly("/ship");
  }

  @Test
  void stepsRunInOrderAndTheTaskIsDoneAfterTheLast() {
    world.configure(config(STEPS));
    LaunchSpec dump = launch();
    assertThat(dump.command()).containsExactly("/dump");
    assertThat(dump.argument().get("step")).isEqualTo(Json.of("dump"));
    assertThat(dump.subprocess().variables().set())
        .containsEntry("ESPALIER_TASK_STEP", "dump")
        .containsEntry("ESPALIER_TASK_PHASE", "step");
    world.writes("j", "h1", "{\"result\": \"done\", \"data\": {\"file\": \"/d\"}}");
    LaunchSpec ship = launch();
    assertThat(ship.command()).containsExactly("/ship");
    assertThat(ship.limits().timeoutMillis()).isEqualTo(7_000);
    assertThat(ship.attempt()).as("one attempt of all steps").isEqualTo(1);
    assertThat(ship.invocation().sequence()).isGreaterThan(dump.invocation().sequence());
    Json.Obj previous = (Json.Obj) Objects.requireNonNull(ship.argument().get("prev_status"));
    assertThat(previous.get("data")).isEqualTo(Json.object().put("file", "/d").build());
    assertThat(step()).isEqualTo("ship");
    done();
    done();
    assertThat(status().label()).isEqualTo(StatusLabel.DONE);
    assertThat(step()).isNull();
    assertThat(commands()).containsExactly("/dump", "/ship", "/check");
    assertThat(world.attempts).extracting(attempt -> attempt.number()).containsExactly(1, 1, 1);
    assertThat(world.attempts)
        .extracting(attempt -> attempt.step())
        .containsExactly("dump", "ship", "check");
    world.core.verify();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void betweenStepsTheSlotIsKeptUnlessTheJobSaysOtherwise(boolean hold) {
    // There is one slot, and another task waits for it. Jobs take turns.
    world.configure(CONFIG.formatted(STEPS + ", \"hold\": " + hold, "false"));
    world.configure(CONFIG.formatted(STEPS + ", \"hold\": " + hold, "true"));
    done();
    assertThat(world.running.containsKey(new TaskKey("j", "h1"))).isEqualTo(hold);
    world.core.verify();
    if (!hold) {
      assertThat(step()).isEqualTo("ship");
      assertThat(status().label()).isEqualTo(StatusLabel.INCOMPLETE);
      world.writes("other", "h2", "done");
      assertThat(launch().command()).containsExactly("/ship");
      assertThat(launch().attempt()).isEqualTo(1);
    }
  }

  @Test
  void aRetryGoesOnWithTheFirstStepThatIsNotDone() {
    world.configure(config(STEPS));
    done();
    fails();
    assertThat(status().label()).isEqualTo(StatusLabel.ERROR_BACKOFF);
    world.advance(1_000);
    assertThat(launch().command()).containsExactly("/ship");
    assertThat(launch().attempt()).isEqualTo(2);
    fails();
    world.advance(1_000);
    assertThat(world.running).as("the back-off grows").isEmpty();
    world.advance(4_000);
    assertThat(commands()).containsExactly("/dump", "/ship", "/ship", "/ship");
  }

  @Test
  void aRetryBeginsWithTheFirstStepIfTheJobSaysSo() {
    world.configure(config(STEPS + ", \"restart_from\": \"first\""));
    done();
    fails();
    world.advance(1_000);
    done();
    fails();
    world.advance(1_000);
    assertThat(world.running).as("steps that are done again are no progress").isEmpty();
    world.advance(4_000);
    assertThat(commands()).containsExactly("/dump", "/ship", "/dump", "/ship", "/dump");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aStepThatIsDoneIsNotRunAgainAfterACrash(boolean remote) {
    world.isRemote = remote;
    world.configure(config(STEPS));
    done();
    world.crashAndRestart();
    world.configure(config(STEPS));
    world.advance(5_000);
    if (remote) {
      world.ends("j", "h1", Kind.LOST, null, null);
      world.advance(5_000);
      assertThat(step()).isEqualTo("ship");
      assertThat(world.launches).as("there is no worker").hasSize(2);
      return;
    }
    assertThat(commands()).containsExactly("/dump", "/ship", "/ship");
    done();
    done();
    assertThat(status().label()).isEqualTo(StatusLabel.DONE);
  }

  @Test
  void noStepStartsBeforeTheEndOfTheLastIsDurable() {
    world.configure(config(STEPS));
    world.storeAnswers = false;
    done();
    assertThat(world.launches).hasSize(1);
    world.crashAndRestart();
    world.storeAnswers = true;
    world.configure(config(STEPS));
    world.advance(5_000);
    assertThat(commands()).as("its end was never acknowledged").containsExactly("/dump", "/dump");
  }

  @Test
  void aPausedOrDisabledJobGoesOnLater() {
    world.configure(config(STEPS));
    world.run(new Command.Pause("j", 0, "me", "why"));
    done();
    assertThat(world.running).isEmpty();
    assertThat(step()).isEqualTo("ship");
    world.core.verify();
    world.done(new Command.Resume("j", "me", "why"));
    assertThat(launch().command()).containsExactly("/ship");
    assertThat(launch().attempt()).isEqualTo(1);
    world.configure(config(STEPS + ", \"enabled\": false"));
    done();
    assertThat(world.running).isEmpty();
    assertThat(step()).isEqualTo("check");
  }

  @Test
  void aKilledStepIsRunAgainAndNothingIsCompensated() {
    world.configure(config(STEPS + UNDO));
    done();
    world.run(new Command.Kill("j", "h1", "me", "why"));
    world.end("j", "h1", Kind.KILLED, null, null);
    world.advance(1_000);
    assertThat(commands()).containsExactly("/dump", "/ship", "/ship");
  }

  @Test
  void aStepThatIsGoneMeansFromTheFirst() {
    world.configure(config(STEPS));
    done();
    fails();
    String other = STEPS.replace("\"ship\"", "\"send\"");
    world.configure(config(other));
    world.advance(1_000);
    assertThat(launch().command()).containsExactly("/dump");
    assertThat(Objects.requireNonNull(status().step()).note()).contains("\"ship\" is gone");
    done();
    assertThat(Objects.requireNonNull(status().step()).label()).isEqualTo("send");
    world.configure(config("\"command\": [\"/plain\"]"));
    done();
    assertThat(launch().command()).as("its step is none of the job's").containsExactly("/plain");
    done();
    assertThat(status().label()).isEqualTo(StatusLabel.DONE);
  }

  @Test
  void thePositionIsKeptByName() {
    world.configure(config(STEPS));
    done();
    fails();
    world.configure(
        config(
            STEPS.replace(
                "[{\"name\": \"dump\"",
                "[{\"name\": \"pre\", \"command\": [\"/pre\"]}, {\"name\": \"dump\"")));
    world.advance(1_000);
    assertThat(launch().command()).containsExactly("/ship");
  }

  // ---- compensation

  @Test
  void aFinalFailureIsCompensatedBackwards() {
    world.configure(config(STEPS + UNDO));
    done();
    done();
    world.writes(
        "j", "h1", "{\"result\": \"error_backoff\", \"data\": {\"exception\": \"bad sum\"}}");
    assertThat(launch().command()).as("on_failure undo").containsExactly("/unship");
    assertThat(launch().argument().get("phase")).isEqualTo(Json.of("compensate"));
    assertThat(status().label()).isEqualTo(StatusLabel.RUNNING);
    assertThat(step()).isEqualTo("compensate ship");
    fails();
    assertThat(status().label()).isEqualTo(StatusLabel.ERROR_BACKOFF);
    world.advance(1_000);
    done();
    assertThat(launch().command()).containsExactly("/undump");
    done();
    assertThat(status().label()).isEqualTo(StatusLabel.FAILED);
    assertThat(status().data())
        .isEqualTo(Json.object().put("exception", "bad sum").put("compensated", true).build());
    assertThat(Objects.requireNonNull(status().failure()).message()).contains("bad sum");
    assertThat(status().attempts()).isEqualTo(1);
    assertThat(commands())
        .containsExactly("/dump", "/ship", "/check", "/unship", "/unship", "/undump");
    world.core.verify();
    world.done(new Command.Forgive(TaskSelection.all("j", "me", "why")));
    assertThat(launch().command()).as("what was undone is begun again").containsExactly("/dump");
  }

  @Test
  void aCancelledTaskGoesOnWithNothing() {
    world.configure(config(STEPS + UNDO));
    done();
    world.done(new Command.Cancel(TaskSelection.all("j", "me", "why")));
    done();
    assertThat(status().label())
        .as("ship is done, check not wanted")
        .isEqualTo(StatusLabel.CANCELLED);
    assertThat(world.running).isEmpty();
    world.done(new Command.Forgive(TaskSelection.all("j", "me", "why")));
    assertThat(launch().command()).containsExactly("/check");
    fails();
    assertThat(launch().command()).containsExactly("/unship");
    world.done(new Command.Cancel(TaskSelection.all("j", "me", "why")));
    fails();
    assertThat(status().label()).isEqualTo(StatusLabel.CANCELLED);
    world.done(new Command.Forgive(TaskSelection.all("j", "me", "why")));
    assertThat(launch().command()).as("half undone: from the first").containsExactly("/dump");
    world.core.verify();
  }

  @Test
  void onlyWhatWasBegunIsCompensated() {
    world.configure(config(STEPS + UNDO));
    world.writes("j", "h1", "failed");
    assertThat(launch().command()).as("it may have done half of it").containsExactly("/undump");
    done();
    assertThat(status().label()).isEqualTo(StatusLabel.FAILED);
    assertThat(commands()).containsExactly("/dump", "/undump");
  }

  @Test
  void aCompensationThatFailsForGoodIsSaid() {
    world.configure(config(STEPS + UNDO));
    done();
    world.writes("j", "h1", "failed");
    world.writes("j", "h1", "{\"result\": \"failed\", \"data\": {\"exception\": \"no way\"}}");
    assertThat(status().label()).isEqualTo(StatusLabel.FAILED);
    assertThat(status().data())
        .isEqualTo(
            Json.object()
                .put("compensated", false)
                .put("compensation_exception", "no way")
                .build());
    assertThat(commands()).containsExactly("/dump", "/ship", "/unship");
  }

  @Test
  void aCompensationThatIsGoneIsSaid() {
    world.configure(config(STEPS + UNDO));
    done();
    world.writes("j", "h1", "failed");
    fails();
    world.configure(config(STEPS));
    world.advance(1_000);
    assertThat(status().label()).isEqualTo(StatusLabel.FAILED);
    assertThat(status().data()).isEqualTo(Json.object().put("compensated", false).build());
    assertThat(world.launches).hasSize(3);
  }

  @Test
  void compensationsSurviveACrash() {
    world.configure(config(STEPS + UNDO));
    done();
    world.writes("j", "h1", "failed");
    world.crashAndRestart();
    world.configure(config(STEPS + UNDO));
    world.advance(5_000);
    assertThat(commands()).containsExactly("/dump", "/ship", "/unship", "/unship");
    done();
    done();
    assertThat(Objects.requireNonNull(status().data()).get("compensated")).isEqualTo(Json.of(true));
  }

  @Test
  void whatMayStillRunIsNotCompensated() {
    world.configure(config(STEPS + UNDO));
    world.end("j", "h1", Kind.OUTCOME_UNKNOWN, null, null);
    assertThat(status().label()).isEqualTo(StatusLabel.FAILED);
    assertThat(Objects.requireNonNull(status().data()).get("compensated"))
        .isEqualTo(Json.of(false));
    assertThat(commands()).containsExactly("/dump");
  }

  @Test
  void attemptsThatAreUsedUpAreCompensatedAndCompensationsHaveTheirOwn() {
    LoopWorld bounded = new LoopWorld(2);
    bounded.configure(config(STEPS + UNDO));
    bounded.writes("j", "h1", "error_backoff");
    bounded.advance(1_000);
    bounded.writes("j", "h1", "error_backoff");
    assertThat(bounded.launch("j", "h1").command()).containsExactly("/undump");
    bounded.writes("j", "h1", "error_backoff");
    bounded.advance(1_000);
    bounded.writes("j", "h1", "error_backoff");
    TaskStatus status = bounded.row("j", "h1").status();
    assertThat(status.label()).isEqualTo(StatusLabel.FAILED);
    assertThat(Objects.requireNonNull(status.data()).get("compensated")).isEqualTo(Json.of(false));
  }

  @Test
  void theHistoryNamesTheSteps() {
    world.configure(config(STEPS + UNDO));
    done();
    assertThat(world.events.stream().filter(event -> event.kind().equals("task_ended")))
        .extracting(event -> event.data().get("step"))
        .containsExactly(Json.of("dump"));
  }
}
