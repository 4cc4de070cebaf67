package io.espalier.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.running.InvocationLimits;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.TaskResult.Kind;
import io.espalier.core.running.Throttle;
import io.espalier.worker.process.SupervisorOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Batches (docs/batches.md) with real processes. */
class BatchProcessTest {
  private static final KillRequest TERM_THEN_KILL =
      new KillRequest(KillRequest.Method.TERM_WAIT_KILL, 200);

  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path directory;

  private BatchBench open() throws IOException {
    return BatchBench.open(directory);
  }

  private static List<LaunchSpec> withLimits(List<LaunchSpec> batch, InvocationLimits limits) {
    return batch.stream().map(launch -> TaskBench.with(launch, limits)).toList();
  }

  private static List<@Nullable String> statuses(List<TaskResult> ends) {
    return ends.stream().<@Nullable String>map(TaskResult::rawStatus).toList();
  }

  private static List<Kind> kinds(List<TaskResult> ends) {
    return ends.stream().map(TaskResult::kind).toList();
  }

  @Test
  void eachTaskEndsWithItsOwnResult() throws IOException {
    try (BatchBench bench = open()) {
      List<TaskResult> ends =
          bench.run(
              bench.batch(
                  "say a "
                      + BatchBench.DONE
                      + "; say c '\"status\":\"incomplete\",\"data\":{\"at\":7}'; say b"
                      + " '\"status\":{\"result_bits\":608}'",
                  "a",
                  "b",
                  "c"));
      assertThat(kinds(ends)).containsOnly(Kind.EXITED);
      assertThat(statuses(ends))
          .containsExactly(
              "done", "{\"result_bits\":608}", "{\"result\":\"incomplete\",\"data\":{\"at\":7}}");
      assertThat(ends).allMatch(end -> end.startedAtMillis() > 0 && end.endedAtMillis() > 0);
      // The process is counted once.
      assertThat(ends).filteredOn(end -> end.usage() != null).hasSize(1);
    }
  }

  @Test
  void theFileHasALineForEachTaskAndTheArgumentWhatTheyShare() throws IOException {
    try (BatchBench bench = open()) {
      List<LaunchSpec> batch =
          bench.batch(
              "cat \"$1\"; echo \"$3\"; env | grep ESPALIER_; for n in $(nodes); do say $n "
                  + BatchBench.DONE
                  + "; done",
              "a",
              "b");
      bench.run(batch);
      LaunchSpec first = batch.get(0);
      String id = first.invocation().token() + "." + first.invocation().startMillis();
      // Both were waiting: what is written belongs to the first.
      assertThat(bench.tasks.out(first))
          .contains(
              "{\"node\":\"a\",\"invocation\":\""
                  + id
                  + "\",\"token\":\""
                  + first.invocation().token()
                  + "\",\"attempt\":1,\"path_to_node\":[\"i\",\"a\"]}\n",
              "{\"id\":\"job\",\"config\":{\"speed\":3}}\n",
              "ESPALIER_TASK_INVOCATION=" + id + "\n",
              "ESPALIER_TASK_JOB=job\n")
          .anyMatch(line -> line.matches("ESPALIER_TASK_BATCH=/.*/[0-9]+\\.batch\n"))
          .noneMatch(line -> line.startsWith("ESPALIER_TASK_NODE"))
          .noneMatch(line -> line.startsWith("ESPALIER_TASK_TOKEN"));
      try (var left = Files.walk(directory)) {
        assertThat(left.map(Path::toString)).noneMatch(path -> path.endsWith(".batch"));
      }
    }
  }

  @Test
  void aTaskOfABatchThatIsAloneIsToldInTheSameWay() throws IOException {
    for (SupervisorOptions.Mechanism mechanism :
        List.of(SupervisorOptions.Mechanism.NATIVE, SupervisorOptions.Mechanism.JDK)) {
      Path own = Files.createDirectory(directory.resolve(mechanism.name()));
      try (BatchBench bench = BatchBench.open(TaskBench.options(own).withMechanism(mechanism))) {
        String script = "for n in $(nodes); do say $n " + BatchBench.DONE + "; done";
        assertThat(bench.tasks.run(bench.batch(script, "a").get(0)).rawStatus()).isEqualTo("done");
        // Without a way to tell a process anything, each task of a batch has one of its own.
        assertThat(statuses(bench.run(bench.batch(script, "a", "b")))).containsOnly("done");
      }
    }
  }

