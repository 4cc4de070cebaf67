package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.json.Json;
import io.espalier.core.outcome.JobState;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult.Kind;
import io.espalier.core.status.StatusLabel;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A job has succeeded when its sample is verified. */
class VerificationLoopTest {
  private static final String CONFIG =
      """
      {"bistro_settings": {
         "nodes": {"levels": ["host"], "node_sources": [
           {"source": "manual", "prefs": {%s}}]},
         "resources": {"instance": {"slots": {"default": 1, "limit": %d}}},
         "working_wait": 0,
         "backoff": [1, "repeat"]},
       "bistro_job->j": {"owner": "o", "command": ["/do"], %s}%s}
      """;
  private static final String VERIFY = "\"verify\": {\"command\": [\"/verify\"], \"retries\": 1}";

  private final LoopWorld world = new LoopWorld();

  private static String config(int nodes, int slots, String members, String more) {
    return CONFIG.formatted(
        IntStream.rangeClosed(1, nodes)
            .mapToObj(i -> "\"h" + i + "\": []")
            .collect(Collectors.joining(", ")),
        slots,
        members,
        more);
  }

  private JobState state() {
    return Objects.requireNonNull(world.loop.jobStates().get("j")).state();
  }

  private TaskStatus status(String node) {
    return world.row("j", node).status();
  }

  private String runs(String node) {
    return world.launch("j", node).command().get(0);
  }

