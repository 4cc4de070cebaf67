package io.espalier.core.loop;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.api.Command;
import io.espalier.core.api.Query;
import io.espalier.core.api.RefusedException;
import io.espalier.core.api.SelectionResult;
import io.espalier.core.api.TaskSelection;
import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.TaskPage;
import io.espalier.core.event.Event;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.TaskResult;
import io.espalier.core.status.StatusLabel;
import io.espalier.core.status.TaskKey;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The loop, driven by hand with the production core. */
class SchedulerLoopTest {
  private static final String ONE_HOST =
      """
      {"bistro_settings": {
         "nodes": {"levels": ["host", "db"], "node_order": "original", "node_sources": [
           {"source": "manual", "prefs": {"h": ["a", "b", "c"]}}]},
         "resources": {"host": {"slots": {"default": 1, "limit": 2}}},
         "backoff": [1, 2, 4, "fail"], "kill_orphan_tasks_after_sec": 0},
       "bistro_job->j": {"owner": "o", "config": {"x": 1}}}
      """;
  private static final String NO_JOB = ONE_HOST.replaceAll("(?s),\\s*\"bistro_job.*", "}");

  private final LoopWorld world = new LoopWorld();

  @Test
  void startsWhatTheLimitAllowsAndGoesOnAsTasksEnd() {
    world.configure(ONE_HOST);
    assertThat(world.running.keySet()).containsExactly(key("a"), key("b"));
    world.writes("j", "a", "done");
    assertThat(world.running.keySet()).containsExactly(key("b"), key("c"));
    world.writes("j", "b", "done");
    world.writes("j", "c", "done");
    assertThat(world.loop.isQuiet()).isTrue();
    assertThat(world.launches).hasSize(3);
    assertThat(world.done("j")).isEqualTo(3);
    assertThat(world.loop.stats().placements()).isEqualTo(3);
    assertThat(world.loop.stats().live()).isZero();
    long rounds = world.loop.stats().rounds();
    assertThat(rounds).isPositive();
    world.advance(10_000);
    assertThat(world.loop.stats().rounds()).as("idle steps are no rounds").isEqualTo(rounds);
  }

  @Test
  void nothingReachesTheRunnerBeforeItsStartIsDurable() {
    world.storeAnswers = false;
    world.configure(ONE_HOST);
    assertThat(world.loop.liveCount()).isEqualTo(2);
    assertThat(world.running).isEmpty();
    world.storeAnswers();
    assertThat(world.running).hasSize(2);
    assertThat(world.row("j", "a").status().label()).isEqualTo(StatusLabel.RUNNING);
    assertThat(world.row("j", "a").invocation()).isEqualTo(world.launch("j", "a").invocation());
  }

  @Test
  void nothingStartsWhileTheStoreCannotFollow() {
    world.saturated = true;
    world.configure(ONE_HOST);
    assertThat(world.loop.liveCount()).isZero();
    assertThat(world.loop.stats().saturated()).isPositive();
    assertThat(world.loop.stats().placements()).isZero();
    world.saturated = false;
    world.settle();
    assertThat(world.loop.liveCount()).isEqualTo(2);
  }

  @Test
  void anErrorWaitsItsIntervalAndTheNextAttemptSeesIt() {
    world.configure(ONE_HOST);
    world.writes("j", "a", "{\"result\": \"error_backoff\", \"data\": {\"at\": 5}}");
    world.advance(999);
    assertThat(world.running).doesNotContainKey(key("a"));
    world.writes("j", "b", "done");
    world.writes("j", "c", "done");
    world.advance(1);
    assertThat(world.running).containsOnlyKeys(key("a"));
    assertThat(world.launch("j", "a").attempt()).isEqualTo(2);
    assertThat(world.launch("j", "a").argument().toString())
        .contains("\"result_bits\":96")
        .contains("\"data\":{\"at\":5}")
        .contains("\"backoff_duration\":1");
  }

  @Test
  void aRefusedStartIsNoAttemptAndWaitsAsLongAsItsWorkerSaidAndExplainSaysWhy() {
    world.configure(ONE_HOST);
    world.refuses("j", "a", "the worker is draining", 5_000);
    assertThat(world.core.tasks().explain("j", "a").reasons())
        .anySatisfy(
            reason -> {
              assertThat(reason.kind()).isEqualTo(Explanation.Kind.BACKOFF);
              assertThat(reason.message())
                  .isEqualTo("the task is backing off: not started: the worker is draining");
              assertThat(reason.untilMillis()).isEqualTo(world.now + 5_000);
            });
    world.writes("j", "b", "done");
    world.writes("j", "c", "done");
    world.advance(4_999);
    assertThat(world.running).doesNotContainKey(key("a"));
    world.advance(1);
    assertThat(world.launch("j", "a").attempt()).isEqualTo(1);
  }

