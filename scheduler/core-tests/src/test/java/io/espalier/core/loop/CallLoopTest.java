package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.api.Command;
import io.espalier.core.api.Query;
import io.espalier.core.api.RefusedException;
import io.espalier.core.api.view.BrakeView;
import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.RunningCall;
import io.espalier.core.api.view.RunningTaskView;
import io.espalier.core.call.CallbackSigner;
import io.espalier.core.config.task.CallSpec;
import io.espalier.core.json.Json;
import io.espalier.core.running.Call;
import io.espalier.core.running.CallPoll;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.Progress;
import io.espalier.core.running.TaskResult;
import io.espalier.core.status.ProgressParser;
import io.espalier.core.status.StatusLabel;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.Brake;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A call is the service's: no loss of a worker or of a scheduler ends it or sends it again. */
class CallLoopTest {
  private static final String CONFIG =
      """
      {"bistro_settings": {
         "nodes": {"levels": ["host"], "node_sources": [
           {"source": "manual", "prefs": {"h1": []}}]},
         "resources": {"instance": {"slots": {"default": 1, "limit": 1}}},
         "backoff": [1, "repeat"]},
       "bistro_job->j": {"owner": "o", %s}}
      """;
  private static final String CALL =
      CONFIG.formatted(
          "\"call\": {\"http\": {\"url\": \"http://{host}:1/x\"}, \"unknown_hold_sec\": 60}");

  private final LoopWorld world = new LoopWorld();

  private static Call call(LaunchSpec launch) {
    return Objects.requireNonNull(launch.call(), "a process");
  }

  private StatusLabel status() {
    return world.row("j", "h1").status().label();
  }

  @Test
  void aCallKnowsItsTask() {
    world.configure(CALL);
    LaunchSpec launch = world.launch("j", "h1");
    Call call = call(launch);
    assertThat(call.name("host")).isEqualTo("h1");
    assertThat(call.name(CallSpec.TOKEN)).isEqualTo(launch.invocation().token());
    assertThat(call.spec().unknownHold()).hasSeconds(60);
    assertThat(world.row("j", "h1").call()).isEqualTo(call);
    CompletableFuture<Explanation> asked =
        world.ask(new Query.Explain("j", "h1")).toCompletableFuture();
    world.settle();
    RunningTaskView running = Objects.requireNonNull(asked.join().running());
    assertThat(running.invocation()).isEqualTo(launch.invocation());
    assertThat(running.call()).isEqualTo(new RunningCall("http", false, 60_000, null));
    world.ends("j", "h1", TaskResult.Kind.EXITED, "done", null);
    world.settle();
    assertThat(status()).isEqualTo(StatusLabel.DONE);
    assertThat(world.row("j", "h1").call()).isNull();
  }

  @Test
  void aPollIsShownAndLeavesTheProgressAsItWas() {
    world.configure(CALL);
    LaunchSpec launch = world.launch("j", "h1");
    CallPoll poll = new CallPoll(5, "running", 7);
    Progress said = ProgressParser.of(Json.object().put("done", 3).build());
    for (Progress news : List.of(said, Progress.NONE.withPoll(poll))) {
      world.post(
          new LoopInput.TaskProgressed(new TaskKey("j", "h1"), launch.invocation(), () -> news));
    }
    CompletableFuture<Explanation> asked =
        world.ask(new Query.Explain("j", "h1")).toCompletableFuture();
    world.settle();
    RunningTaskView running = Objects.requireNonNull(asked.join().running());
    assertThat(running.call()).isEqualTo(new RunningCall("http", false, 60_000, poll));
    assertThat(running.progress()).isEqualTo(said.withPoll(poll));
  }

