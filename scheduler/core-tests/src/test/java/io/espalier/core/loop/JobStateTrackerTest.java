package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.api.Command;
import io.espalier.core.api.RefusedException;
import io.espalier.core.api.TaskSelection;
import io.espalier.core.api.TaskSelector;
import io.espalier.core.api.view.Explanation;
import io.espalier.core.event.Event;
import io.espalier.core.json.Json;
import io.espalier.core.outcome.JobState;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.status.StatusLabel;
import io.espalier.core.status.TaskKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * States of whole jobs through the loop (docs/design/features.md#states-of-jobs): rules, operators,
 * restarts.
 */
class JobStateTrackerTest {
  private final LoopWorld world = new LoopWorld();

  /** A job with that many tasks of which so many run at a time. */
  private static String config(int tasks, int atOnce, String members) {
    String nodes =
        IntStream.range(0, tasks)
            .mapToObj(i -> "\"n%04d\": []".formatted(i))
            .collect(Collectors.joining(", "));
    return """
    {"bistro_settings": {
       "nodes": {"levels": ["db"], "node_order": "original", "node_sources": [
         {"source": "manual", "prefs": {%s}}]},
       "resources": {"instance": {"slots": {"default": 1, "limit": %d}}},
       "backoff": [1, 2, "fail"]},
     "bistro_job->j": {"owner": "o"%s}}
    """
        .formatted(nodes, atOnce, members.isEmpty() ? "" : ", " + members.replace('\'', '"'));
  }

  private JobStateRecord jobState() {
    world.advance(200);
    return Objects.requireNonNull(Objects.requireNonNull(world.view).jobStates().get("j"));
  }

  private JobState state() {
    return jobState().state();
  }

  private String firstRunning() {
    return world.running.keySet().iterator().next().node();
  }

  /** Ends those of the running tasks that there are now, so many of them badly. */
  private void endOne(boolean well) {
    world.writes("j", firstRunning(), well ? "done" : "failed");
  }

  private void refuses(CompletionStage<?> stage, String why) {
    world.settle();
    assertThatThrownBy(() -> stage.toCompletableFuture().join())
        .hasCauseInstanceOf(RefusedException.class)
        .hasMessageContaining(why);
  }

  private List<String> moves() {
    List<String> moves = new ArrayList<>();
    for (Event event : world.events) {
      if (event.kind().equals("job_state")) {
        moves.add(word(event, "from") + " > " + word(event, "to"));
      }
    }
    return moves;
  }

  private static String word(Event event, String key) {
    return ((Json.Str) Objects.requireNonNull(event.data().get(key))).value();
  }

  private Explanation.Reason firstReason(String node) {
    return world.core.tasks().explain("j", node).reasons().get(0);
  }

  private static TaskSelection all(TaskSelector selector) {
    return new TaskSelection("j", selector, false, -1, "ann", "fixed");
  }

  // ---- the life of a job

  @Test
  void aJobWaitsRunsAndSucceeds() {
    world.configure(config(2, 0, ""));
    assertThat(state()).isEqualTo(JobState.WAITING);
    world.configure(config(2, 1, ""));
    assertThat(state()).isEqualTo(JobState.RUNNING);
    endOne(true);
    assertThat(state()).isEqualTo(JobState.RUNNING);
    endOne(true);
    long now = world.now;
    JobStateRecord end = jobState();
    assertThat(end.state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(end.reason()).isEqualTo("all 2 tasks are done");
    assertThat(end.sinceMillis()).isEqualTo(now);
    world.configure(config(3, 1, ""));
    assertThat(state()).isEqualTo(JobState.RUNNING);
    assertThat(moves())
        .containsExactly("waiting > running", "running > succeeded", "succeeded > running");
  }

  @Test
  void aJobThatIsThroughWithTooLittleDoneHasFailedUntilTasksAreForgiven() {
    world.configure(config(2, 2, ""));
    endOne(true);
    endOne(false);
    assertThat(jobState().reason())
        .isEqualTo("nothing is left to run: 1 of 2 tasks are done, 1 failed for good");
    assertThat(world.warnings).hasSize(1).first().asString().contains("the job has failed");
    refuses(
        world.run(new Command.Resume("j", "", "")),
        "is not paused: it is failed, nothing is left to run");
    assertThat(world.done(new Command.Forgive(TaskSelection.all("j", "", ""))).changed())
        .isEqualTo(1);
    assertThat(state()).isEqualTo(JobState.RUNNING);
    endOne(true);
    assertThat(state()).isEqualTo(JobState.SUCCEEDED);
  }

  // ---- docs/design/features.md#rules-that-end-a-job

  @ParameterizedTest
  @ValueSource(ints = {1, 7, 40})
  void of1000ShardsThatFailAt6PercentTheJobFailsAtTheThresholdAndKillsNothing(int atOnce) {
    world.configure(config(1000, atOnce, "'fail_job_when': {'failed_pct': 5, 'min_samples': 50}"));
    int ended = 0;
    int failed = 0;
    int at = 0;
    while (!world.running.isEmpty()) {
      // Every seventeenth fails: 5.88 %, with the third among the first 50.
      boolean well = ++ended % 17 != 16;
      failed += well ? 0 : 1;
      endOne(well);
      if (at == 0 && failed * 100 > 5 * ended && ended >= 50) {
        at = ended;
        assertThat(world.running).hasSize(atOnce - 1);
      }
    }
    assertThat(at).isEqualTo(50);
    assertThat(world.launches).hasSize(at + atOnce - 1);
    assertThat(world.kills).isEmpty();
    JobStateRecord jobState = jobState();
    assertThat(jobState.state()).isEqualTo(JobState.FAILED);
    assertThat(jobState.reason()).isEqualTo("3 of 50 ended tasks failed, 5 % allowed");
    assertThat(firstReason("n0999").kind()).isEqualTo(Explanation.Kind.JOB_FAILED);
    assertThat(firstReason("n0999").message())
        .isEqualTo(
            "the job has failed: 3 of 50 ended tasks failed, 5 % allowed;"
                + " it can be resumed or forgiven");
    assertThat(world.loop.isQuiet()).isTrue();
    world.core.verify();
  }

  @Test
  void attemptsThatFailDoNotCountOnlyTasksThatFailForGood() {
    world.configure(config(1, 1, "'fail_job_when': {'failed_tasks': 1}"));
    world.writes("j", "n0000", "error_backoff");
    world.advance(1_000);
    world.writes("j", "n0000", "error_backoff");
    assertThat(state()).isEqualTo(JobState.RUNNING);
    world.advance(2_000);
    world.writes("j", "n0000", "error_backoff");
    assertThat(jobState().reason()).isEqualTo("1 of 1 ended task failed, none may");
  }

  @Test
  void anEndedBackOffOfAFailedJobStartsNothingAndARunNeedNotWaitForIt() {
    world.configure(config(3, 2, "'fail_job_when': {'failed_tasks': 1}"));
    world.writes("j", "n0000", "error_backoff");
    world.writes("j", "n0001", "failed");
    assertThat(world.running).containsOnlyKeys(new TaskKey("j", "n0002"));
    world.writes("j", "n0002", "done");
    assertThat(world.loop.isQuiet()).isTrue();
    world.advance(60_000);
    assertThat(world.running).isEmpty();
  }

  @Test
  void withAWindowOnlyLateEndsCount() {
    world.configure(config(9, 1, "'fail_job_when': {'failed_tasks': 2, 'window': '64s'}"));
    endOne(false);
    world.advance(65_000);
    endOne(false);
    assertThat(state()).isEqualTo(JobState.RUNNING);
    world.advance(30_000);
    endOne(false);
    assertThat(jobState().reason())
        .isEqualTo("2 of 2 ended tasks of the last 64 seconds failed, the job fails with 2");
  }

  @Test
  void aWindowIsFilledAgainAfterARestart() {
    String config = config(9, 1, "'fail_job_when': {'failed_tasks': 2, 'window': '1h'}");
    world.configure(config);
    endOne(false);
    world.crashAndRestart();
    world.configure(config);
    assertThat(state()).isEqualTo(JobState.RUNNING);
    endOne(false);
    assertThat(state()).isEqualTo(JobState.FAILED);
  }

  @Test
  void endsAreCountedOnceWhenAJobIsRemovedAndReturns() {
    String rule = "'fail_job_when': {'failed_tasks': 2, 'window': '1h'}";
    world.configure(config(9, 1, rule));
    endOne(false);
    world.configure(config(9, 0, rule));
    endOne(true);
    world.configure(withoutTheJob(config(9, 0, rule)));
    world.configure(config(9, 1, rule));
    endOne(true);
    assertThat(jobState().reason()).as("1 of 3 tasks has failed").isEmpty();
    assertThat(state()).isEqualTo(JobState.RUNNING);
    endOne(false);
    assertThat(jobState().reason())
        .isEqualTo("2 of 4 ended tasks of the last hour failed, the job fails with 2");
  }

  @Test
  void anEndIsCountedThatComesWhileItsJobIsRemoved() {
    String rule = "'fail_job_when': {'failed_tasks': 2, 'window': '1h'}";
    world.configure(config(9, 2, rule));
    world.configure(withoutTheJob(config(9, 2, rule)));
    endOne(false);
    world.configure(config(9, 1, rule));
    assertThat(state()).isEqualTo(JobState.RUNNING);
    endOne(false);
    assertThat(jobState().reason())
        .isEqualTo("2 of 2 ended tasks of the last hour failed, the job fails with 2");
  }

  @Test
  void endsAreCountedOnceThatComeWhileTheJobThatReturnsIsRead() {
    String rule = "'fail_job_when': {'failed_tasks': 3, 'window': '1h'}";
    String here = config(9, 2, rule);
    world.configure(here);
    endOne(false);
    world.configure(withoutTheJob(here));
    PreparedUpdate change = world.prepare(here);
    endOne(false);
    world.done(world.update(change));
    endOne(true);
    assertThat(jobState().reason()).as("2 of 3 tasks have failed").isEmpty();
    endOne(false);
    assertThat(jobState().reason())
        .isEqualTo("3 of 4 ended tasks of the last hour failed, the job fails with 3");
  }

  private static String withoutTheJob(String config) {
    return config.replace("bistro_job->j\": {", "bistro_job->other\": {\"enabled\": false, ");
  }

  // ---- docs/design/features.md#no-resurrection

  @Test
  void aFailedJobIsNotResurrectedByAnotherScheduler() {
    String config = config(9, 1, "'fail_job_when': {'failed_tasks': 2}");
    world.configure(config);
    endOne(false);
    endOne(false);
    JobStateRecord before = jobState();
    world.advance(5_000);
    int launches = world.launches.size();
    world.crashAndRestart();
    // Whatever the rule says now: what has failed has failed.
    world.configure(config(9, 1, ""));
    world.advance(100_000);
    assertThat(world.launches).hasSize(launches);
    assertThat(jobState()).isEqualTo(before);
    assertThat(moves()).containsExactly("waiting > running", "running > failed");
    world.done(new Command.Resume("j", "ann", "go on"));
    assertThat(world.launches).hasSize(launches + 1);
    assertThat(state()).isEqualTo(JobState.RUNNING);
  }

  @Test
  void theFailureIsDurableBeforeAnybodyHearsOfIt() {
    world.configure(config(9, 1, "'fail_job_when': {'failed_tasks': 1}"));
    assertThat(state()).isEqualTo(JobState.RUNNING);
    world.storeAnswers = false;
    endOne(false);
    assertThat(state()).isEqualTo(JobState.RUNNING);
    assertThat(moves()).containsExactly("waiting > running");
    assertThat(world.running).isEmpty();
    assertThat(Objects.requireNonNull(world.jobStates.get("j")).state())
        .isEqualTo(JobState.RUNNING);
    world.storeAnswers();
    assertThat(state()).isEqualTo(JobState.FAILED);
    assertThat(moves()).containsExactly("waiting > running", "running > failed");
    assertThat(world.row("j", "n0000").status().label()).isEqualTo(StatusLabel.FAILED);
  }

  @Test
  void aStopOutlivesARestartAsAStop() {
    world.configure(config(3, 1, ""));
    assertThat(world.done(new Command.Stop("j", "ann", "wrong data"))).isEqualTo(1);
    JobStateRecord before = jobState();
    assertThat(before.state()).isEqualTo(JobState.STOPPED);
    assertThat(before.reason()).isEqualTo("ann: wrong data");
    world.crashAndRestart();
    world.configure(config(3, 1, ""));
    assertThat(jobState()).isEqualTo(before);
    world.done(new Command.Pause("j", 1_000, "bob", ""));
    assertThat(jobState().reason()).isEqualTo("bob");
    assertThat(state()).isEqualTo(JobState.PAUSED);
    world.advance(1_000);
    assertThat(state()).isEqualTo(JobState.RUNNING);
    assertThat(moves())
        .containsExactly(
            "waiting > running", "running > stopped", "stopped > paused", "paused > running");
  }

  // ---- what lifts a failure

  @Test
  void aResumedJobCountsFromThenOn() {
    String config = config(20, 1, "'fail_job_when': {'failed_pct': 50, 'min_samples': 4}");
    world.configure(config);
    endOne(true);
    endOne(false);
    endOne(false);
    endOne(false);
    assertThat(jobState().reason()).isEqualTo("3 of 4 ended tasks failed, 50 % allowed");
    world.done(new Command.Resume("j", "", ""));
    endOne(false);
    endOne(false);
    endOne(false);
    assertThat(state()).isEqualTo(JobState.RUNNING);
    world.crashAndRestart();
    world.configure(config);
    assertThat(state()).isEqualTo(JobState.RUNNING);
    endOne(false);
    assertThat(jobState().reason()).isEqualTo("4 of 4 ended tasks failed, 50 % allowed");
  }

  @Test
  void aForgivenJobRunsAgain() {
    world.configure(config(4, 1, "'fail_job_when': {'failed_tasks': 1}"));
    endOne(false);
    assertThat(state()).isEqualTo(JobState.FAILED);
    world.done(new Command.Forgive(all(TaskSelector.ALL)));
    assertThat(state()).isEqualTo(JobState.RUNNING);
    endOne(true);
    endOne(true);
    endOne(false);
    assertThat(state()).isEqualTo(JobState.FAILED);
    TaskSelector none = new TaskSelector(Set.of(), "nothing", Set.of(), "");
    world.done(new Command.Forgive(all(none)));
    assertThat(state()).isEqualTo(JobState.FAILED);
    world.done(
        world.run(
            new Command.Rerun(all(new TaskSelector(Set.of(StatusLabel.DONE), "", Set.of(), "")))));
    assertThat(state()).isEqualTo(JobState.RUNNING);
    assertThat(world.running).hasSize(1);
  }

  @Test
  void aFailureOutlivesAPauseAndItsEndAndReloads() {
    String rule = "'fail_job_when': {'failed_tasks': 1}";
    world.configure(config(4, 1, rule));
    endOne(false);
    world.done(new Command.Pause("j", 1_000, "", ""));
    world.advance(2_000);
    assertThat(state()).isEqualTo(JobState.FAILED);
    world.configure(config(5, 1, rule + ", 'enabled': false"));
    assertThat(state()).isEqualTo(JobState.DISABLED);
    world.configure(config(5, 1, rule));
    assertThat(state()).isEqualTo(JobState.FAILED);
    assertThat(world.running).isEmpty();
    world.done(new Command.Resume("j", "", ""));
    assertThat(world.running).hasSize(1);
  }

  @Test
  void aRuleThatIsMadeStricterAppliesAtOnce() {
    world.configure(config(9, 1, ""));
    endOne(false);
    endOne(false);
    assertThat(world.running).hasSize(1);
    world.configure(config(9, 1, "'fail_job_when': {'failed_tasks': 2}"));
    assertThat(state()).isEqualTo(JobState.FAILED);
    endOne(true);
    assertThat(world.running).isEmpty();
  }

  @Test
  void aJobThatIsMadeAnewBeginsAnew() {
    world.configure(config(4, 1, "'fail_job_when': {'failed_tasks': 1}"));
    endOne(false);
    assertThat(state()).isEqualTo(JobState.FAILED);
    world.configureAnew(config(4, 1, "'create_time': 77"), "j", 77);
    assertThat(state()).isEqualTo(JobState.RUNNING);
    assertThat(world.running).hasSize(1);
  }

  // ---- success with less than all

  @Test
  void enoughIsEnoughUntilAnOperatorWantsTheRest() {
    String config = config(10, 2, "'succeed_job_when': {'done_pct': 30}");
    world.configure(config);
    endOne(true);
    endOne(true);
    assertThat(world.running).hasSize(2);
    endOne(true);
    // What runs goes on; nothing more starts.
    assertThat(world.running).hasSize(1);
    assertThat(state()).isEqualTo(JobState.RUNNING);
    endOne(false);
    assertThat(jobState().reason())
        .isEqualTo("3 of 10 tasks are done, 30 % are enough; 6 are left and not started any more");
    assertThat(firstReason("n0009").kind()).isEqualTo(Explanation.Kind.JOB_SUCCEEDED);
    assertThat(world.loop.isQuiet()).isTrue();
    world.crashAndRestart();
    world.configure(config);
    world.advance(1_000);
    assertThat(world.running).isEmpty();
    assertThat(state()).isEqualTo(JobState.SUCCEEDED);
    world.done(new Command.Forgive(all(TaskSelector.ALL)));
    assertThat(state()).isEqualTo(JobState.RUNNING);
    assertThat(world.running).hasSize(2);
    world.crashAndRestart();
    world.configure(config);
    assertThat(world.running).hasSize(2);
    while (!world.running.isEmpty()) {
      endOne(true);
    }
    assertThat(jobState().reason()).isEqualTo("all 10 tasks are done");
  }

  @Test
  void failedTasksAreAllowedWhereLessThanAllMustBeDone() {
    world.configure(config(4, 4, "'succeed_job_when': {'done_pct': 75}"));
    endOne(false);
    endOne(true);
    endOne(true);
    endOne(true);
    assertThat(state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(world.warnings).isEmpty();
  }

  @Test
  void anEndlessJobStaysOpenAndTakesUpNewNodes() {
    world.configure(config(1, 1, "'succeed_job_when': 'never'"));
    assertThat(state()).isEqualTo(JobState.OPEN);
    endOne(true);
    assertThat(state()).isEqualTo(JobState.OPEN);
    long since = jobState().sinceMillis();
    world.configure(config(2, 1, "'succeed_job_when': 'never'"));
    assertThat(world.running).hasSize(1);
    assertThat(jobState().sinceMillis()).as("it has been so all the time").isEqualTo(since);
    world.configure(config(2, 1, ""));
    endOne(true);
    assertThat(state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void newNodesOpenAJobAgainOfWhichEnoughWasDone() {
    world.configure(config(2, 1, "'succeed_job_when': {'done_pct': 50}"));
    endOne(true);
    assertThat(state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(world.running).isEmpty();
    world.configure(config(3, 1, "'succeed_job_when': {'done_pct': 50}"));
    assertThat(world.running).hasSize(1);
    assertThat(state()).isEqualTo(JobState.RUNNING);
  }

  @Test
  void aJobThatIsLateHasFailedOnceNothingOfItRuns() {
    world.configure(config(2, 1, "'complete_by': 1001"));
    assertThat(state()).isEqualTo(JobState.RUNNING);
    world.advance(1_000);
    endOne(true);
    assertThat(jobState().reason())
        .isEqualTo("the job was to be complete by 1970-01-01T00:16:41Z; 1 of 2 tasks are done");
    world.configure(config(2, 1, "'complete_by': 9000"));
    assertThat(state()).isEqualTo(JobState.RUNNING);
  }
}