  @Test
  void verificationsBeginWhenAllTasksAreDone() {
    world.configure(config(2, 2, VERIFY, ""));
    world.writes("j", "h1", "{\"result\": \"done\", \"data\": {\"rows\": 7}}");
    assertThat(state()).isEqualTo(JobState.RUNNING);
    assertThat(world.running).hasSize(1);
    world.writes("j", "h2", "done");
    assertThat(state()).isEqualTo(JobState.VERIFYING);
    assertThat(runs("h1")).isEqualTo("/verify");
    LaunchSpec launch = world.launch("j", "h1");
    assertThat(launch.argument().get("phase")).isEqualTo(Json.of("verify"));
    assertThat(launch.attempt()).isEqualTo(1);
    Json.Obj before = (Json.Obj) Objects.requireNonNull(launch.argument().get("prev_status"));
    assertThat(before.get("data")).isEqualTo(Json.object().put("rows", 7).build());
    assertThat(world.loop.isQuiet()).isFalse();
    world.writes("j", "h1", "{\"result\": \"done\", \"data\": {\"looked\": 1}}");
    assertThat(state()).isEqualTo(JobState.VERIFYING);
    world.writes("j", "h2", "done");
    assertThat(state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(status("h1").data()).isEqualTo(Json.object().put("rows", 7).build());
    assertThat(status("h1").label()).isEqualTo(StatusLabel.DONE);
    assertThat(world.loop.isQuiet()).isTrue();
    assertThat(world.launches).hasSize(4);
    world.core.verify();
  }

  @Test
  void aVerificationOfUnknownOutcomeIsNotStartedAgain() {
    world.configure(config(1, 1, VERIFY, ""));
    world.writes("j", "h1", "done");
    world.end("j", "h1", Kind.OUTCOME_UNKNOWN, null, null);
    world.advance(60_000);
    assertThat(world.running).isEmpty();
    assertThat(status("h1").label()).isEqualTo(StatusLabel.FAILED);
  }

  @Test
  void aLostWorkerIsNoFailedVerification() {
    world.configure(config(1, 1, VERIFY, "").replace("[1, \"repeat\"]", "[\"fail\"]"));
    world.writes("j", "h1", "done");
    world.end("j", "h1", Kind.LOST, null, null);
    assertThat(status("h1").awaitsVerification()).isTrue();
    world.advance(1_000);
    assertThat(runs("h1")).isEqualTo("/verify");
  }

  @Test
  void aTaskThatMayNotRunAnyMoreDoesNotHoldUpItsJob() {
    world.configure(config(2, 1, VERIFY, ""));
    world.writes("j", "h1", "done");
    world.writes("j", "h2", "done");
    String runs = world.running.keySet().iterator().next().node();
    String other = runs.equals("h1") ? "h2" : "h1";
    String filter = ", \"filters\": {\"host\": {\"blacklist\": [\"" + other + "\"]}}";
    world.configure(config(2, 1, VERIFY + filter, ""));
    world.writes("j", runs, "done");
    assertThat(state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void limitsHoldForVerifications() {
    world.configure(config(3, 1, VERIFY, ""));
    for (int i = 0; i < 6; i++) {
      assertThat(world.running).hasSize(1);
      TaskKey task = world.running.keySet().iterator().next();
      world.writes("j", task.node(), "done");
      world.core.verify();
    }
    assertThat(state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(world.launches).hasSize(6);
  }

  @Test
  void aFailedVerificationMakesTheTaskRunAgain() {
    world.configure(config(1, 1, VERIFY, ""));
    world.writes("j", "h1", "done");
    world.writes("j", "h1", "error_backoff");
    assertThat(state()).as("it is tried again").isEqualTo(JobState.VERIFYING);
    assertThat(world.loop.isQuiet()).isFalse();
    world.core.verify();
    world.advance(1_000);
    assertThat(runs("h1")).isEqualTo("/verify");
    world.writes("j", "h1", "{\"result\": \"error_backoff\", \"data\": {\"error\": \"x\"}}");
    assertThat(status("h1").label()).isEqualTo(StatusLabel.ERROR_BACKOFF);
    assertThat(String.valueOf(status("h1").data())).contains("verification failed");
    assertThat(state()).isEqualTo(JobState.RUNNING);
    world.advance(1_000);
    assertThat(runs("h1")).isEqualTo("/do");
    assertThat(world.launch("j", "h1").attempt()).isEqualTo(2);
    world.writes("j", "h1", "done");
    assertThat(runs("h1")).isEqualTo("/verify");
    world.writes("j", "h1", "failed");
    world.advance(1_000);
    assertThat(runs("h1")).as("no retry of what says failed").isEqualTo("/do");
    world.writes("j", "h1", "done");
    world.writes("j", "h1", "done");
    assertThat(state()).isEqualTo(JobState.SUCCEEDED);
    world.core.verify();
  }

  @Test
  void aKilledVerificationHasNotFailed() {
    world.configure(config(1, 1, VERIFY, ""));
    world.writes("j", "h1", "done");
    for (int i = 0; i < 3; i++) {
      world.end("j", "h1", Kind.KILLED, null, null);
      world.advance(1_000);
      assertThat(runs("h1")).isEqualTo("/verify");
    }
    world.writes("j", "h1", "done");
    assertThat(state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void maxAttemptsEndsIt() {
    LoopWorld bounded = new LoopWorld(1);
    bounded.configure(config(1, 1, VERIFY, ""));
    bounded.writes("j", "h1", "done");
    bounded.writes("j", "h1", "failed");
    assertThat(bounded.row("j", "h1").status().label()).isEqualTo(StatusLabel.FAILED);
    assertThat(Objects.requireNonNull(bounded.loop.jobStates().get("j")).state())
        .isEqualTo(JobState.FAILED);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatIsVerifiedIsDurable(boolean remote) {
    world.isRemote = remote;
    world.configure(config(3, 3, VERIFY, ""));
    for (String node : List.of("h1", "h2", "h3")) {
      world.writes("j", node, "done");
    }
    world.writes("j", "h2", "done");
    world.crashAndRestart();
    world.configure(config(3, 3, VERIFY, ""));
    world.advance(5_000);
    assertThat(state()).isEqualTo(JobState.VERIFYING);
    assertThat(world.running.keySet().stream().map(TaskKey::node).toList())
        .containsExactlyInAnyOrder("h1", "h3");
    assertThat(world.running.values()).allMatch(run -> run.command().get(0).equals("/verify"));
    world.writes("j", "h1", "done");
    world.writes("j", "h3", "done");
    assertThat(state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void dependantsWaitForTheVerification() {
    String others =
        ", \"bistro_job->each\": {\"owner\": \"o\", \"command\": [\"/e\"],"
            + " \"depends_on\": [\"j\"]}, \"bistro_job->whole\": {\"owner\": \"o\","
            + " \"command\": [\"/w\"], \"run_only_after_all_nodes_are_done_for\": [\"j\"]}";
    world.configure(config(2, 9, VERIFY, others));
    world.writes("j", "h1", "done");
    assertThat(world.running.keySet()).extracting(TaskKey::job).containsOnly("j");
    world.writes("j", "h2", "done");
    assertThat(world.running.keySet()).extracting(TaskKey::job).containsOnly("j");
    world.writes("j", "h1", "done");
    assertThat(world.running.keySet()).contains(new TaskKey("each", "h1"));
    assertThat(world.running.keySet()).extracting(TaskKey::job).doesNotContain("whole");
    world.writes("j", "h2", "done");
    assertThat(world.running.keySet()).contains(new TaskKey("whole", "h1"));
    world.core.verify();
  }

  @ParameterizedTest
  @CsvSource({"10%, 5", "1%, 1", "7, 7", "100, 50", "0.5%, 1"})
  void theSampleIsSpreadAndAlwaysTheSame(String on, int expected) {
    String verify = "\"verify\": {\"command\": [\"/verify\"], \"on\": \"%s\"}".formatted(on);
    Set<Integer> first = sample(new LoopWorld(), verify, false);
    assertThat(first).hasSize(expected);
    assertThat(sample(new LoopWorld(), verify, true)).as("whatever ends first").isEqualTo(first);
    assertThat(first.stream().map(at -> at * expected / 50).distinct().count())
        .as("one of each part")
        .isEqualTo(expected);
  }

  /** Places of the verified ones of 50 nodes. */
  private static Set<Integer> sample(LoopWorld world, String verify, boolean backwards) {
    world.configure(config(50, 99, verify, ""));
    for (int i = 0; i < 50; i++) {
      world.writes("j", "h" + (backwards ? 50 - i : i + 1), "done");
    }
    Set<Integer> places = new TreeSet<>();
    world.running.keySet().forEach(task -> places.add(world.core.findNode(0, task.node()) - 1));
    return places;
  }

  @Test
  void aJobThatIsNotVerifiedAnyMoreSucceeds() {
    world.configure(config(2, 2, VERIFY, ""));
    world.writes("j", "h1", "done");
    assertThat(status("h1").awaitsVerification()).isTrue();
    world.writes("j", "h2", "done");
    world.writes("j", "h2", "error_backoff");
    world.configure(config(2, 2, "\"priority\": 2", ""));
    world.writes("j", "h1", "done");
    world.advance(1_000);
    assertThat(world.running).isEmpty();
    assertThat(state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(status("h2").awaitsVerification()).isFalse();
  }
}
