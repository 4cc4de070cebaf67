package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.api.Command;
import io.espalier.core.api.Query;
import io.espalier.core.api.RefusedException;
import io.espalier.core.api.TaskSelection;
import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.JobProgress;
import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.api.view.TaskDeadlines;
import io.espalier.core.api.view.WatchdogFindings;
import io.espalier.core.json.Json;
import io.espalier.core.running.InvocationLimits;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.status.StatusLabel;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import java.time.Instant;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Time limits and the supervisor's pass, with a runner that does only what the test says. */
class RunnerWatchdogTest {
  private static final long PASS = 10_000;

  private final LoopWorld world = new LoopWorld();

  private static String config(String members) {
    return """
    {"bistro_settings": {
       "nodes": {"levels": ["db"], "node_order": "original", "node_sources": [
         {"source": "manual", "prefs": {"a": [], "b": []}}]},
       "resources": {"db": {"slots": {"default": 1, "limit": 1}}}, "backoff": [1, 2, 4, "fail"]},
     "bistro_job->j": {"owner": "o", "filters": {"db": {"whitelist": ["a"]}}%s}}
    """
        .formatted(members);
  }

  private SchedulerView view() {
    return Objects.requireNonNull(world.view);
  }

  private WatchdogFindings findings() {
    world.advance(200);
    return view().findings();
  }

  private TaskStatus stored() {
    return world.row("j", "a").status();
  }

  private void ends(StopReason reason) {
    TaskResult end =
        TaskResult.of("j", "a", world.launch("j", "a").invocation(), TaskResult.Kind.KILLED)
            .withExit(null, 15);
    world.running.remove(new TaskKey("j", "a"));
    world.post(new LoopInput.TaskEnded(end.withStopReason(reason)));
    world.settle();
  }

  // ---- time limits

  @Test
  void theLimitsOfTheJobGoToTheRunner() {
    world.configure(
        config(
            ", 'timeout_sec': 90.5, 'no_output_timeout_sec': 7, 'complete_by': 2000.5"
                .replace('\'', '"')));
    assertThat(world.launch("j", "a").limits())
        .isEqualTo(new InvocationLimits(90_500, 7_000, 2_000_500));
    assertThat(Objects.requireNonNull(world.answer(new Query.Task("j", "a")).running()).limits())
        .isEqualTo(new TaskDeadlines(world.now + 90_500, 7_000, 2_000_500));
  }

  @ParameterizedTest
  @CsvSource({
    "TIMEOUT, ERROR_BACKOFF, timeout_sec",
    "NO_OUTPUT, ERROR_BACKOFF, no_output_timeout_sec",
    "OUT_OF_MEMORY, ERROR_BACKOFF, memory limit",
    "DEADLINE, INTERRUPTED, complete_by",
    "SHUTDOWN, INTERRUPTED, runner",
    "LEASE_LOST, INTERRUPTED, lost touch",
    "REQUESTED, INCOMPLETE_BACKOFF, killed",
  })
  void eachReasonForStoppingHasItsMeaning(StopReason reason, StatusLabel label, String says) {
    world.configure(config(""));
    // Freezes what comes after: an interrupted task may start again at once.
    var unused = world.run(new Command.Pause("j", 0, "", ""));
    ends(reason);
    assertThat(stored().label()).isEqualTo(label);
    assertThat(Objects.requireNonNull(stored().data()).toString()).contains(says);
    Json.Obj event = world.events.get(world.events.size() - 1).data();
    assertThat(event.get("stop_reason")).isEqualTo(Json.of(reason.name().toLowerCase(Locale.ROOT)));
  }

  @Test
  void whatATaskManagedToSayCountsAlsoWhenItsTimeWasOver() {
    world.configure(config(""));
    TaskResult end =
        TaskResult.of("j", "a", world.launch("j", "a").invocation(), TaskResult.Kind.KILLED)
            .withRawStatus("done")
            .withExit(0, null);
    world.running.remove(new TaskKey("j", "a"));
    world.post(new LoopInput.TaskEnded(end.withStopReason(StopReason.TIMEOUT)));
    world.settle();
    assertThat(stored().label()).isEqualTo(StatusLabel.DONE);
  }

