package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.api.Command;
import io.espalier.core.api.Query;
import io.espalier.core.api.RefusedException;
import io.espalier.core.api.SelectionResult;
import io.espalier.core.api.TaskSelection;
import io.espalier.core.api.TaskSelector;
import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.JobProgress;
import io.espalier.core.api.view.RunningTaskView.Stopping;
import io.espalier.core.outcome.JobState;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.running.TaskResult;
import io.espalier.core.status.Attempt;
import io.espalier.core.status.StatusLabel;
import io.espalier.core.status.TaskKey;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tasks that operators cancel for good. */
class CancelTest {
  private static final String TWO_AT_ONCE =
      """
      {"bistro_settings": {"nodes": {"levels": ["host", "db"], "node_order": "original",
         "node_sources": [{"source": "manual", "prefs": {"h1": ["a", "b"], "h2": ["c", "d"]}}]},
         "resources": {"host": {"slots": {"default": 1, "limit": 1}}}},
       "bistro_job->j": {"owner": "o", "backoff": [1, 2, "fail"], "command": ["x"]},
       "bistro_job->after": {"owner": "o", "resources": {"slots": 0}, "depends_on": ["j"],
         "command": ["x"]},
       "bistro_job->last": {"owner": "o", "resources": {"slots": 0}, "command": ["x"],
         "run_only_after_all_nodes_are_done_for": ["j"]}}
      """;

  private final LoopWorld world = new LoopWorld();

  private static TaskSelection on(String... nodes) {
    TaskSelector some =
        new TaskSelector(
            Set.of(), "", Arrays.stream(nodes).collect(Collectors.toUnmodifiableSet()), "");
    return new TaskSelection("j", some, false, -1, "ann", "scrapped");
  }

  private SelectionResult cancel(String... nodes) {
    return world.done(new Command.Cancel(on(nodes)));
  }

  private JobProgress progress() {
    return Objects.requireNonNull(world.loop.progress().get("j"));
  }

  private JobStateRecord state(String job) {
    return Objects.requireNonNull(world.jobStates.get(job));
  }

  private Explanation explain(String job, String node) {
    return world.answer(new Query.Explain(job, node));
  }

  private List<String> reasons(String job, String node) {
    return explain(job, node).reasons().stream().map(Explanation.Reason::message).toList();
  }

  private StatusLabel status(String node) {
    return world.row("j", node).status().label();
  }