  /** Its worker may not have sent it yet. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aBrakeRecallsTheCallOfAnEarlierLeader(boolean isSetBefore) {
    world.isRemote = true;
    world.takesBack = true;
    world.configure(CALL);
    LaunchSpec launch = world.launch("j", "h1");
    Command.SetBrake brake =
        new Command.SetBrake(Brake.of(new Brake.Key(Brake.Target.ALL, "", ""), 0).build(), 0);
    if (isSetBefore) {
      world.run(brake);
      world.settle();
      world.recalls.clear();
    }
    world.crashAndRestart();
    world.configure(CALL);
    CompletionStage<BrakeView> set = world.run(brake);
    world.settle();
    assertThat(world.recalls).extracting(LaunchSpec::invocation).contains(launch.invocation());
    assertThat(set.toCompletableFuture()).isNotDone();
    world.post(new LoopInput.Recalled(List.of(launch.invocation())));
    world.settle();
    assertThat(set.toCompletableFuture())
        .isCompletedWithValueMatching(view -> view.unconfirmed().isEmpty());
  }

  @Test
  void theCallOfALostWorkerIsAskedAbout() {
    world.isRemote = true;
    world.configure(CALL);
    LaunchSpec launch = world.launch("j", "h1");
    world.ends("j", "h1", TaskResult.Kind.LOST, null, null);
    world.advance(10_000);
    assertThat(world.adopted).containsExactly(launch.withArgument(Json.Obj.EMPTY));
    assertThat(world.launches).as("never sent again").hasSize(1);
    assertThat(status()).isEqualTo(StatusLabel.RUNNING);
    world.ends("j", "h1", TaskResult.Kind.EXITED, "done", null);
    world.settle();
    assertThat(status()).isEqualTo(StatusLabel.DONE);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theCallOfADeadSchedulerIsAskedAboutThoughItsJobHasChanged(boolean remote) {
    world.isRemote = remote;
    world.configure(CALL);
    LaunchSpec launch = world.launch("j", "h1");
    world.crashAndRestart();
    world.configure(CONFIG.formatted("\"command\": [\"/bin/true\"]"));
    world.advance(10_000);
    if (remote) {
      assertThat(world.adopted).as("its worker may be alive").isEmpty();
      world.ends("j", "h1", TaskResult.Kind.LOST, null, null);
      world.advance(10_000);
    }
    assertThat(world.adopted).hasSize(1);
    assertThat(world.adopted.get(0).call()).isEqualTo(launch.call());
    assertThat(world.adopted.get(0).invocation()).isEqualTo(launch.invocation());
    assertThat(world.launches).as("nothing else is started meanwhile").hasSize(1);
    world.ends("j", "h1", TaskResult.Kind.EXITED, "incomplete", null);
    world.advance(10_000);
    assertThat(world.row("j", "h1").call()).isNull();
    if (remote) {
      assertThat(status()).as("there is no worker").isEqualTo(StatusLabel.INCOMPLETE);
    } else {
      assertThat(world.launches).hasSize(2);
      assertThat(world.launches.get(1).call()).as("what the job is now").isNull();
    }
  }

  private @Nullable Progress shown() {
    world.advance(1_000);
    return Objects.requireNonNull(world.view).running().get(0).progress();
  }

  private void reports(long done) {
    Progress newest = ProgressParser.of(Json.object().put("done", done).put("total", 5).build());
    world.post(
        new LoopInput.TaskProgressed(
            new TaskKey("j", "h1"), world.launch("j", "h1").invocation(), () -> newest));
    world.settle();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theProgressOfARunningCallOutlivesItsScheduler(boolean remote) {
    world.isRemote = remote;
    world.configure(CALL);
    reports(0);
    Progress before = Objects.requireNonNull(shown());
    world.crashAndRestart();
    world.configure(CALL);
    assertThat(shown()).isEqualTo(before);
  }

  @Test
  void theProgressOfAnEarlierAttemptIsNotThatOfTheCall() {
    world.configure(CALL);
    reports(3);
    world.ends("j", "h1", TaskResult.Kind.EXITED, "incomplete", null);
    world.advance(10_000);
    assertThat(shown()).as("the second attempt has said nothing").isNull();
    world.crashAndRestart();
    world.configure(CALL);
    assertThat(shown()).as("the checkpoint is that of the first").isNull();
    reports(4);
    world.crashAndRestart();
    world.configure(CALL);
    assertThat(Objects.requireNonNull(shown()).done()).isEqualTo(4);
  }

  @Test
  void aWorkerThatDoesNotKnowTheCallOfAnEarlierLeaderProvesNothing() {
    world.isRemote = true;
    world.configure(CALL);
    world.ends("j", "h1", TaskResult.Kind.LOST, null, null);
    world.settle();
    world.crashAndRestart();
    world.configure(CALL);
    world.ends("j", "h1", TaskResult.Kind.NOT_STARTED, null, null);
    world.advance(10_000);
    assertThat(world.adopted).as("by both leaders").hasSize(2);
    assertThat(status()).isEqualTo(StatusLabel.RUNNING);
    assertThat(world.launches).hasSize(1);
  }

  @Test
  void anEndThatIsRepeatedBeforeThereIsAConfigurationIsOne() {
    world.isRemote = true;
    world.configure(CALL);
    world.crashAndRestart();
    TaskResult lost =
        TaskResult.of("j", "h1", world.launch("j", "h1").invocation(), TaskResult.Kind.LOST);
    world.post(new LoopInput.TaskEnded(lost));
    world.post(new LoopInput.TaskEnded(lost));
    world.settle();
    world.configure(CALL);
    world.settle();
    assertThat(world.adopted).hasSize(1);
  }

  @Test
  void whatAWorkerReportsLateIsTheEnd() {
    world.isRemote = true;
    world.configure(CALL);
    LaunchSpec launch = world.launch("j", "h1");
    world.ends("j", "h1", TaskResult.Kind.LOST, null, null);
    world.settle();
    world.post(
        new LoopInput.TaskEndedLate(
            TaskResult.exited("j", "h1", launch.invocation(), "done", null)));
    world.settle();
    assertThat(status()).isEqualTo(StatusLabel.DONE);
  }

  @Test
  void whoMakesNoCallsLeavesThemRunning() {
    world.configure(CALL);
    world.makesCalls = false;
    world.crashAndRestart();
    world.configure(CALL);
    world.advance(1_000_000);
    assertThat(status()).isEqualTo(StatusLabel.RUNNING);
    assertThat(world.row("j", "h1").call()).isNotNull();
    assertThat(world.launches).hasSize(1);
    assertThat(world.loop.liveCount()).isEqualTo(1);
    assertThat(world.loop.awaitedCount()).as("nobody waits for it at the end").isZero();
    assertThat(world.loop.isQuiet()).isTrue();
  }

  /** What the runner says of a call that it was to let go. */
  private void letsGo(LaunchSpec launch) {
    world.post(
        new LoopInput.TaskEnded(
            TaskResult.of("j", "h1", launch.invocation(), TaskResult.Kind.LOST)));
    world.settle();
  }

