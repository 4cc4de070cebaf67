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
import io.espalier.core.api.view.LimitView;
import io.espalier.core.event.Event;
import io.espalier.core.json.Json;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.TaskResult;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.status.StatusLabel;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.core.status.store.Pause;
import io.espalier.core.status.store.StatusRow;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** What operators do to limits, jobs and tasks while all goes on. */
class OperatorsTest {
  private static final String TWO_HOSTS =
      """
      {"bistro_settings": {"nodes": {"levels": ["host", "db"], "node_order": "original",
         "node_sources": [
           {"source": "manual", "prefs": {"h1": ["a", "b", "c"], "h2": ["d", "e", "f"]}}]},
         "resources": {"host": {"slots": {"default": 1, "limit": 1}},
                       "worker": {"threads": {"default": 1, "limit": 9}}}},
       "bistro_job->j": {"owner": "o", "backoff": [1, 2, "fail"], "command": ["x"]},
       "bistro_job->after": {"owner": "o", "resources": {"slots": 0}, "depends_on": ["j"],
         "command": ["x"]}}
      """;

  private final LoopWorld world = new LoopWorld();

  private static TaskKey key(String node) {
    return new TaskKey("j", node);
  }

  private void refused(CompletionStage<?> stage, RefusedException.Reason reason, String says) {
    world.settle();
    assertThatThrownBy(() -> stage.toCompletableFuture().join())
        .hasCauseInstanceOf(RefusedException.class)
        .hasMessageContaining(says)
        .satisfies(
            e ->
                assertThat(((RefusedException) Objects.requireNonNull(e.getCause())).reason())
                    .isEqualTo(reason));
  }

  private CompletionStage<LimitView> limit(String node, int limit, long millis) {
    return world.run(
        new Command.SetLimit(
            new LimitOverride("host", "slots", node, limit, "ann", "disk full", 0, 0), millis));
  }

  /** The start of b is committed before the pause, so the runner has it before the answer. */
  @Test
  void nothingStartsAfterAPauseWasAnswered() {
    world.configure(TWO_HOSTS);
    world.storeAnswers = false;
    world.writes("j", "a", "done");
    assertThat(world.running).doesNotContainKey(key("b"));
    Set<TaskKey> atAnswer = new HashSet<>();
    CompletionStage<Void> answered =
        world
            .run(new Command.Pause("j", 0, "ann", "disk full"))
            .thenRun(() -> atAnswer.addAll(world.running.keySet()));
    world.settle();
    world.storeAnswers();
    world.done(answered);
    assertThat(atAnswer).contains(key("b")).isEqualTo(world.running.keySet());
  }

  // ---- limits

  @Test
  void aRaisedLimitStartsMoreAtOnceAndALoweredOneKillsNothing() {
    world.configure(TWO_HOSTS);
    assertThat(world.running).containsOnlyKeys(key("a"), key("d"));
    LimitView raised = world.done(limit("h1", 3, 0));
    assertThat(raised.configured()).isEqualTo(1);
    assertThat(world.running).containsOnlyKeys(key("a"), key("b"), key("c"), key("d"));
    world.done(limit("h1", 1, 0));
    assertThat(world.kills).isEmpty();
    world.writes("j", "a", "error_backoff");
    world.advance(5_000);
    assertThat(world.running).doesNotContainKey(key("a"));
    world.writes("j", "b", "done");
    world.writes("j", "c", "done");
    assertThat(world.running).containsKey(key("a"));
    world.core.verify();
  }

