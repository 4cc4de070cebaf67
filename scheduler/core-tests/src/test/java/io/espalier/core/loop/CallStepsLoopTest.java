package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.Command;
import io.espalier.core.api.TaskSelection;
import io.espalier.core.config.task.CallSpec;
import io.espalier.core.json.Json;
import io.espalier.core.outcome.JobState;
import io.espalier.core.running.Call;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.TaskResult.Kind;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.status.StatusLabel;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Steps that call services: each is a call of its own, and outlives who makes it. */
class CallStepsLoopTest extends SteppedLoop {
  private static final String CONFIG =
      """
      {"bistro_settings": {
         "nodes": {"levels": ["host"], "node_sources": [
           {"source": "manual", "prefs": {"h1": []}}]},
         "resources": {"instance": {"slots": {"default": 1, "limit": 1}}},
         "working_wait": 0,
         "backoff": [1, "repeat"]},
       "bistro_job->j": {"owner": "o", %s}}
      """;
  private static final String CALL =
      "\"call\": {\"http\": {\"url\": \"http://{host}:1/x\"}, \"unknown_hold_sec\": 60,"
          + " \"callback\": {\"base_url\": \"http://s:1\"}}";
  private static final String STEPS =
      "\"steps\": [{\"name\": \"dump\", \"command\": [\"/dump\"]},"
          + " {\"name\": \"ship\", \"timeout_sec\": 7, "
          + CALL
          + "}, {\"name\": \"load\", "
          + CALL
          + "}, {\"name\": \"check\", \"command\": [\"/check\"]}]";
  private static final String UNDO =
      ", \"compensate\": [{\"step\": \"ship\", "
          + CALL
          + "}, {\"step\": \"dump\","
          + " \"command\": [\"/undump\"]}]";

  private void begin(String job) {
    if (world.isRemote) {
      WorkerInfo worker = WorkerInfo.of(new WorkerRef("w1", 1), "w1").build();
      world.post(new LoopInput.Workers(List.of(worker)));
    }
    world.configure(CONFIG.formatted(job));
  }

  private Call call() {
    return call(launch());
  }

  private static Call call(LaunchSpec launch) {
    return Objects.requireNonNull(launch.call(), "a process");
  }