  @Test
  void anExitCodeSaysNothingWhenTheTimeWasOver() {
    world.configure(config(", \"status_from\": \"exit_code\", \"command\": [\"/bin/true\"]"));
    TaskResult end =
        TaskResult.of("j", "a", world.launch("j", "a").invocation(), TaskResult.Kind.KILLED)
            .withExit(0, null);
    world.running.remove(new TaskKey("j", "a"));
    world.post(new LoopInput.TaskEnded(end.withStopReason(StopReason.TIMEOUT)));
    world.settle();
    assertThat(stored().label()).isEqualTo(StatusLabel.ERROR_BACKOFF);
  }

  @Test
  void aJobIsClosedAtItsDeadlineAndOpenedWhenThatIsMoved() {
    String at = "\"" + Instant.ofEpochMilli(world.now + 5_000) + "\"";
    world.configure(config(", \"complete_by\": " + at));
    world.advance(4_999);
    world.writes("j", "a", "incomplete");
    assertThat(world.running).hasSize(1);
    world.advance(1);
    assertThat(world.running).as("it ends what runs itself").hasSize(1);
    ends(StopReason.DEADLINE);
    world.advance(60_000);
    assertThat(world.running).isEmpty();
    JobProgress progress = Objects.requireNonNull(world.loop.progress().get("j"));
    assertThat(progress.ready()).isZero();
    assertThat(progress.blocked()).isEqualTo(1);
    assertThat(world.loop.isQuiet()).isTrue();
    Explanation why = world.core.tasks().explain("j", "a");
    assertThat(why.reasons())
        .singleElement()
        .satisfies(
            reason -> {
              assertThat(reason.kind()).isEqualTo(Explanation.Kind.DEADLINE);
              assertThat(reason.message()).contains("complete by");
            });
    world.configure(config(", \"complete_by\": false"));
    assertThat(world.running).hasSize(1);
  }

  @Test
  void aDeadlineOfThePastStartsNothing() {
    world.configure(config(", \"complete_by\": 1"));
    assertThat(world.launches).isEmpty();
    assertThat(world.loop.isQuiet()).isTrue();
  }

  @Test
  void aRunningTaskIsGivenMoreTime() {
    world.configure(config(", \"timeout_sec\": 60"));
    long end = world.now + 60_000;
    CompletionStage<TaskDeadlines> answer = world.run(new Command.Extend("j", "a", 30_000, "", ""));
    world.settle();
    assertThat(answer.toCompletableFuture().join().timeoutAtMillis()).isEqualTo(end + 30_000);
    assertThat(world.extensions).containsExactly("j/a 30000");
    assertThat(world.events.get(world.events.size() - 1).kind()).isEqualTo("task_extended");
    world.advance(85_000);
    assertThat(findings().overdue()).isZero();
    assertThat(world.kills).isEmpty();
  }

  /** It begins with the task, which may be long after the start of the process. */
  @Test
  void theTimeOfATaskOfABatchIsWatchedByItsRunnerAlone() {
    world.configure(config(", \"timeout_sec\": 60, \"batch\": {\"max\": 2}"));
    world.advance(600_000);
    assertThat(findings().overdue()).isZero();
    assertThat(world.kills).isEmpty();
    CompletionStage<TaskDeadlines> answer = world.run(new Command.Extend("j", "a", 30_000, "", ""));
    world.settle();
    assertThat(answer.toCompletableFuture()).isCompleted();
    assertThat(world.extensions).containsExactly("j/a 30000");
  }