  @Test
  void theLimitOfANodeCountsMoreThanThatOfItsLevel() {
    world.configure(TWO_HOSTS);
    world.done(limit("", 2, 0));
    assertThat(world.running).containsOnlyKeys(key("a"), key("b"), key("d"), key("e"));
    world.done(limit("h2", 0, 0));
    world.done(new Command.EndLimit(new LimitOverride.Key("host", "slots", ""), "bob", "over"));
    world.writes("j", "d", "done");
    world.writes("j", "e", "done");
    assertThat(world.running.keySet()).filteredOn(k -> k.job().equals("j")).hasSize(2);
    assertThat(world.answer(new Query.Limits()))
        .singleElement()
        .satisfies(view -> assertThat(view.override().node()).isEqualTo("h2"));
    assertThat(world.newest("limit_changed").data().get("author")).isEqualTo(Json.of("bob"));
    world.done(new Command.EndLimit(new LimitOverride.Key("host", "slots", "h2"), "", ""));
    assertThat(world.running).containsKey(key("f"));
    assertThat(world.limits).isEmpty();
    world.core.verify();
  }

  @Test
  void anOverrideEndsByItselfAndSaysSo() {
    world.configure(TWO_HOSTS);
    world.done(limit("h1", 0, 60_000));
    world.writes("j", "a", "done");
    assertThat(world.running).containsOnlyKeys(key("d"), new TaskKey("after", "a"));
    world.advance(59_999);
    assertThat(world.running).doesNotContainKey(key("b"));
    world.advance(1);
    assertThat(world.running).containsKey(key("b"));
    assertThat(world.limits).isEmpty();
    assertThat(world.newest("limit_changed").data().get("expired")).isEqualTo(Json.Bool.TRUE);
  }

  @Test
  void overridesSurviveRestartsReloadsAndNodesThatComeAndGo() {
    world.configure(TWO_HOSTS);
    world.done(limit("h1", 0, 60_000));
    world.crashAndRestart();
    world.configure(TWO_HOSTS);
    assertThat(world.running).containsOnlyKeys(key("d"));
    world.configure(TWO_HOSTS.replace("\"h1\"", "\"h3\""));
    assertThat(world.running).containsKey(key("a"));
    world.configure(TWO_HOSTS);
    world.writes("j", "a", "done");
    assertThat(world.running).doesNotContainKey(key("b"));
    world.configure(TWO_HOSTS.replace("\"limit\": 1", "\"limit\": 2"));
    assertThat(world.running).containsKey(key("e")).doesNotContainKey(key("b"));
    world.core.verify();
    world.crashAndRestart();
    world.now += 60_000;
    world.configure(TWO_HOSTS);
    assertThat(world.running).containsKey(key("b"));
    assertThat(world.limits).isEmpty();
  }

  @Test
  void explainSaysThatALimitIsAnOverrideWhyAndUntilWhen() {
    world.configure(TWO_HOSTS);
    world.done(limit("", 0, 60_000));
    Explanation.Reason reason = world.core.tasks().explain("j", "b").reasons().get(0);
    assertThat(reason.limit()).isZero();
    assertThat(reason.message())
        .contains("needs 1 of slots, 0 of 0 are free; it can never start while the limit is 0")
        .contains("; the limit of 0 is an override of the")
        .contains("configured 1 for all of level host by ann until 1970-01-01T00:17:40Z")
        .endsWith("(disk full)");
  }

  @Test
  void theOwnHostIsAWorkerOfTheNameOfTheInstance() {
    world.configure(TWO_HOSTS);
    world.done(
        new Command.SetLimit(
            new LimitOverride("worker", "threads", "instance-node", 2, "", "", 0, 0), 0));
    assertThat(world.done(limit("h1", 3, 0)).override().limit()).isEqualTo(3);
    assertThat(world.running).hasSize(2);
    assertThat(world.core.tasks().explain("j", "b").reasons().get(0).message())
        .isEqualTo(
            "needs 1 of threads, 0 of 2 are free on this host; the limit of 2 is an override");
    world.core.verify();
  }

