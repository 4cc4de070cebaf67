package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.Command;
import io.espalier.core.api.Query;
import io.espalier.core.api.SelectionResult;
import io.espalier.core.api.TaskSelection;
import io.espalier.core.api.TaskSelector;
import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult;
import io.espalier.core.status.Attempt;
import io.espalier.core.status.StatusLabel;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.TaskTransitions;
import io.espalier.core.status.store.StatusRow;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What is done stays done over every change of nodes and jobs: stored statuses are read at one
 * time, brought into force at a later one, and tasks end in between.
 */
class DoneIsFinalTest {
  private static final int HUNDREDS = 600;
  private static final String JOB = "\"bistro_job->j\": {\"owner\": \"o\"}";

  private final LoopWorld world = new LoopWorld();

  private static List<String> names(int count) {
    List<String> names = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      names.add("n" + i);
    }
    return names;
  }

  private static String config(String level, List<String> nodes, String jobs) {
    return """
    {"bistro_settings": {
       "nodes": {"levels": ["%s"], "node_order": "original", "node_sources": [
         {"source": "manual", "prefs": {"spare": [], %s}}]},
       "resources": {"instance": {"slots": {"default": 1, "limit": 100000}}},
       "backoff": [1, 2, "fail"]}%s}
    """
        .formatted(
            level,
            String.join(", ", nodes.stream().map(n -> "\"" + n + "\": []").toList()),
            jobs.isEmpty() ? "" : ", " + jobs)
        .replace(", }", "}");
  }

  /** Steps up to the one in which the nodes are in force and no stored status is yet. */
  private void stepToNewNodes() {
    Object before = world.core.topology();
    for (int i = 0; i < 10_000 && world.core.topology() == before; i++) {
      world.step();
    }
    assertThat(world.core.topology()).isNotSameAs(before);
  }

  private void allAreDoneOnce(List<String> nodes) {
    world.advance(10_000);
    for (String node : nodes) {
      assertThat(world.row("j", node).status().label()).as(node).isEqualTo(StatusLabel.DONE);
      assertThat(world.answer(new Query.Task("j", node)).status()).as(node).isEqualTo("done");
    }
    assertThat(world.launches.stream().map(LaunchSpec::node).filter(n -> !n.equals("spare")))
        .doesNotHaveDuplicates();
    assertThat(world.warnings).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void tasksThatEndWhileTheirNodesComeBackStayDone(boolean remote) {
    world.isRemote = remote;
    List<String> nodes = names(HUNDREDS);
    world.configure(config("host", nodes, JOB));
    world.configure(config("host", List.of(), JOB));
    PreparedUpdate back = world.prepare(config("host", nodes, JOB));

    CompletionStage<Void> inForce = world.update(back);
    stepToNewNodes();
    nodes.forEach(node -> world.ends("j", node, TaskResult.Kind.EXITED, "done", 0));
    world.settle();

    assertThat(inForce.toCompletableFuture()).isDone();
    allAreDoneOnce(nodes);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void tasksThatEndWhileTheStatusesOfTheirNodesAreReadStayDone(boolean remote) {
    world.isRemote = remote;
    // More than any bound that a memory of ends might have.
    List<String> nodes = names(12_000);
    world.configure(config("host", nodes, JOB));
    world.configure(config("host", List.of(), JOB));
    PreparedUpdate back = world.prepare(config("host", nodes, JOB));

    nodes.forEach(node -> world.ends("j", node, TaskResult.Kind.EXITED, "done", 0));
    world.settle();
    world.update(back);
    world.settle();

    allAreDoneOnce(nodes);
  }

  @Test
  void ofAJobThatWasNotConfiguredAtARestartTasksThatEndWhileItComesStayDone() {
    world.isRemote = true;
    List<String> nodes = names(HUNDREDS);
    world.configure(config("host", nodes, JOB));
    world.crashAndRestart();
    world.configure(config("host", nodes, ""));
    PreparedUpdate later = world.prepare(config("host", nodes, JOB));

    nodes.subList(0, 200).forEach(n -> world.ends("j", n, TaskResult.Kind.EXITED, "done", 0));
    CompletionStage<Void> inForce = world.update(later);
    world.step();
    nodes.subList(200, 400).forEach(n -> world.ends("j", n, TaskResult.Kind.EXITED, "done", 0));
    for (int i = 0; i < 10_000 && world.core.findJob("j") < 0; i++) {
      world.step();
    }
    nodes
        .subList(400, HUNDREDS)
        .forEach(n -> world.ends("j", n, TaskResult.Kind.EXITED, "done", 0));
    world.settle();

    assertThat(inForce.toCompletableFuture()).isDone();
    allAreDoneOnce(nodes);
  }

  /** Twenty nodes with two jobs, of which half has been done; a scheduler that has just begun. */
  private PreparedUpdate halfDoneBeforeARestart(List<String> nodes) {
    String two = JOB + ", \"bistro_job->k\": {\"owner\": \"o\"}";
    world.configure(config("host", nodes.subList(0, 10), two));
    for (String node : nodes.subList(0, 10)) {
      world.ends("j", node, TaskResult.Kind.EXITED, "done", 0);
      world.ends("k", node, TaskResult.Kind.EXITED, "done", 0);
    }
    // Of the node that none of this is about.
    world.ends("j", "spare", TaskResult.Kind.EXITED, "done", 0);
    world.ends("k", "spare", TaskResult.Kind.EXITED, "done", 0);
    world.settle();
    world.crashAndRestart();
    world.launches.clear();
    return world.prepare(config("host", nodes, two));
  }

  @Test
  void nothingStartsUntilTheLastStoredStatusHasCome() {
    List<String> nodes = names(20);
    PreparedUpdate update = halfDoneBeforeARestart(nodes);
    int half = update.rows().size() / 2;

    CompletionStage<Void> inForce = world.updateWithoutRows(update);
    world.settle();
    assertThat(world.launches).isEmpty();
    world.post(new LoopInput.StoredRows(update.rows().subList(0, half), false, Map.of()));
    world.settle();
    assertThat(world.launches).isEmpty();
    assertThat(inForce.toCompletableFuture()).isNotDone();
    world.post(
        new LoopInput.StoredRows(
            update.rows().subList(half, update.rows().size()), true, Map.of()));
    world.settle();

    assertThat(inForce.toCompletableFuture()).isDone();
    assertThat(world.launches.stream().map(launch -> launch.job() + " " + launch.node()))
        .containsExactlyInAnyOrderElementsOf(
            nodes.subList(10, 20).stream()
                .flatMap(node -> Stream.of("j " + node, "k " + node))
                .toList());
  }

  @Test
  void aJobWhoseStoredStatusesCannotBeReadStartsNothingAndTheOthersDo() {
    List<String> nodes = names(20);
    PreparedUpdate update = halfDoneBeforeARestart(nodes);

    CompletionStage<Void> inForce = world.updateWithoutRows(update);
    world.post(
        new LoopInput.StoredRows(
            update.rows().stream().filter(row -> row.job().equals("k")).toList(), false, Map.of()));
    world.post(new LoopInput.StoredRows(List.of(), true, Map.of("j", "row 7 is damaged")));
    world.settle();
    world.advance(2_000);

    assertThat(inForce.toCompletableFuture()).isDone();
    assertThat(world.launches.stream().map(launch -> launch.job() + " " + launch.node()))
        .containsExactlyInAnyOrderElementsOf(
            nodes.subList(10, 20).stream().map(node -> "k " + node).toList());
    assertThat(Objects.requireNonNull(world.view).errors().toString())
        .contains("job j starts nothing")
        .contains("row 7 is damaged");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void tasksThatEndWhileTheirLevelIsRenamedStayDone(boolean remote) {
    world.isRemote = remote;
    List<String> nodes = names(HUNDREDS);
    world.configure(config("host", nodes, JOB));
    PreparedUpdate renamed = world.prepare(config("machine", nodes, JOB));

    nodes.subList(0, 300).forEach(n -> world.ends("j", n, TaskResult.Kind.EXITED, "done", 0));
    world.settle();
    world.update(renamed);
    stepToNewNodes();
    nodes
        .subList(300, HUNDREDS)
        .forEach(n -> world.ends("j", n, TaskResult.Kind.EXITED, "done", 0));
    world.settle();

    allAreDoneOnce(nodes);
  }

  @Test
  void aTaskThatEndsWhileItsNodeIsGoneAndIsRunAgainLaterKeepsTheLaterResult() {
    List<String> nodes = names(3);
    world.configure(config("host", nodes, JOB));
    world.configure(config("host", List.of(), JOB));
    world.end("j", "n0", TaskResult.Kind.EXITED, "failed", 0);
    world.configure(config("host", nodes, JOB));
    world.done(new Command.Forgive(TaskSelection.all("j", "", "")));
    world.writes("j", "n0", "done");
    world.configure(config("host", List.of(), JOB));
    world.configure(config("host", nodes, JOB));
    world.advance(10_000);

    assertThat(world.row("j", "n0").status().label()).isEqualTo(StatusLabel.DONE);
    assertThat(world.answer(new Query.Task("j", "n0")).status()).isEqualTo("done");
    assertThat(world.running).doesNotContainKey(new TaskKey("j", "n0"));
  }

  @Test
  void ofARemovedJobWhoseNodesLeaveAndComeBackDoneTasksStayDone() {
    List<String> nodes = names(3);
    world.configure(config("host", nodes, JOB));
    world.writes("j", "n0", "done");
    world.configure(config("host", nodes, ""));
    world.configure(config("host", List.of("n2"), ""));
    world.end("j", "n1", TaskResult.Kind.EXITED, "done", 0);
    world.configure(config("host", nodes, ""));
    world.configure(config("host", nodes, JOB));
    world.end("j", "n2", TaskResult.Kind.EXITED, "done", 0);

    allAreDoneOnce(nodes);
  }

  /** Found by the simulation: adopted outside the tree, and the job is gone when the node comes. */
  @Test
  void ofAJobThatIsRemovedWhenTheNodesOfItsAdoptedRunsComeDoneTasksStayDone() {
    world.isRemote = true;
    List<String> nodes = names(3);
    world.configure(config("host", nodes, JOB));
    world.crashAndRestart();
    world.configure(config("host", List.of("n2"), JOB));
    world.configure(config("host", nodes, ""));
    world.end("j", "n0", TaskResult.Kind.EXITED, "done", 0);
    world.configure(config("host", nodes, JOB));
    world.end("j", "n1", TaskResult.Kind.EXITED, "done", 0);
    world.end("j", "n2", TaskResult.Kind.EXITED, "done", 0);

    allAreDoneOnce(nodes);
  }

  @Test
  void aRowOfThisSchedulerThatNobodyCanExplainStartsNothingAndIsAProblem() {
    List<String> nodes = names(3);
    world.configure(config("host", nodes, JOB));
    world.configure(config("host", List.of(), JOB));
    world.end("j", "n0", TaskResult.Kind.EXITED, "failed", 0);
    world.stored.put(
        new TaskKey("j", "n0"),
        new StatusRow(
            "j",
            "n0",
            TaskTransitions.firstStart(world.now),
            world.launches.stream()
                .filter(launch -> launch.node().equals("n0"))
                .findFirst()
                .orElseThrow()
                .invocation()));
    int launches = world.launches.size();
    world.configure(config("host", nodes, JOB));
    world.advance(10_000);

    assertThat(world.launches).hasSize(launches);
    assertThat(world.row("j", "n0").status().label()).isEqualTo(StatusLabel.RUNNING);
    assertThat(Objects.requireNonNull(world.view).errors().get("statuses"))
        .contains("job j starts nothing", "its task on n0 runs as 1.");

    world.running.clear();
    world.crashAndRestart();
    world.configure(config("host", nodes, JOB));
    world.advance(10_000);
    assertThat(world.running).containsKey(new TaskKey("j", "n0"));
  }

  @Test
  void commandsWaitUntilTheStatusesTheyAreForAreBack() {
    List<String> nodes = names(2_500);
    world.configure(config("host", nodes, JOB));
    nodes.forEach(node -> world.ends("j", node, TaskResult.Kind.EXITED, "failed", 0));
    world.settle();
    world.configure(config("host", List.of(), JOB));
    PreparedUpdate back = world.prepare(config("host", nodes, JOB));
    world.update(back);
    stepToNewNodes();
    CompletionStage<SelectionResult> forgiven =
        world.run(new Command.Forgive(TaskSelection.all("j", "", "")));
    CompletionStage<SelectionResult> rerun =
        world.run(new Command.Rerun(new TaskSelection("j", TaskSelector.ALL, true, -1, "", "")));
    world.step();
    assertThat(forgiven.toCompletableFuture()).isNotDone();
    assertThat(rerun.toCompletableFuture()).isNotDone();
    world.settle();

    assertThat(forgiven.toCompletableFuture().join().changed()).isEqualTo(2_500);
    assertThat(rerun.toCompletableFuture()).isCompleted();
  }

  @Test
  void nothingIsAcknowledgedBeforeWhatIsKnownOfItIsDurable() {
    world.isRemote = true;
    world.configure(config("host", names(1), JOB));
    LaunchSpec launch = world.launch("j", "n0");
    world.storeAnswers = false;
    world.writes("j", "n0", "done");
    // The supervisor and the worker both tell of one end: the second one changes nothing.
    world.post(
        new LoopInput.TaskEnded(
            TaskResult.of("j", "n0", launch.invocation(), TaskResult.Kind.EXITED)
                .withRawStatus("done")));
    world.settle();
    assertThat(world.recorded).isEmpty();

    world.storeAnswers();

    assertThat(world.recorded).hasSize(2);
    assertThat(world.storedWhenRecorded).containsOnly("done");
  }

  @Test
  void howALostTaskReallyEndedIsKeptInItsHistoryAndOnlyThere() {
    world.isRemote = true;
    world.configure(config("host", names(1), JOB));
    LaunchSpec lost = world.launch("j", "n0");
    world.running.remove(new TaskKey("j", "n0"));
    world.post(
        new LoopInput.TaskEnded(
            TaskResult.lost("j", "n0", lost.invocation(), "nothing was heard", 0)));
    world.settle();
    world.advance(10_000);
    LaunchSpec again = world.launch("j", "n0");
    TaskResult late =
        TaskResult.of("j", "n0", lost.invocation(), TaskResult.Kind.EXITED)
            .withRawStatus("done")
            .withExit(0, null);
    world.storeAnswers = false;
    world.post(new LoopInput.TaskEndedLate(late));
    world.settle();
    assertThat(world.recorded).doesNotContain(late);
    world.storeAnswers();

    assertThat(world.recorded).contains(late);
    Attempt kept = world.attempts.get(world.attempts.size() - 1);
    assertThat(kept.invocation()).isEqualTo(lost.invocation());
    assertThat(kept.number()).isEqualTo(lost.attempt());
    assertThat(kept.exitCode()).isEqualTo(0);
    assertThat(kept.message())
        .isEqualTo(
            "reported after its worker was taken for lost, so it does not count: it ended as"
                + " exited, with status done");
    assertThat(world.row("j", "n0").invocation()).isEqualTo(again.invocation());
    assertThat(world.row("j", "n0").status().label()).isEqualTo(StatusLabel.RUNNING);
  }

  @Test
  void nothingIsShownAsDoneBeforeItIsDurable() {
    world.configure(config("host", names(2), JOB));
    world.advance(1_000);
    assertThat(shownDone()).isZero();
    world.storeAnswers = false;
    world.writes("j", "n0", "done");
    world.advance(999);
    assertThat(view().errors()).as("a store may need a moment").isEmpty();
    world.advance(1_000);
    world.advance(1_000);

    assertThat(shownDone()).isZero();
    assertThat(view().running()).hasSize(3);
    assertThat(view().publishedAtMillis()).as("it lives").isEqualTo(world.now);
    assertThat(view().errors()).containsKey("durability");
    assertThat(world.loop.durable().toCompletableFuture()).isNotDone();
    assertThat(world.loop.isQuiet()).isFalse();

    world.storeAnswers();
    world.advance(100);
    assertThat(shownDone()).isEqualTo(1);
    assertThat(view().running()).hasSize(2);
    assertThat(view().errors()).isEmpty();
    assertThat(world.loop.durable().toCompletableFuture()).isCompleted();
  }

  @Test
  void aKillIsAnsweredOnceItIsDurable() {
    world.storeAnswers = false;
    world.configure(config("host", names(1), JOB));
    CompletionStage<Void> killed = world.run(new Command.Kill("j", "n0", "", ""));
    world.settle();
    assertThat(killed.toCompletableFuture()).isNotDone();
    assertThat(world.running).isEmpty();

    world.storeAnswers();

    assertThat(killed.toCompletableFuture()).isCompleted();
    assertThat(world.row("j", "n0").status().label()).isEqualTo(StatusLabel.RUNNING);
    assertThat(world.kills).as("once its start is durable").hasSize(1);
  }

  private SchedulerView view() {
    return Objects.requireNonNull(world.view);
  }

  private long shownDone() {
    return Objects.requireNonNull(view().progress().get("j")).done();
  }
}