  @Test
  void aTaskThatWasNeverTriedDoesNotStartAndItsJobIsOverWithoutIt() {
    world.configure(TWO_AT_ONCE);
    assertThat(cancel("b")).extracting(SelectionResult::changed).isEqualTo(1L);
    assertThat(status("b")).isEqualTo(StatusLabel.CANCELLED);
    assertThat(reasons("j", "b")).contains("the task will not run: cancelled by ann: scrapped");
    for (String node : List.of("a", "c", "d")) {
      world.writes("j", node, "done");
    }
    assertThat(world.launches).noneMatch(l -> l.job().equals("j") && l.node().equals("b"));
    assertThat(progress())
        .extracting(JobProgress::total, JobProgress::done, JobProgress::cancelled)
        .containsExactly(4L, 3L, 1L);
    assertThat(state("j").state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(state("j").reason()).isEqualTo("all 3 tasks are done, 1 is cancelled");
    // Those that depend on it wait, and say for what.
    assertThat(reasons("after", "b")).contains("job j is not done here: cancelled");
    assertThat(reasons("last", "a"))
        .contains("waits for job j, which is done on 3 of 4 nodes; it is cancelled on b");
    world.core.verify();
  }

  @Test
  void aRunningTaskIsKilledAndEndsAsCancelledWhateverItSays() {
    world.configure(TWO_AT_ONCE);
    assertThat(cancel("a", "c").changed()).isEqualTo(2);
    assertThat(world.kills).hasSize(2);
    assertThat(status("a")).isEqualTo(StatusLabel.RUNNING);
    SelectionResult again = cancel("a");
    assertThat(again.changed()).isZero();
    assertThat(again.running()).isEqualTo(1);
    SelectionResult forgiven = world.done(new Command.Forgive(on("a")));
    assertThat(forgiven.running()).as("it has not ended yet").isEqualTo(1);
    world.end("j", "a", TaskResult.Kind.KILLED, null, null);
    world.writes("j", "c", "error_backoff");
    world.advance(60_000);
    assertThat(List.of(status("a"), status("c"))).containsOnly(StatusLabel.CANCELLED);
    assertThat(world.launches.stream().filter(l -> l.job().equals("j")).map(l -> l.node()))
        .containsExactly("a", "c", "b", "d");
    assertThat(world.attempts).extracting(Attempt::node).contains("a", "c");
    assertThat(String.valueOf(world.row("j", "a").status().data()))
        .contains("cancelled by ann: scrapped");
    world.core.verify();
  }

  private @Nullable Stopping stopping(String node) {
    return Objects.requireNonNull(world.view).running().stream()
        .filter(task -> task.job().equals("j") && task.node().equals(node))
        .findFirst()
        .orElseThrow()
        .stopping();
  }

  @Test
  void aTaskThatIsBeingStoppedSaysSoUntilItsProcessHasEnded() {
    world.configure(TWO_AT_ONCE);
    world.advance(1_000);
    assertThat(stopping("a")).isNull();
    assertThat(reasons("j", "a")).containsExactly("the task is running");
    world.done(new Command.Kill("j", "a", "ann", "it hangs"));
    Stopping asked = new Stopping(world.now, "killed by ann: it hangs");
    cancel("c");
    world.advance(1_000);
    assertThat(stopping("c")).extracting(Stopping::reason).isEqualTo("cancelled by ann: scrapped");
    cancel("a");
    world.advance(1_000);
    assertThat(stopping("a")).as("as it was first requested").isEqualTo(asked);
    assertThat(reasons("j", "a")).containsExactly("the task is running, and is being stopped");
    assertThat(Objects.requireNonNull(explain("j", "a").running()).stopping()).isEqualTo(asked);
    world.end("j", "a", TaskResult.Kind.KILLED, null, null);
    assertThat(reasons("j", "a")).noneMatch(reason -> reason.contains("being stopped"));
  }

  @Test
  void aTaskThatIsDoneStaysDone() {
    world.configure(TWO_AT_ONCE);
    cancel("a");
    world.writes("j", "a", "done");
    assertThat(status("a")).isEqualTo(StatusLabel.DONE);
    assertThat(cancel("a").matched()).isZero();
    assertThat(status("a")).isEqualTo(StatusLabel.DONE);
    assertThat(progress().cancelled()).isZero();
  }

  @Test
  void forgivingLetsItStartAgain() {
    world.configure(TWO_AT_ONCE);
    cancel("a", "b");
    world.end("j", "a", TaskResult.Kind.KILLED, null, null);
    world.writes("j", "c", "done");
    world.writes("j", "d", "done");
    assertThat(state("j").state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(world.done(new Command.Forgive(on("a", "b"))).changed()).isEqualTo(2);
    world.writes("j", "a", "done");
    world.writes("j", "b", "done");
    assertThat(world.done("j")).isEqualTo(4);
    assertThat(world.row("j", "b").status().attempts()).isEqualTo(1);
    assertThat(state("j").reason()).isEqualTo("all 4 tasks are done");
  }

  @Test
  void aFailedTaskThatIsCancelledNoLongerFailsItsJob() {
    world.configure(TWO_AT_ONCE.replace("[1, 2, \"fail\"]", "[\"fail\"]"));
    world.writes("j", "a", "error_backoff");
    for (String node : List.of("b", "c", "d")) {
      world.writes("j", node, "done");
    }
    assertThat(state("j").state()).isEqualTo(JobState.FAILED);
    cancel("a");
    assertThat(progress().failed()).isZero();
    assertThat(state("j").state()).isEqualTo(JobState.SUCCEEDED);
    world.core.verify();
  }

  @Test
  void aJobWhoseTasksAreAllCancelledIsOver() {
    world.configure(TWO_AT_ONCE);
    TaskSelection all = TaskSelection.all("j", "", "");
    assertThat(world.done(new Command.Cancel(all)).changed()).isEqualTo(4);
    world.end("j", "a", TaskResult.Kind.KILLED, null, null);
    world.end("j", "c", TaskResult.Kind.KILLED, null, null);
    assertThat(progress().cancelled()).isEqualTo(4);
    assertThat(state("j").state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(state("j").reason()).isEqualTo("nothing is left to run, 4 are cancelled");
    assertThat(world.row("j", "b").status().data()).hasToString("{\"exception\":\"cancelled\"}");
  }

  @Test
  void whatDiedWithTheSchedulerIsCancelled() {
    world.configure(TWO_AT_ONCE);
    cancel("a", "b");
    world.crashAndRestart();
    world.configure(TWO_AT_ONCE);
    assertThat(List.of(status("a"), status("b"))).containsOnly(StatusLabel.CANCELLED);
    world.writes("j", "c", "done");
    world.advance(60_000);
    assertThat(world.running).doesNotContainKeys(new TaskKey("j", "a"), new TaskKey("j", "b"));
    world.core.verify();
  }

  @Test
  void aTaskThatOutlivesTheSchedulerIsKilledAgain() {
    world.isRemote = true;
    world.configure(TWO_AT_ONCE);
    cancel("a");
    world.kills.clear();
    world.crashAndRestart();
    world.configure(TWO_AT_ONCE);
    assertThat(world.kills).singleElement().asString().startsWith("j/a ");
    world.end("j", "a", TaskResult.Kind.KILLED, null, null);
    assertThat(status("a")).isEqualTo(StatusLabel.CANCELLED);
    world.core.verify();
  }

  @Test
  void aPreviewCancelsNothingAndNodesWithoutTasksAreRefused() {
    world.configure(TWO_AT_ONCE);
    TaskSelector all = new TaskSelector(Set.of(), "", Set.of(), "");
    TaskSelection preview = new TaskSelection("j", all, true, -1, "", "");
    SelectionResult would = world.done(new Command.Cancel(preview));
    assertThat(would.matched()).isEqualTo(4);
    assertThat(would.samples()).containsExactly("a", "b", "c", "d");
    assertThat(world.kills).isEmpty();
    CompletionStage<SelectionResult> unknown = world.run(new Command.Cancel(on("a", "x", "h1")));
    world.settle();
    assertThatThrownBy(() -> unknown.toCompletableFuture().join())
        .hasCauseInstanceOf(RefusedException.class)
        .hasMessageContaining("job j has no task on h1, x; nothing was changed");
    assertThat(world.kills).isEmpty();
  }
}