  @Test
  void whatIsNotThereIsSaidWithAHint() {
    world.configure(TWO_HOSTS);
    refused(
        limit("h11", 1, 0),
        RefusedException.Reason.UNKNOWN,
        "level host has no node \"h11\": did you mean \"h1\"?");
    refused(
        world.run(
            new Command.SetLimit(new LimitOverride("hosts", "slots", "", 1, "", "", 0, 0), 0)),
        RefusedException.Reason.UNKNOWN,
        "there is no level \"hosts\": did you mean \"host\"?");
    refused(
        world.run(new Command.SetLimit(new LimitOverride("db", "slots", "", 1, "", "", 0, 0), 0)),
        RefusedException.Reason.UNKNOWN,
        "level db has no resource \"slots\"");
    refused(
        world.run(
            new Command.SetLimit(new LimitOverride("worker", "threads", "w", 1, "", "", 0, 0), 0)),
        RefusedException.Reason.UNKNOWN,
        "there is no worker \"w\"");
    refused(
        world.run(new Command.EndLimit(new LimitOverride.Key("host", "slots", "h1"), "", "")),
        RefusedException.Reason.UNKNOWN,
        "nobody overrides the limit of slots on h1 of level host");
    assertThat(world.limits).isEmpty();
  }

  @Test
  void aLimitIsAnsweredOnceItIsDurable() {
    world.configure(TWO_HOSTS);
    world.storeAnswers = false;
    CompletionStage<LimitView> set = limit("h1", 3, 0);
    world.settle();
    assertThat(set.toCompletableFuture()).isNotDone();
    world.storeAnswers();
    assertThat(set.toCompletableFuture()).isCompleted();
  }

  // ---- pauses

  @Test
  void aPauseEndsByItselfAlsoOverARestart() {
    world.configure(TWO_HOSTS);
    world.done(new Command.Pause("j", 60_000, "ann", "busy"));
    assertThat(world.pauses.values())
        .containsExactly(new Pause("j", "ann", "busy", world.now, world.now + 60_000));
    world.advance(1_000);
    assertThat(Objects.requireNonNull(world.view).pauses()).containsOnlyKeys("j");
    world.crashAndRestart();
    world.configure(TWO_HOSTS);
    assertThat(world.running).isEmpty();
    assertThat(world.loop.isQuiet()).isFalse();
    world.advance(58_999);
    assertThat(world.running).isEmpty();
    world.advance(1);
    assertThat(world.running).containsOnlyKeys(key("a"), key("d"));
    assertThat(world.pauses).isEmpty();
    assertThat(world.newest("job_resumed").data().get("expired")).isEqualTo(Json.Bool.TRUE);
  }

  /** The core has gates of nodes too; their ends are none of pauses. */
  @Test
  void aPauseOutlivesTheEndOfAClosedNodeOfTheSameName() {
    world.configure(TWO_HOSTS.replace("h1", "j"));
    world.done(new Command.Pause("j", 0, "ann", "for good"));
    Scope node = Scope.node("host", "j");
    world.core.gates().close(new Gate(GateKind.NODE_CLOSED, node, "ann", "", 0, world.now + 1_000));
    world.advance(2_000);
    assertThat(world.pauses).containsOnlyKeys("j");
    assertThat(world.events).extracting(Event::kind).doesNotContain("job_resumed");
    assertThat(world.core.gates().of(GateKind.NODE_CLOSED)).hasSize(1);
  }

  @Test
  void aNewPauseReplacesAnOlderOneAndItsEnd() {
    world.configure(TWO_HOSTS);
    world.done(new Command.Pause("j", 1_000, "", ""));
    world.done(new Command.Pause("j", 0, "", "for good"));
    world.writes("j", "a", "done");
    world.advance(100_000);
    assertThat(world.running).doesNotContainKey(key("b"));
    world.done(new Command.Resume("j", "ann", "again"));
    assertThat(world.running).containsKey(key("b"));
    refused(
        world.run(new Command.Resume("j", "", "")),
        RefusedException.Reason.CONFLICT,
        "is not paused");
  }