  @Test
  void aTaskEndsAtOnceWhileTheProcessGoesOnAndTheLastEndsWithIt() throws IOException {
    try (BatchBench bench = open()) {
      List<LaunchSpec> batch =
          bench.start(
              bench.batch(
                  "say a " + BatchBench.DONE + "; say b " + BatchBench.DONE + "; cat; sleep 300",
                  "a",
                  "b"));
      assertThat(bench.tasks.ends.await(batch.get(0)).exitCode()).isNull();
      LaunchSpec last = batch.get(1);
      await().until(() -> bench.tasks.live(last).pid() > 0);
      assertThat(bench.tasks.runner.supervisor().runningCount()).isEqualTo(1);
      assertThat(bench.tasks.kill(last, TaskBench.TERM)).isTrue();
      TaskResult end = bench.tasks.ends.await(last);
      assertThat(end.kind()).isEqualTo(Kind.KILLED);
      assertThat(end.rawStatus()).isEqualTo("done");
    }
  }

  @Test
  void standardInputEndsWhenNothingIsLeftToDo() throws IOException {
    try (BatchBench bench = open()) {
      List<TaskResult> ends =
          bench.run(
              bench.batch(
                  "say a " + BatchBench.DONE + "; say b " + BatchBench.DONE + "; exec cat",
                  "a",
                  "b"));
      assertThat(ends.get(1).exitCode()).isZero();
    }
  }

  @Test
  void aProcessThatDiesFailsWhatItHadBegunAndReturnsTheRest() throws IOException {
    try (BatchBench bench = open()) {
      List<LaunchSpec> batch =
          bench.batch(
              "say a "
                  + BatchBench.DONE
                  + "; say b "
                  + BatchBench.STARTED
                  + "; say c "
                  + BatchBench.STARTED
                  + "; exit 3",
              "a",
              "b",
              "c",
              "d");
      List<TaskResult> ends = bench.run(batch);
      assertThat(kinds(ends))
          .containsExactly(Kind.EXITED, Kind.EXITED, Kind.EXITED, Kind.NOT_STARTED);
      assertThat(statuses(ends)).containsExactly("done", null, null, null);
      assertThat(ends.get(1).exitCode()).isEqualTo(3);
      assertThat(ends.get(1).lastErrorLine())
          .isEqualTo("its batch exited with code 3 before the task had a result");
      assertThat(ends.get(3).message())
          .isEqualTo("its batch exited with code 3 before the task had begun");
      assertThat(ends.get(3).startedAtMillis()).isZero();
    }
  }

  @Test
  void aProgramThatEndsBeforeItBeginsAnythingFailsAllItsTasks() throws IOException {
    try (BatchBench bench = open()) {
      List<TaskResult> ends = bench.run(bench.batch("echo broken >&2; exit 2", "a", "b"));
      assertThat(kinds(ends)).containsOnly(Kind.EXITED);
      assertThat(ends.get(0).lastErrorLine()).isEqualTo("broken");
      assertThat(ends.get(1).exitCode()).isEqualTo(2);
    }
  }

  @Test
  void whatCannotBeStartedFailsAllItsTasks() throws IOException {
    try (BatchBench bench = open()) {
      List<LaunchSpec> missing =
          bench.batch("", "a", "b").stream()
              .map(launch -> launch.withCommand(List.of("/no/such/program")))
              .toList();
      assertThat(kinds(bench.run(missing))).containsOnly(Kind.START_FAILED);
      List<LaunchSpec> node =
          bench.batch("", "c", "d").stream()
              .map(launch -> launch.withCommand(List.of("/bin/echo", "{node}")))
              .toList();
      assertThat(bench.run(node).get(1).message()).contains("{node}", "{batch_file}");
    }
  }