  private static final String CALLS_BACK =
      CONFIG.formatted(
          "\"call\": {\"http\": {\"url\": \"http://{host}:1/x\"},"
              + " \"callback\": {\"base_url\": \"http://s:1\"}}");

  @Test
  void aReportCountsAsTheAnswerToAPoll() {
    world.configure(CALLS_BACK);
    Call call = call(world.launch("j", "h1"));
    assertThat(world.reports(call, "{\"progress\": {\"done\": 1}, \"count\": {\"rows\": 2}}"))
        .isTrue();
    assertThat(world.reports(call, "{\"result\": \"done\", \"count\": {\"rows\": 3}}")).isTrue();
    world.settle();
    assertThat(status()).isEqualTo(StatusLabel.DONE);
    assertThat(Objects.requireNonNull(world.jobStates.get("j")).counters().values())
        .containsExactly(Map.entry("rows", 3L));
  }

  @Test
  void aCallThatMayReportItsEndGetsTheUrlWithASignatureOfItsOwn() {
    world.configure(CALLS_BACK);
    Call call = call(world.launch("j", "h1"));
    String url = call.name(CallSpec.CALLBACK);
    String id = call.name(CallSpec.INVOCATION);
    assertThat(url).startsWith("http://s:1/api/v1/callbacks/" + id + "?job=j&node=h1&signature=");
    String signature = url.substring(url.lastIndexOf('=') + 1);
    assertThat(signature).hasSize(43);
    assertThat(world.launch("j", "h1").toString()).doesNotContain(signature);
    assertThat(world.callbacks.isGenuine("j", "h1", id, signature)).isTrue();
    assertThat(world.callbacks.isGenuine("j", "h2", id, signature)).isFalse();
    assertThat(world.callbacks.isGenuine("jh", "1", id, signature)).isFalse();
    assertThat(world.callbacks.isGenuine("j", "h1", id, "")).isFalse();
    assertThat(new CallbackSigner("other").isGenuine("j", "h1", id, signature)).isFalse();
    assertThat(world.row("j", "h1").call()).as("the next leader waits too").isEqualTo(call);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatTheServiceReportsIsTheEnd(boolean remote) {
    world.isRemote = remote;
    world.configure(CALLS_BACK);
    LaunchSpec launch = world.launch("j", "h1");
    assertThat(world.reports(call(launch), "{\"progress\": {\"done\": 1}}")).isTrue();
    assertThat(status()).isEqualTo(StatusLabel.RUNNING);
    assertThat(world.reports(call(launch), "{\"result\": \"failed\", \"data\": {\"x\": 1}}"))
        .isTrue();
    assertThat(status()).isEqualTo(StatusLabel.FAILED);
    assertThat(world.letGo).containsExactly(launch.invocation());
    assertThat(world.reports(call(launch), "{}")).as("nothing is alive any more").isFalse();
    letsGo(launch);
    assertThat(status()).as("what the runner says is too late").isEqualTo(StatusLabel.FAILED);
    assertThat(world.adopted).isEmpty();
    assertThat(world.warnings).noneMatch(text -> text.contains("unknown invocation"));
    assertThat(world.recorded).extracting(TaskResult::kind).containsExactly(TaskResult.Kind.LOST);
  }

  @Test
  void theFirstOfTwoEndsCounts() {
    world.configure(CALLS_BACK);
    Call call = call(world.launch("j", "h1"));
    world.ends("j", "h1", TaskResult.Kind.EXITED, "done", null);
    assertThat(world.reports(call, "{\"result\": \"failed\"}")).isFalse();
    assertThat(status()).isEqualTo(StatusLabel.DONE);
  }

  @Test
  void anInvocationThatWasReplacedReportsNothing() {
    world.configure(CALLS_BACK);
    Call first = call(world.launch("j", "h1"));
    world.ends("j", "h1", TaskResult.Kind.CALL_FAILED, null, null);
    world.settle();
    world.advance(2_000);
    assertThat(world.launches).hasSize(2);
    assertThat(world.reports(first, "{}")).isFalse();
    assertThat(status()).isEqualTo(StatusLabel.RUNNING);
    assertThat(world.reports(call(world.launches.get(1)), "{}")).isTrue();
    assertThat(status()).isEqualTo(StatusLabel.DONE);
  }

  @Test
  void aKilledCallThatReportsItsEndHasEnded() {
    world.configure(CALLS_BACK);
    LaunchSpec launch = world.launch("j", "h1");
    world.post(
        new LoopInput.Execute<>(
            new Command.Kill("j", "h1", "me", "why not"), new CompletableFuture<>()));
    world.settle();
    assertThat(world.reports(call(launch), "{\"result\": \"incomplete\"}")).isTrue();
    letsGo(launch);
    assertThat(world.row("j", "h1").status().main()).isNotEqualTo(TaskStatus.Main.ERROR);
  }

  @Test
  void theNextLeaderTakesTheReportOnceItKnowsWhatRuns() {
    world.isRemote = true;
    world.configure(CALLS_BACK);
    LaunchSpec launch = world.launch("j", "h1");
    Call call = call(launch);
    world.crashAndRestart();
    assertThatThrownBy(() -> world.reports(call, "{}"))
        .hasCauseInstanceOf(RefusedException.class)
        .hasMessageContaining("being loaded");
    world.configure(CALLS_BACK);
    assertThat(world.reports(call, "{}")).isTrue();
    assertThat(status()).isEqualTo(StatusLabel.DONE);
    letsGo(launch);
    assertThat(status()).isEqualTo(StatusLabel.DONE);
  }

  @Test
  void aCallWhoseWorkerWasLostJustNowStillReports() {
    world.isRemote = true;
    world.configure(CALLS_BACK);
    LaunchSpec launch = world.launch("j", "h1");
    TaskResult lost = TaskResult.of("j", "h1", launch.invocation(), TaskResult.Kind.LOST);
    world.post(new LoopInput.TaskEnded(lost));
    assertThat(world.reports(call(launch), "{}")).isTrue();
    assertThat(world.letGo).containsExactly(launch.invocation());
    letsGo(launch);
    assertThat(status()).isEqualTo(StatusLabel.DONE);
    assertThat(world.launches).hasSize(1);
  }

  @Test
  void anUnknownOutcomeIsFinal() {
    world.configure(CALL);
    world.ends("j", "h1", TaskResult.Kind.OUTCOME_UNKNOWN, null, null);
    world.advance(100_000);
    assertThat(status()).isEqualTo(StatusLabel.FAILED);
    assertThat(String.valueOf(world.row("j", "h1").status().data())).contains("outcome unknown");
    assertThat(world.launches).hasSize(1);
  }

  @Test
  void aFailureIsTriedAgain() {
    world.configure(CALL);
    world.ends("j", "h1", TaskResult.Kind.CALL_FAILED, null, null);
    world.settle();
    assertThat(status()).isEqualTo(StatusLabel.ERROR_BACKOFF);
    world.advance(2_000);
    assertThat(world.launches).hasSize(2);
    assertThat(call(world.launches.get(1)).name(CallSpec.KEY))
        .isEqualTo(call(world.launches.get(0)).name(CallSpec.KEY));
    assertThat(call(world.launches.get(1)).name(CallSpec.INVOCATION))
        .isNotEqualTo(call(world.launches.get(0)).name(CallSpec.INVOCATION));
  }

  @Test
  void aSchedulerThatStopsLeavesTheCallToTheNext() {
    world.configure(CALL);
    world.post(new LoopInput.Stop());
    world.settle();
    world.ends("j", "h1", TaskResult.Kind.LOST, null, null);
    world.settle();
    assertThat(world.loop.liveCount()).isZero();
    assertThat(status()).isEqualTo(StatusLabel.RUNNING);
    assertThat(world.row("j", "h1").call()).isNotNull();
  }
}