  @Test
  void stopPausesAndKillsAllThatRuns() {
    world.configure(TWO_HOSTS);
    assertThat(world.done(new Command.Stop("j", "ann", "wrong data"))).isEqualTo(2);
    assertThat(world.kills).containsExactlyInAnyOrder("j/a term", "j/d term");
    world.end("j", "a", TaskResult.Kind.KILLED, null, null);
    world.advance(10_000);
    assertThat(world.running).containsOnlyKeys(key("d"));
    assertThat(world.pauses).containsOnlyKeys("j");
    refused(
        world.run(new Command.Stop("nope", "", "")),
        RefusedException.Reason.UNKNOWN,
        "no such job: nope");
  }

  @Test
  void runningTasksOfASelectionAreKilledAndTheirJobGoesOn() {
    world.configure(TWO_HOSTS);
    SelectionResult preview =
        world.done(new Command.KillTasks(selection(TaskSelector.ALL, true, -1)));
    assertThat(preview).isEqualTo(new SelectionResult("j", 2, 0, List.of("a", "d"), true, 0));
    refused(
        world.run(new Command.KillTasks(selection(TaskSelector.ALL, false, 3))),
        RefusedException.Reason.CONFLICT,
        "2 tasks match, not 3");
    assertThat(world.kills).isEmpty();
    TaskSelector some = new TaskSelector(Set.of(), "", Set.of("a", "b"), "");
    SelectionResult killed = world.done(new Command.KillTasks(selection(some, false, 1)));
    assertThat(killed).isEqualTo(new SelectionResult("j", 1, 0, List.of("a"), false, 1));
    assertThat(world.kills).containsExactly("j/a term");
    assertThat(world.newest("task_kill_requested").data().get("node")).isEqualTo(Json.of("a"));
    assertThat(world.newest("task_kill_requested").data().get("author")).isEqualTo(Json.of("ann"));
    assertThat(world.newest("task_kill_requested").data().get("reason"))
        .isEqualTo(Json.of("bad data"));
    // Those that are cancelled and still run can be killed again.
    world.done(new Command.Cancel(selection(with(StatusLabel.RUNNING), false, 2)));
    assertThat(world.done(new Command.KillTasks(selection(TaskSelector.ALL, false, 2))).changed())
        .isEqualTo(2);
    assertThat(world.kills).hasSize(5);
    world.end("j", "a", TaskResult.Kind.KILLED, null, null);
    assertThat(world.row("j", "a").status().label()).isEqualTo(StatusLabel.CANCELLED);
    assertThat(world.running).containsKey(key("b"));
    refused(
        world.run(new Command.KillTasks(TaskSelection.all("nope", "", ""))),
        RefusedException.Reason.UNKNOWN,
        "no such job: nope");
    world.core.verify();
  }

  @Test
  void aKilledSelectionLeavesTheStatusToTheEnd() {
    world.configure(TWO_HOSTS);
    world.done(new Command.KillTasks(selection(TaskSelector.ALL, false, -1)));
    assertThat(world.row("j", "a").status().isCancelled()).isFalse();
    world.writes("j", "a", "done");
    assertThat(world.row("j", "a").status().label()).isEqualTo(StatusLabel.DONE);
  }

  // ---- rerun and forgive

  private TaskSelection selection(TaskSelector selector, boolean preview, long expect) {
    return new TaskSelection("j", selector, preview, expect, "ann", "bad data");
  }

  private static TaskSelector with(StatusLabel... labels) {
    return new TaskSelector(Set.of(labels), "", Set.of(), "");
  }