  @Test
  void garbageForeignNodesAndSecondResultsEndNothing() throws IOException {
    try (BatchBench bench = open()) {
      List<LaunchSpec> batch =
          bench.batch(
              "echo garbage >> $2; echo >> $2; echo '[1]' >> $2; echo '{\"node\":7}' >> $2;"
                  + " printf '{\"node\":\"b\",\"status\":\"done' >> $2; echo >> $2;"
                  + " say x "
                  + BatchBench.DONE
                  + "; say a "
                  + BatchBench.DONE
                  + "; say a '\"status\":\"failed\"'; say b '\"progress\":7'; say b '\"what\":1';"
                  + " say b '\"status\":\"failed\"'; say b "
                  + BatchBench.DONE,
              "a",
              "b");
      List<TaskResult> ends = bench.run(batch);
      assertThat(statuses(ends)).containsExactly("done", "failed");
      List<String> refused =
          batch.stream()
              .flatMap(launch -> bench.tasks.events(launch).stream())
              .filter(event -> event.contains("line_refused"))
              .toList();
      assertThat(refused).hasSize(9);
      assertThat(refused.toString())
          .contains("not in this batch", "has ended", "not a JSON object", "neither started");
      assertThat(bench.tasks.events(batch.get(1))).anyMatch(e -> e.contains("progress_refused"));
    }
  }

  @Test
  void aMillionLinesAreReadAndFewAreLogged() throws IOException {
    try (BatchBench bench = open()) {
      List<LaunchSpec> batch =
          bench.batch(
              "yes '{\"node\":\"a\",\"progress\":{\"done\":1}}' | head -500000 >> $2;"
                  + " yes '{\"node\":\"b\",\"count\":{\"rows\":1}}' | head -200000 >> $2;"
                  + " yes garbage | head -300000 >> $2; say a "
                  + BatchBench.DONE
                  + "; say b "
                  + BatchBench.DONE,
              "a",
              "b");
      List<TaskResult> ends = bench.run(batch);
      assertThat(statuses(ends)).containsOnly("done");
      assertThat(ends.get(1).counters().values()).containsEntry("rows", 200_000L);
      List<String> refused =
          batch.stream()
              .flatMap(launch -> bench.tasks.events(launch).stream())
              .filter(event -> event.contains("line_refused"))
              .toList();
      assertThat(refused).hasSize(21).last().asString().contains("299980 further lines");
    }
  }

  @Test
  void progressAndCountersBelongToTheirTask() throws IOException {
    try (BatchBench bench = open()) {
      List<TaskResult> ends =
          bench.run(
              bench.batch(
                  "say a '\"count\":{\"rows\":2}'; say b '\"count\":{\"rows\":5}'; say a"
                      + " '\"count\":{\"rows\":1},\"progress\":{\"done\":3,\"cursor\":\"k\"}'; say a "
                      + BatchBench.DONE
                      + "; say b "
                      + BatchBench.DONE,
                  "a",
                  "b"));
      assertThat(ends.get(0).counters().values()).containsEntry("rows", 3L);
      assertThat(ends.get(1).counters().values()).containsEntry("rows", 5L);
      assertThat(bench.tasks.progress).anyMatch(p -> "k".equals(p.cursor()));
    }
  }

  @Test
  void outputBelongsToTheTaskThatBeganLast() throws IOException {
    try (BatchBench bench = open()) {
      List<LaunchSpec> batch =
          bench.start(
              bench.batch(
                  "echo up; read x; say b "
                      + BatchBench.STARTED
                      + "; until [ -e go ]; do sleep 0.05; done; echo of b; echo why >&2; until [ -e"
                      + " end ]; do sleep 0.05; done; say b '\"status\":\"failed\"'; say a "
                      + BatchBench.DONE,
                  "a",
                  "b"));
      LaunchSpec a = batch.get(0);
      LaunchSpec b = batch.get(1);
      bench.tasks.awaitLine(a, "up");
      // A request to give up a task is a line on its standard input; it need not be heeded.
      bench.tasks.kill(a, TaskBench.TERM);
      await().until(() -> bench.tasks.live(b).usage().memoryBytes() > 0);
      assertThat(bench.tasks.live(a).usage()).isEqualTo(ResourceUsage.UNKNOWN);
      Path jobs = directory.resolve("data/jobs/job");
      Files.writeString(jobs.resolve("go"), "");
      bench.tasks.awaitLine(b, "of b");
      await().until(() -> !bench.tasks.err(b).isEmpty());
      Files.writeString(jobs.resolve("end"), "");
      assertThat(bench.tasks.ends.await(b).lastErrorLine()).isEqualTo("why");
      assertThat(bench.tasks.out(a)).containsExactly("up\n");
      // It was asked to end, and has.
      assertThat(bench.tasks.ends.await(a).kind()).isEqualTo(Kind.KILLED);
    }
  }