  @Test
  void moreTimeBeforeTheRunnerHasItIsPassedOnLater() {
    world.storeAnswers = false;
    world.configure(config(", \"timeout_sec\": 60"));
    CompletionStage<TaskDeadlines> answer = world.run(new Command.Extend("j", "a", 30_000, "", ""));
    world.settle();
    assertThat(answer.toCompletableFuture()).isCompleted();
    assertThat(world.extensions).isEmpty();
    world.storeAnswers();
    assertThat(world.extensions).containsExactly("j/a 30000");
  }

  @ParameterizedTest
  @CsvSource({
    "j, b, 1000, is not running",
    "j, a, 1000, has no time limit",
    "nope, a, 1000, is not running"
  })
  void moreTimeIsRefusedWhereThereIsNone(String job, String node, long millis, String why) {
    world.configure(config(""));
    CompletionStage<TaskDeadlines> answer =
        world.run(new Command.Extend(job, node, millis, "", ""));
    world.settle();
    assertThatThrownBy(() -> answer.toCompletableFuture().join())
        .hasCauseInstanceOf(RefusedException.class)
        .hasMessageContaining(why);
  }

  // ---- the supervisor

  @Test
  void aTaskThatItsRunnerLeavesRunningIsFoundReportedAndStopped() {
    world.configure(config(", \"timeout_sec\": 60"));
    world.advance(60_000 + 29_000);
    assertThat(findings().overdue()).isZero();
    world.advance(PASS + 1_000);
    assertThat(findings().overdue()).isEqualTo(1);
    assertThat(view().errors().get("supervisor: overdue")).contains("j on a");
    assertThat(world.kills).containsExactly("j/a term");
    world.advance(PASS);
    assertThat(world.kills).as("harder the second time").containsExactly("j/a term", "j/a kill");
    assertThat(findings().repairs()).isEqualTo(2);
    ends(StopReason.REQUESTED);
    assertThat(stored().label()).as("an error of the task").isEqualTo(StatusLabel.ERROR_BACKOFF);
    assertThat(Objects.requireNonNull(stored().data()).toString()).contains("timed out");
    world.advance(PASS);
    assertThat(findings().overdue()).isZero();
    assertThat(view().errors()).isEmpty();
  }

  @Test
  void aStartThatIsNeverDurableIsReported() {
    world.storeAnswers = false;
    world.configure(config(""));
    world.advance(65_000);
    world.advance(PASS);
    assertThat(findings().starting()).isEqualTo(1);
    assertThat(view().errors().get("supervisor: starting")).contains("j on a");
    world.storeAnswers();
    world.advance(PASS);
    assertThat(findings().starting()).isZero();
    assertThat(view().errors()).isEmpty();
  }

  @Test
  void aKillWithoutEffectIsRepeated() {
    world.configure(
        config(", \"kill_subprocess\": {\"method\": \"term_wait_kill\", \"kill_wait_ms\": 5000}"));
    var unused = world.run(new Command.Kill("j", "a", "", ""));
    world.settle();
    assertThat(world.kills).hasSize(1);
    world.advance(34_000);
    assertThat(findings().unanswered()).isZero();
    world.advance(PASS + 1_000);
    assertThat(findings().unanswered()).isEqualTo(1);
    assertThat(world.kills).containsExactly("j/a term_wait_kill", "j/a kill");
  }

  @Test
  void aTermThatATaskMayIgnoreIsRepeatedAsTerm() {
    world.configure(config(""));
    var unused = world.run(new Command.Kill("j", "a", "", ""));
    world.advance(50_000);
    world.advance(PASS);
    assertThat(world.kills).isNotEmpty().allMatch("j/a term"::equals);
  }

  @Test
  void slotsOfATaskThatTheRunnerDoesNotHaveAreFreed() {
    world.configure(config(""));
    world.advance(PASS);
    world.running.clear();
    world.lostEnds = true;
    var unused = world.run(new Command.Pause("j", 0, "", ""));
    world.advance(PASS);
    assertThat(world.loop.liveCount()).as("its end may be on its way").isEqualTo(1);
    assertThat(findings().leaked()).isZero();
    world.advance(PASS);
    assertThat(findings().leaked()).isEqualTo(1);
    assertThat(world.loop.liveCount()).isZero();
    assertThat(stored().label()).isEqualTo(StatusLabel.LOST);
    world.advance(PASS);
    assertThat(findings().leaked()).isZero();
    assertThat(view().errors()).isEmpty();
  }