  @Test
  void theTaskArgumentHasAllThatBistroPromises() {
    world.configure(ONE_HOST);
    assertThat(world.launch("j", "a").argument().toString())
        .isEqualTo(
            "{\"id\":\"j\",\"path_to_node\":[\"instance-node\",\"h\",\"a\"],\"config\":{\"x\":1},"
                + "\"resources_by_node\":{\"h\":{\"slots\":1}},\"worker_node\":\"shard\","
                + "\"worker_host\":\"testhost\"}");
  }

  @Test
  void exhaustedBackoffFailsAndForgiveLetsItStartAgainAlsoAfterARestart() {
    world.configure(ONE_HOST.replace("[1, 2, 4, \"fail\"]", "[\"fail\"]"));
    world.writes("j", "a", "error_backoff");
    assertThat(world.row("j", "a").status().label()).isEqualTo(StatusLabel.FAILED);
    CompletionStage<SelectionResult> forgiven =
        world.run(new Command.Forgive(TaskSelection.all("j", "", "")));
    world.settle();
    assertThat(forgiven.toCompletableFuture().join().changed()).isEqualTo(1);
    assertThat(world.row("j", "a").status().label()).isNotEqualTo(StatusLabel.FAILED);
    world.crashAndRestart();
    world.configure(ONE_HOST);
    assertThat(world.running).containsKey(key("a"));
  }

  @Test
  void forgivingAnUnknownJobIsRefused() {
    world.configure(ONE_HOST);
    CompletionStage<SelectionResult> forgiven =
        world.run(new Command.Forgive(TaskSelection.all("nope", "", "")));
    world.settle();
    assertThatThrownBy(() -> forgiven.toCompletableFuture().join())
        .hasCauseInstanceOf(RefusedException.class)
        .hasMessageContaining("nope");
  }

  @Test
  void afterACrashNothingDoneRunsAgainAndWhatRanIsTakenUpAtOnce() {
    world.configure(ONE_HOST);
    world.writes("j", "a", "done");
    world.writes("j", "b", "error_backoff");
    Invocation before = world.launch("j", "c").invocation();
    world.crashAndRestart();
    world.launches.clear();
    world.configure(ONE_HOST);
    assertThat(world.running).containsOnlyKeys(key("c"));
    assertThat(world.launch("j", "c").attempt()).isEqualTo(2);
    assertThat(world.launch("j", "c").invocation().epoch()).isGreaterThan(before.epoch());
    world.advance(1_000);
    assertThat(world.running).containsOnlyKeys(key("b"), key("c"));
    world.writes("j", "b", "error_backoff");
    world.advance(1_999);
    assertThat(world.running).doesNotContainKey(key("b"));
    world.advance(1);
    assertThat(world.running).containsKey(key("b"));
  }

  @Test
  void whatDiedWithTheSchedulerIsAnAttemptOnce() {
    world.configure(ONE_HOST);
    Invocation died = world.launch("j", "a").invocation();
    world.advance(3_000);
    world.crashAndRestart();
    world.configure(ONE_HOST);
    assertThat(world.attempts)
        .filteredOn(attempt -> attempt.node().equals("a"))
        .singleElement()
        .satisfies(
            attempt -> {
              assertThat(attempt.invocation()).isEqualTo(died);
              assertThat(attempt.number()).isEqualTo(1);
              assertThat(attempt.kind()).isEqualTo(TaskResult.Kind.LOST);
              assertThat(attempt.message()).isEqualTo("the scheduler ended while the task ran");
              assertThat(attempt.waitedMillis()).isZero();
              assertThat(attempt.failure()).as("nothing of its own").isNull();
            });
    world.writes("j", "a", "done");
    assertThat(world.attempts)
        .filteredOn(attempt -> attempt.node().equals("a"))
        .extracting(attempt -> attempt.number())
        .containsExactly(1, 2);
  }