  @Test
  void theProcessGivesUpTheTaskThatItIsAskedToAndGoesOnWithTheRest() throws IOException {
    try (BatchBench bench = open()) {
      List<LaunchSpec> batch =
          bench.start(
              bench.batch(
                  "say a "
                      + BatchBench.STARTED
                      + "; echo up; read line; echo \"$line\"; say b"
                      + " '\"status\":\"incomplete_backoff\"'; read line; say a "
                      + BatchBench.DONE
                      + "; say c "
                      + BatchBench.DONE,
                  "a",
                  "b",
                  "c"));
      bench.tasks.awaitLine(batch.get(0), "up");
      assertThat(bench.tasks.kill(batch.get(1), TaskBench.TERM)).isTrue();
      TaskResult given = bench.tasks.ends.await(batch.get(1));
      assertThat(given.kind()).isEqualTo(Kind.KILLED);
      assertThat(given.stopReason()).isEqualTo(StopReason.REQUESTED);
      assertThat(given.rawStatus()).isEqualTo("incomplete_backoff");
      bench.tasks.awaitLine(batch.get(0), "{\"cancel\":\"b\"}");
      bench.tasks.kill(batch.get(0), TaskBench.TERM);
      assertThat(bench.tasks.ends.await(batch.get(0)).kind()).isEqualTo(Kind.KILLED);
      assertThat(bench.tasks.ends.await(batch.get(2)).kind()).isEqualTo(Kind.EXITED);
    }
  }

  @Test
  void aProcessThatIgnoresTheRequestIsKilledAfterTheWait() throws IOException {
    try (BatchBench bench = open()) {
      List<LaunchSpec> batch =
          bench.start(
              bench.batch(
                  "trap '' TERM; say a "
                      + BatchBench.STARTED
                      + "; say b "
                      + BatchBench.STARTED
                      + "; echo up; while :; do sleep 300; done",
                  "a",
                  "b",
                  "c"));
      bench.firstLine(batch);
      bench.tasks.kill(batch.get(0), TERM_THEN_KILL);
      List<TaskResult> ends = batch.stream().map(bench.tasks.ends::await).toList();
      assertThat(kinds(ends)).containsExactly(Kind.KILLED, Kind.KILLED, Kind.NOT_STARTED);
      assertThat(ends.get(0).stopReason()).isEqualTo(StopReason.REQUESTED);
      // Nobody asked for the end of this one.
      assertThat(ends.get(1).stopReason()).isNull();
      assertThat(ends.get(1).message())
          .isEqualTo("its process was killed together with the task on a");
      assertThat(ends.get(1).signal()).isEqualTo(9);
    }
  }

  @Test
  void aKillOfAllIsAKillOfTheProcess() throws IOException {
    try (BatchBench bench = open()) {
      List<LaunchSpec> batch =
          bench.start(
              bench.batch(
                  "say b " + BatchBench.STARTED + "; echo $$; exec sleep 300", "a", "b", "c"));
      long pid = Long.parseLong(bench.firstLine(batch));
      batch.forEach(launch -> bench.tasks.kill(launch, TaskBench.TERM));
      List<TaskResult> ends = batch.stream().map(bench.tasks.ends::await).toList();
      assertThat(ends)
          .allMatch(end -> end.kind() == Kind.KILLED && end.stopReason() == StopReason.REQUESTED);
      assertThat(TaskBench.isDead(pid)).isTrue();
    }
  }

  @Test
  void theEndOfTheRunnerStopsTheProcessAndReturnsWhatHadNotBegun() throws IOException {
    BatchBench bench = open();
    List<LaunchSpec> batch;
    long pid;
    try (bench) {
      batch =
          bench.start(
              bench.batch("say b " + BatchBench.STARTED + "; echo $$; exec sleep 300", "a", "b"));
      pid = Long.parseLong(bench.firstLine(batch));
    }
    assertThat(bench.tasks.ends.await(batch.get(0)).kind()).isEqualTo(Kind.NOT_STARTED);
    TaskResult begun = bench.tasks.ends.await(batch.get(1));
    assertThat(begun.kind()).isEqualTo(Kind.KILLED);
    assertThat(begun.stopReason()).isEqualTo(StopReason.SHUTDOWN);
    assertThat(TaskBench.isDead(pid)).isTrue();
  }