  @Test
  void doneTasksRunAgainAndWhatDependsOnThemWaitsAgain() {
    world.configure(TWO_HOSTS);
    world.writes("j", "a", "done");
    world.done(new Command.Pause("after", 0, "", ""));
    world.writes("j", "d", "done");
    world.writes("after", "a", "done");
    SelectionResult preview =
        world.done(new Command.Rerun(selection(with(StatusLabel.DONE), true, 2)));
    assertThat(preview).isEqualTo(new SelectionResult("j", 2, 0, List.of("a", "d"), true, 0));
    assertThat(world.done("j")).isEqualTo(2);
    SelectionResult rerun =
        world.done(new Command.Rerun(selection(with(StatusLabel.DONE), false, 2)));
    assertThat(rerun.changed()).isEqualTo(2);
    assertThat(world.done("j")).isZero();
    assertThat(world.row("j", "a").status().label()).isEqualTo(StatusLabel.UNSTARTED);
    assertThat(world.newest("rerun").data().get("author")).isEqualTo(Json.of("ann"));
    world.core.verify();
    world.done(new Command.Resume("after", "", ""));
    assertThat(world.running.keySet()).noneMatch(k -> k.job().equals("after"));
    assertThat(world.core.tasks().explain("after", "d").reasons())
        .extracting(Explanation.Reason::kind)
        .contains(Explanation.Kind.DEPENDENCY);
    world.writes("j", "b", "done");
    assertThat(world.launch("j", "a").attempt()).isEqualTo(1);
    world.crashAndRestart();
    world.configure(TWO_HOSTS);
    assertThat(world.running).containsKey(key("a")).doesNotContainKey(key("b"));
  }

  @Test
  void aTaskThatWasMadeToRunAgainDoesSoAfterACrash() {
    world.configure(TWO_HOSTS);
    world.writes("j", "a", "failed");
    world.done(new Command.Pause("j", 0, "", ""));
    world.done(new Command.Rerun(selection(TaskSelector.ALL, false, -1)));
    world.crashAndRestart();
    world.configure(TWO_HOSTS);
    assertThat(
            world.core.tasks().status(world.core.findJob("j"), world.core.topology().find(2, "a")))
        .isNull();
    world.done(new Command.Resume("j", "", ""));
    assertThat(world.running).containsKey(key("a"));
  }

  @Test
  void runningTasksAreNeverTouched() {
    world.configure(TWO_HOSTS);
    world.writes("j", "a", "error_backoff");
    SelectionResult rerun = world.done(new Command.Rerun(selection(TaskSelector.ALL, false, -1)));
    assertThat(rerun).isEqualTo(new SelectionResult("j", 1, 2, List.of("a"), false, 1));
    assertThat(world.running).containsOnlyKeys(key("b"), key("d"));
    assertThat(world.row("j", "b").status().label()).isEqualTo(StatusLabel.RUNNING);
    world.core.verify();
  }

  @Test
  void anotherNumberThanExpectedChangesNothing() {
    world.configure(TWO_HOSTS);
    world.writes("j", "a", "done");
    refused(
        world.run(new Command.Rerun(selection(TaskSelector.ALL, false, 2))),
        RefusedException.Reason.CONFLICT,
        "1 tasks match, not 2 as expected; nothing was changed");
    assertThat(world.done("j")).isEqualTo(1);
    refused(
        world.run(new Command.Rerun(new TaskSelection("nope", TaskSelector.ALL, true, -1, "", ""))),
        RefusedException.Reason.UNKNOWN,
        "no such job: nope");
  }

  @Test
  void allThatASelectorSaysMustHold() {
    world.configure(TWO_HOSTS);
    world.writes("j", "a", "failed");
    world.writes("j", "b", "failed");
    world.writes("j", "d", "failed");
    TaskSelector some =
        new TaskSelector(Set.of(StatusLabel.FAILED), "", Set.of("a", "d", "e", "nowhere"), "");
    assertThat(world.done(new Command.Forgive(selection(some, true, -1))).matched()).isEqualTo(2);
    TaskSelector one = new TaskSelector(Set.of(), "b", Set.of(), "");
    assertThat(world.done(new Command.Forgive(selection(one, false, 1))).changed()).isEqualTo(1);
    assertThat(world.row("j", "b").status().label()).isNotEqualTo(StatusLabel.FAILED);
    assertThat(world.row("j", "a").status().label()).isEqualTo(StatusLabel.FAILED);
    assertThat(world.newest("forgiven").data().get("tasks")).isEqualTo(Json.of(1));
  }