  @Test
  void whatOutlivesTheSchedulerIsNoAttemptBeforeItEnds() {
    world.isRemote = true;
    world.configure(ONE_HOST);
    world.crashAndRestart();
    world.configure(ONE_HOST);
    assertThat(world.running).containsKey(key("a"));
    assertThat(world.attempts).isEmpty();
    world.writes("j", "a", "done");
    assertThat(world.attempts).hasSize(1);
  }

  @Test
  void aStoppedSchedulerStartsNothingAndCountsItsTasksAsInterrupted() {
    world.configure(ONE_HOST);
    world.post(new LoopInput.Stop());
    world.settle();
    world.end("j", "a", TaskResult.Kind.KILLED, null, null);
    world.end("j", "b", TaskResult.Kind.KILLED, "done", null);
    assertThat(world.running).isEmpty();
    assertThat(world.row("j", "a").status().label()).isEqualTo(StatusLabel.INTERRUPTED);
    assertThat(world.row("j", "b").status().label()).isEqualTo(StatusLabel.DONE);
    world.crashAndRestart();
    world.configure(ONE_HOST);
    assertThat(world.running).containsOnlyKeys(key("a"), key("c"));
  }

  @Test
  void whatWasAboutToBeHandedOutWhenTheSchedulerStoppedNeverStarts() {
    world.storeAnswers = false;
    world.configure(ONE_HOST);
    world.post(new LoopInput.Stop());
    world.settle();
    world.storeAnswers();
    world.storeAnswers();
    assertThat(world.launches).isEmpty();
    assertThat(world.loop.liveCount()).isZero();
    assertThat(world.row("j", "a").status().label()).isEqualTo(StatusLabel.INTERRUPTED);
  }

  @Test
  void s10OrphansOfADeletedJobAreKilledAndTheirEndIsKept() {
    world.configure(ONE_HOST);
    world.configure(NO_JOB);
    assertThat(world.kills).containsExactlyInAnyOrder("j/a term", "j/b term");
    world.end("j", "a", TaskResult.Kind.KILLED, "done", null);
    world.end("j", "b", TaskResult.Kind.KILLED, null, null);
    world.launches.clear();
    world.configure(ONE_HOST);
    assertThat(world.row("j", "a").status().label()).isEqualTo(StatusLabel.DONE);
    assertThat(world.running).doesNotContainKey(key("a"));
  }

  @Test
  void t9ATaskThatOutlivesItsJobIsNotStartedTwiceWhenTheJobComesBack() {
    String spare = ONE_HOST.replace("\"kill_orphan_tasks_after_sec\": 0", "\"enabled\": true");
    world.configure(spare);
    world.configure(spare.replaceAll("(?s),\\s*\"bistro_job.*", "}"));
    assertThat(world.kills).isEmpty();
    world.configure(spare);
    assertThat(world.running).containsOnlyKeys(key("a"), key("b"));
    world.writes("j", "a", "done");
    assertThat(world.running).containsOnlyKeys(key("b"), key("c"));
  }

  @Test
  void aPausedJobStartsNothingAndKillsNothing() {
    world.configure(ONE_HOST);
    CompletionStage<Void> paused = world.run(new Command.Pause("j", 0, "ann", "maintenance"));
    world.settle();
    assertThat(paused.toCompletableFuture()).isCompleted();
    world.writes("j", "a", "done");
    assertThat(world.running).containsOnlyKeys(key("b"));
    world.configure(ONE_HOST.replace("\"x\": 1", "\"x\": 2"));
    assertThat(world.running).containsOnlyKeys(key("b"));
    world.done(new Command.Resume("j", "", ""));
    assertThat(world.running).containsOnlyKeys(key("b"), key("c"));
  }

  @Test
  void killReachesARunningTaskAndRefusesOthers() {
    world.configure(ONE_HOST);
    CompletionStage<Void> killed = world.run(new Command.Kill("j", "a", "", ""));
    CompletionStage<Void> idle = world.run(new Command.Kill("j", "c", "", ""));
    world.settle();
    assertThat(killed.toCompletableFuture()).isCompleted();
    assertThat(world.kills).containsExactly("j/a term");
    assertThat(idle.toCompletableFuture()).isCompletedExceptionally();
  }

  @Test
  void aKillThatComesBeforeTheRunnerHasTheTaskIsNotLost() {
    world.storeAnswers = false;
    world.configure(ONE_HOST);
    world.run(new Command.Kill("j", "a", "", ""));
    world.settle();
    assertThat(world.kills).isEmpty();
    world.storeAnswers();
    assertThat(world.kills).containsExactly("j/a term");
  }