  private static String key(Call call) {
    return call.name(CallSpec.KEY);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aCallBetweenProcessesEndsWithItsCallbackAndTheNextStepFollows(boolean holds) {
    begin(STEPS + ", \"hold\": " + holds);
    done();
    LaunchSpec ship = launch();
    Call call = call(ship);
    assertThat(step()).isEqualTo("ship");
    assertThat(ship.command()).isEmpty();
    assertThat(ship.argument().get("step")).isEqualTo(Json.of("ship"));
    assertThat(call.name("host")).isEqualTo("h1");
    assertThat(call.limits().timeoutMillis()).isEqualTo(7_000);
    assertThat(call.callback()).contains(call.name(CallSpec.INVOCATION));
    assertThat(world.row("j", "h1").call()).as("the next leader asks").isEqualTo(call);
    assertThat(world.reports(call, "{\"result\": \"done\", \"data\": {\"rows\": 3}}")).isTrue();
    assertThat(world.letGo).containsExactly(ship.invocation());
    LaunchSpec load = launch();
    assertThat(step()).isEqualTo("load");
    assertThat(load.attempt()).as("one attempt of all steps").isEqualTo(1);
    Json.Obj previous = (Json.Obj) Objects.requireNonNull(load.argument().get("prev_status"));
    assertThat(previous.get("data")).isEqualTo(Json.object().put("rows", 3).build());
    assertThat(world.reports(call, "{\"result\": \"failed\"}")).as("of a step before").isFalse();
    world.post(new LoopInput.TaskEnded(TaskResult.of("j", "h1", ship.invocation(), Kind.LOST)));
    world.settle();
    assertThat(world.adopted).as("the runner has let go of it").isEmpty();
    assertThat(step()).isEqualTo("load");
    done();
    assertThat(launch().command()).containsExactly("/check");
    assertThat(launch().call()).isNull();
    assertThat(world.row("j", "h1").call()).as("a process is not asked about").isNull();
    done();
    assertThat(status().label()).isEqualTo(StatusLabel.DONE);
    assertThat(world.attempts)
        .extracting(attempt -> attempt.step())
        .containsExactly("dump", "ship", "load", "check");
    world.core.verify();
  }

  @Test
  void theIdempotencyKeyIsThatOfTheStepInAllItsAttempts() {
    begin(STEPS);
    done();
    Call first = call();
    world.end("j", "h1", Kind.CALL_FAILED, null, null);
    world.advance(1_000);
    Call again = call();
    assertThat(step()).isEqualTo("ship");
    assertThat(key(again)).isEqualTo(key(first));
    assertThat(again.name(CallSpec.INVOCATION)).isNotEqualTo(first.name(CallSpec.INVOCATION));
    done();
    assertThat(step()).isEqualTo("load");
    assertThat(key(call())).isNotEmpty().isNotEqualTo(key(first));
  }

  @Test
  void aCallOfUnknownOutcomeIsNeitherSentAgainNorCompensated() {
    begin(STEPS + UNDO);
    done();
    Call ship = call();
    world.end("j", "h1", Kind.OUTCOME_UNKNOWN, null, null);
    world.advance(3_600_000);
    assertThat(status().label()).isEqualTo(StatusLabel.FAILED);
    assertThat(Objects.requireNonNull(status().data()).get("compensated"))
        .isEqualTo(Json.of(false));
    assertThat(world.launches).as("dump and ship").hasSize(2);
    assertThat(world.adopted).isEmpty();
    assertThat(world.reports(ship, "{}")).as("the first of two ends counts").isFalse();
    world.done(new Command.Forgive(TaskSelection.all("j", "me", "looked at it")));
    assertThat(step()).isEqualTo("ship");
    assertThat(key(call())).isEqualTo(key(ship));
    assertThat(call().name(CallSpec.INVOCATION)).isNotEqualTo(ship.name(CallSpec.INVOCATION));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aCallThatRunsDuringARestartIsAskedAboutAndTheNextStepFollows(boolean remote) {
    world.isRemote = remote;
    begin(STEPS);
    done();
    LaunchSpec ship = launch();
    world.crashAndRestart();
    begin(STEPS);
    world.advance(10_000);
    if (remote) {
      assertThat(world.adopted).as("its worker may be alive").isEmpty();
      world.ends("j", "h1", Kind.LOST, null, null);
      world.advance(10_000);
    }
    assertThat(world.adopted).extracting(LaunchSpec::invocation).containsExactly(ship.invocation());
    assertThat(call()).isEqualTo(call(ship));
    assertThat(world.launches).as("it is not sent again").hasSize(2);
    assertThat(step()).isEqualTo("ship");
    assertThat(world.reports(call(ship), "{}")).isTrue();
    assertThat(world.launches).hasSize(3);
    assertThat(step()).isEqualTo("load");
    assertThat(launch().attempt()).isEqualTo(1);
    assertThat(key(call())).isNotEqualTo(key(call(ship)));
    world.core.verify();
  }

  @Test
  void aCallThatUndoesAStepIsAnotherOne() {
    begin(STEPS + UNDO);
    done();
    Call ship = call();
    world.writes("j", "h1", "failed");
    assertThat(step()).isEqualTo("compensate ship");
    Call undo = call();
    assertThat(key(undo)).isNotEqualTo(key(ship));
    assertThat(world.reports(undo, "{}")).isTrue();
    assertThat(launch().command()).containsExactly("/undump");
    done();
    assertThat(status().label()).isEqualTo(StatusLabel.FAILED);
    assertThat(Objects.requireNonNull(status().data()).get("compensated")).isEqualTo(Json.of(true));
  }

  @Test
  void aCallVerifiesATaskOverARestart() {
    String job = CALL + ", \"verify\": {" + CALL + "}";
    begin(job);
    Call task = call();
    assertThat(world.reports(task, "{}")).isTrue();
    assertThat(state()).isEqualTo(JobState.VERIFYING);
    Call verification = call();
    assertThat(key(verification)).isNotEqualTo(key(task));
    world.crashAndRestart();
    begin(job);
    assertThat(world.adopted).hasSize(1);
    assertThat(call()).isEqualTo(verification);
    assertThat(state()).isEqualTo(JobState.VERIFYING);
    assertThat(world.reports(verification, "{}")).isTrue();
    assertThat(state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(world.launches).hasSize(2);
  }

  private JobState state() {
    return Objects.requireNonNull(world.loop.jobStates().get("j")).state();
  }
}