  @Test
  void slotsHeldForNobodyAreReported() {
    world.configure(config(""));
    long run = world.core.adopt("j", "b", WorkerRef.LOCAL);
    world.advance(PASS);
    world.advance(PASS);
    assertThat(findings().leaked()).isEqualTo(1);
    assertThat(view().errors().get("supervisor: slots")).contains("j on b (not alive)");
    world.core.finish(run, null);
    world.advance(PASS);
    assertThat(findings().leaked()).isZero();
  }

  @Test
  void withoutLiveTasksItSleeps() {
    world.configure(config(""));
    world.writes("j", "a", "done");
    world.advance(PASS);
    long passes = findings().passes();
    for (int i = 0; i < 10; i++) {
      world.advance(PASS);
    }
    assertThat(findings().passes()).isEqualTo(passes);
  }

  // ---- what else counts

  @Test
  void aForgivenTaskAtTheBoundOfAttemptsGetsThemAnew() {
    LoopWorld bounded = new LoopWorld(2);
    bounded.configure(config(""));
    bounded.writes("j", "a", "error_backoff");
    bounded.advance(1_000);
    bounded.writes("j", "a", "error_backoff");
    assertThat(bounded.row("j", "a").status().label()).isEqualTo(StatusLabel.FAILED);
    var unused = bounded.run(new Command.Forgive(TaskSelection.all("j", "", "")));
    bounded.settle();
    assertThat(bounded.launch("j", "a").attempt()).isEqualTo(1);
    bounded.writes("j", "a", "error_backoff");
    assertThat(bounded.row("j", "a").status().label()).isEqualTo(StatusLabel.ERROR_BACKOFF);
    bounded.advance(1_000);
    bounded.writes("j", "a", "error_backoff");
    assertThat(bounded.row("j", "a").status().label()).isEqualTo(StatusLabel.FAILED);
  }

  @Test
  void aJobWithErrorsHasNothingReady() {
    world.configure(config(", \"priority\": -1"));
    JobProgress progress = Objects.requireNonNull(world.loop.progress().get("j"));
    assertThat(progress.ready()).isZero();
    assertThat(progress.blocked()).isEqualTo(1);
    assertThat(progress.total()).isEqualTo(1);
  }

  // ---- orphans that survive

  @Test
  void anOrphanThatOutlivesKillIsAProblemThatNamesItAndItsWorkerUntilItIsGone() {
    String killing =
        config(", \"kill_orphan_tasks_after_sec\": 0, \"kill_subprocess\": {\"method\": \"term\"}");
    world.configure(killing);
    world.configure(killing.replace("\"owner\": \"o\"", "\"owner\": \"o\", \"enabled\": false"));
    assertThat(world.kills).containsExactly("j/a term");
    world.advance(1_000);
    world.advance(2_000);
    assertThat(world.kills).containsExactly("j/a term", "j/a term", "j/a kill");
    world.advance(3_999);
    assertThat(view().errors()).doesNotContainKey("orphans");
    world.advance(1);
    world.advance(200);
    assertThat(view().errors().get("orphans"))
        .startsWith("1 orphan lives on although sent KILL: j on a")
        .contains("(4 signals)");
    assertThat(world.events)
        .filteredOn(event -> event.kind().equals("orphan_killed"))
        .last()
        .satisfies(event -> assertThat(event.data().get("survived_signals")).isEqualTo(Json.of(3)));
    ends(StopReason.REQUESTED);
    world.advance(1_000);
    world.advance(1_000);
    assertThat(view().errors()).doesNotContainKey("orphans");
  }
}