  @Test
  void aBoundOfAttemptsTurnsWaitsIntoFailure() {
    LoopWorld bounded = new LoopWorld(2);
    bounded.configure(ONE_HOST);
    bounded.writes("j", "a", "error_backoff");
    bounded.writes("j", "b", "done");
    bounded.writes("j", "c", "done");
    bounded.advance(1_000);
    bounded.writes("j", "a", "error_backoff");
    assertThat(bounded.row("j", "a").status().label()).isEqualTo(StatusLabel.FAILED);
    assertThat(bounded.loop.isQuiet()).isTrue();
  }

  @Test
  void endsOfUnknownInvocationsChangeNothing() {
    world.configure(ONE_HOST);
    Invocation other = new Invocation(9, 9, 9);
    world.post(new LoopInput.TaskEnded(TaskResult.exited("j", "a", other, "done", 0)));
    world.settle();
    assertThat(world.warnings).singleElement().asString().contains("unknown invocation");
    assertThat(world.row("j", "a").status().label()).isEqualTo(StatusLabel.RUNNING);
  }

  @Test
  void eventsAreNumberedWithoutGapsAndOnlySeenOnceDurable() {
    world.storeAnswers = false;
    world.configure(ONE_HOST);
    assertThat(world.events).isEmpty();
    world.storeAnswers();
    world.writes("j", "a", "done");
    assertThat(world.events.stream().map(Event::sequence))
        .containsExactlyElementsOf(LongStream.rangeClosed(1, world.events.size()).boxed().toList());
    assertThat(world.events.stream().map(Event::kind))
        .containsExactly(
            "config_in_force",
            "leader_changed",
            "task_started",
            "task_started",
            "job_state",
            "task_ended",
            "task_started");
  }

  @Test
  void aViewThatSomebodyWaitsForComesSoonAndShowsWhatWasDoneBefore() {
    world.configure(ONE_HOST);
    world.advance(SchedulerLoop.VIEW_MILLIS);
    CompletableFuture<@Nullable Void> first = awaitView(new Command.Pause("j", 0, "ada", "why"));
    world.settle();
    assertThat(first).as("a view was published at this instant").isNotDone();
    world.advance(10);
    assertThat(first).isCompleted();
    assertThat(requireNonNull(world.view).pauses()).containsKey("j");

    world.storeAnswers = false;
    CompletableFuture<@Nullable Void> second = awaitView(new Command.Resume("j", "ada", "done"));
    world.advance(10);
    assertThat(second).as("not durable yet").isNotDone();
    CompletableFuture<@Nullable Void> third = awaitView(new Command.Pause("j", 0, "ada", "again"));
    world.storeAnswers();
    assertThat(second).isCompleted();
    assertThat(requireNonNull(world.view).pauses()).isEmpty();
    world.settle();
    assertThat(third).as("the view was made before").isNotDone();
    world.advance(10);
    assertThat(third).isCompleted();
    assertThat(requireNonNull(world.view).pauses()).containsKey("j");
  }

  private CompletableFuture<@Nullable Void> awaitView(Command<?> command) {
    world.run(command);
    CompletableFuture<@Nullable Void> shown = new CompletableFuture<>();
    world.post(new LoopInput.AwaitView(shown));
    return shown;
  }

  @Test
  void tasksArePagedByStatusInNodeOrder() {
    world.configure(ONE_HOST);
    world.writes("j", "b", "done");
    var first = world.ask(Query.Tasks.all("j", "", 2)).toCompletableFuture();
    world.settle();
    assertThat(first.join().tasks().stream().map(t -> t.node() + " " + t.status()))
        .containsExactly("a running", "b done");
    var second = world.ask(Query.Tasks.all("j", first.join().next(), 2)).toCompletableFuture();
    var done = inStatuses("done");
    var all = inStatuses("running", "done");
    var wrong = inStatuses("done", "finished");
    world.settle();
    assertThat(second.join().tasks().stream().map(t -> t.node() + " " + t.status()))
        .containsExactly("c running");
    assertThat(second.join().next()).isEmpty();
    assertThat(done.join().tasks()).hasSize(1);
    assertThat(all.join().tasks()).extracting(t -> t.node()).containsExactly("a", "b", "c");
    assertThatThrownBy(wrong::join).hasMessageContaining("no such status: finished");
  }