  @Test
  void tasksAreChosenByTheCauseOfTheirFailure() {
    world.configure(TWO_HOSTS);
    world.writes("j", "a", "{\"result\": \"failed\", \"data\": {\"error\": \"disk 7 is full\"}}");
    world.writes("j", "b", "{\"result\": \"failed\", \"data\": {\"error\": \"no such table\"}}");
    world.writes("j", "d", "{\"result\": \"failed\", \"data\": {\"error\": \"disk 8 is full\"}}");
    int job = world.core.findJob("j");
    int node = world.core.topology().find(2, "a");
    String cause =
        Objects.requireNonNull(
                Objects.requireNonNull(world.core.tasks().status(job, node)).failure())
            .fingerprint();
    TaskSelector some = new TaskSelector(Set.of(), "", Set.of(), cause);
    SelectionResult rerun = world.done(new Command.Rerun(selection(some, false, 2)));
    assertThat(rerun.samples()).containsExactly("a", "d");
    assertThat(world.row("j", "b").status().label()).isEqualTo(StatusLabel.FAILED);
  }

  /** Configures 20,000 tasks that have that status, and pauses them. */
  private void manyTasks(TaskStatus.Main status) {
    for (int i = 1; i <= 20_000; i++) {
      TaskStatus stored = TaskStatus.of(status, 1, 1);
      StatusRow row = new StatusRow("j", "instance-node__" + i, stored, new Invocation(1, i, 1));
      world.stored.put(row.key(), row);
    }
    world.configure(
        """
        {"bistro_settings": {"resources": {}, "nodes": {"levels": ["db"], "node_sources": [
           {"source": "range_label",
            "prefs": {"parent_level": "instance", "start": 1, "end": 20000}}]}},
         "bistro_job->j": {"owner": "o", "command": ["x"]}}
        """);
    world.done(new Command.Pause("j", 0, "", ""));
  }

  @Test
  void manyTasksGoInSlicesThatTheStoreCanFollow() {
    manyTasks(TaskStatus.Main.DONE);
    assertThat(world.done("j")).isEqualTo(20_000);
    world.storeAnswers = false;
    CompletionStage<SelectionResult> rerun =
        world.run(new Command.Rerun(selection(with(StatusLabel.DONE), false, 20_000)));
    world.settle();
    assertThat(world.done("j")).isBetween(10_000L, 19_999L);
    world.storeAnswers();
    assertThat(world.done(rerun).changed()).isEqualTo(20_000);
    assertThat(world.done("j")).isZero();
    assertThat(world.stored.values()).allMatch(row -> row.status().attempts() == 0);
    world.core.verify();
  }

  @Test
  void theEventOfAKillNamesItsAuthorAndReason() {
    world.configure(TWO_HOSTS);
    world.done(new Command.Kill("j", "a", "ann", "stuck"));
    assertThat(world.newest("task_kill_requested").data().members())
        .containsEntry("author", Json.of("ann"))
        .containsEntry("reason", Json.of("stuck"));
  }

  @Test
  void forgivingAWholeJobWaitsForASlowStore() {
    manyTasks(TaskStatus.Main.FAILED);
    world.storeAnswers = false;
    CompletionStage<SelectionResult> forgiven =
        world.run(new Command.Forgive(TaskSelection.all("j", "", "")));
    world.settle();
    assertThat(Objects.requireNonNull(world.loop.progress().get("j")).failed())
        .isBetween(10_000L, 19_999L);
    world.storeAnswers();
    assertThat(world.done(forgiven).changed()).isEqualTo(20_000);
    assertThat(Objects.requireNonNull(world.loop.progress().get("j")).failed()).isZero();
  }
}