  @Test
  void theTimeOfATaskCountsFromItsBegin() throws IOException {
    try (BatchBench bench = open()) {
      List<LaunchSpec> batch =
          bench.start(
              withLimits(
                  bench.batch(
                      "say a "
                          + BatchBench.STARTED
                          + "; read line; say a '\"status\":\"incomplete_backoff\"'; for n in b c;"
                          + " do say $n "
                          + BatchBench.STARTED
                          + "; say $n "
                          + BatchBench.DONE
                          + "; done",
                      "a",
                      "b",
                      "c"),
                  new InvocationLimits(700, 0, 0)));
      List<TaskResult> ends = batch.stream().map(bench.tasks.ends::await).toList();
      assertThat(ends.get(0).stopReason()).isEqualTo(StopReason.TIMEOUT);
      assertThat(ends.get(0).kind()).isEqualTo(Kind.KILLED);
      // They began when the time of the first was over.
      assertThat(kinds(ends.subList(1, 3))).containsOnly(Kind.EXITED);
      assertThat(ends.subList(1, 3)).allMatch(end -> end.stopReason() == null);
    }
  }

  @Test
  void silenceCountsForTheTaskThatHasBegun() throws IOException {
    try (BatchBench bench = open()) {
      List<LaunchSpec> batch =
          withLimits(
              bench.batch("say b " + BatchBench.STARTED + "; exec sleep 300", "a", "b"),
              new InvocationLimits(0, 300, 0));
      List<LaunchSpec> hard =
          batch.stream().map(launch -> launch.withKill(TERM_THEN_KILL)).toList();
      List<TaskResult> ends = bench.run(hard);
      assertThat(kinds(ends)).containsExactly(Kind.NOT_STARTED, Kind.KILLED);
      assertThat(ends.get(1).stopReason()).isEqualTo(StopReason.NO_OUTPUT);
    }
  }

  @Test
  void aDeadlineStopsAlsoWhatHasNotBegun() throws IOException {
    try (BatchBench bench = open()) {
      List<TaskResult> ends =
          bench.run(
              withLimits(
                  bench.batch("say a " + BatchBench.STARTED + "; exec sleep 300", "a", "b"),
                  new InvocationLimits(0, 0, System.currentTimeMillis() + 300)));
      assertThat(ends)
          .allMatch(end -> end.kind() == Kind.KILLED && end.stopReason() == StopReason.DEADLINE);
    }
  }

  /** Each line of the file follows what is left of the batch. */
  @Test
  void theProcessReadsHowFastTheSlowestOfItsTasksThatHaveNotEndedIsToWork() throws IOException {
    String script =
        "wait_for() { until [ \"$(cat \"$ESPALIER_TASK_THROTTLE\" 2>/dev/null)\" = \"$1\" ];"
            + " do sleep 0.05; done; }; wait_for '0.25 quarter'; say b "
            + BatchBench.DONE
            + "; wait_for '0.5 half'; say a "
            + BatchBench.DONE
            + "; wait_for 1; say c "
            + BatchBench.DONE;
    try (BatchBench bench = BatchBench.open(directory)) {
      List<LaunchSpec> batch = bench.start(bench.batch(script, "a", "b", "c"));
      throttle(bench, batch.get(0), new Throttle(0.5, "half"));
      throttle(bench, batch.get(1), new Throttle(0.25, "quarter"));
      assertThat(batch)
          .allSatisfy(
              launch -> assertThat(bench.tasks.ends.await(launch).rawStatus()).isEqualTo("done"));
    }
  }

  private static void throttle(BatchBench bench, LaunchSpec launch, Throttle throttle) {
    bench.tasks.runner.throttle(launch.job(), launch.node(), launch.invocation(), throttle);
  }

  @Test
  void aBatchOfTwoHundredAndFiftySix() throws IOException {
    try (BatchBench bench = open()) {
      String[] nodes = IntStream.range(0, 256).mapToObj(i -> "n" + i).toArray(String[]::new);
      List<TaskResult> ends =
          bench.run(
              bench.batch(
                  "for n in $(nodes); do say $n "
                      + BatchBench.STARTED
                      + "; say $n "
                      + BatchBench.DONE
                      + "; done",
                  nodes));
      assertThat(statuses(ends)).containsOnly("done").hasSize(256);
      assertThat(bench.tasks.runner.supervisor().runningCount()).isZero();
    }
  }
}