  private CompletableFuture<TaskPage> inStatuses(String... words) {
    return world
        .ask(Query.Tasks.all("j", "", 9).withStatuses(List.of(words)))
        .toCompletableFuture();
  }

  @Test
  void tasksAreCountedOverAllPages() {
    world.configure(ONE_HOST);
    world.writes("j", "b", "done");
    for (String after : List.of("", "a", "b", "c")) {
      TaskPage page = counted("", after, 1);
      assertThat(page.total()).as("after " + after).isEqualTo(3);
      assertThat(page.tasks()).hasSize(after.equals("c") ? 0 : 1);
      assertThat(page.next().isEmpty()).isEqualTo(after.equals("b") || after.equals("c"));
    }
    assertThat(counted("b", "", 9).tasks()).extracting(task -> task.node()).containsExactly("b");
    assertThat(counted("b", "", 9).total()).isEqualTo(1);
    assertThat(counted("x", "", 9).total()).isZero();
  }

  private TaskPage counted(String part, String after, int limit) {
    var page =
        world
            .ask(Query.Tasks.all("j", after, limit).with(query -> query.part(part).counted(true)))
            .toCompletableFuture();
    world.settle();
    return page.join();
  }

  private TaskPage waitingFor(String reason, String after, int limit) {
    var page =
        world
            .ask(
                Query.Tasks.all("j", after, limit)
                    .with(query -> query.reason(reason).counted(true)))
            .toCompletableFuture();
    world.settle();
    return page.join();
  }

  @Test
  void tasksArePagedByWhatTheyWaitFor() {
    String config =
        """
        {"bistro_settings": {
           "nodes": {"levels": ["host", "db"], "node_order": "original", "node_sources": [
             {"source": "manual", "prefs": {"h1": ["a", "b", "c", "d"], "h2": ["e", "f"]}}]},
           "resources": {"host": {"slots": {"limit": 1, "default": 1}}}},
         "bistro_job->j": {"owner": "o", "backoff": [60]}}
        """;
    world.configure(config);
    String first = world.running.keySet().stream().map(TaskKey::node).sorted().toList().get(0);
    world.writes("j", first, "error_backoff");
    assertThat(waitingFor("backoff", "", 9).tasks())
        .extracting(task -> task.node())
        .containsExactly(first);
    TaskPage page = waitingFor("resource", "", 2);
    assertThat(page.total()).isEqualTo(3);
    assertThat(page.tasks()).hasSize(2);
    assertThat(waitingFor("resource", page.next(), 2).tasks()).hasSize(1);
    assertThat(waitingFor("startable", "", 9).tasks()).isEmpty();
    var wrong = world.ask(Query.Tasks.all("j", "", 9).withReason("resources"));
    world.settle();
    assertThat(wrong.toCompletableFuture())
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .withMessageContaining("no such reason: resources");
    var unused = world.run(new Command.Pause("j", 0, "ann", ""));
    world.settle();
    assertThat(waitingFor("job_paused", "", 9).total()).isEqualTo(4);
    assertThat(waitingFor("resource", "", 9).total()).isZero();
  }

  @Test
  void tasksBelowANodeArePaged() {
    world.configure(
        """
        {"bistro_settings": {
           "nodes": {"levels": ["host", "db"], "node_order": "original", "node_sources": [
             {"source": "manual", "prefs": {"h1": ["a", "c"], "h2": ["b", "c"]}}]},
           "resources": {}},
         "bistro_job->j": {"owner": "o"}}
        """);
    assertThat(under("h1", "host")).containsExactly("a", "c");
    assertThat(under("h2", "")).containsExactlyInAnyOrder("b", "c");
    assertThat(under("b", "db")).containsExactly("b");
    assertThat(under("", "")).containsExactlyInAnyOrder("a", "b", "c");
    var none = world.ask(Query.Tasks.all("j", "", 9).withUnder("h3")).toCompletableFuture();
    world.settle();
    assertThat(none)
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .withMessageContaining("no node is called h3");
  }

  private List<String> under(String node, String level) {
    var page =
        world
            .ask(Query.Tasks.all("j", "", 9).with(query -> query.under(node).level(level)))
            .toCompletableFuture();
    world.settle();
    return page.join().tasks().stream().map(task -> task.node()).toList();
  }

  private static TaskKey key(String node) {
    return new TaskKey("j", node);
  }
}
