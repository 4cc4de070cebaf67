package io.espalier.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.config.task.SubprocessOptions;
import io.espalier.core.logs.LogEntry;
import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogQuery;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult;
import io.espalier.testkit.running.Launches;
import io.espalier.worker.logs.SegmentLogStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tasks (docs/design/bistro.md#conformance-of-tasks) with real processes: what {@link
 * LocalRunnerConformance} does not have. P11 to P14 and P18: {@code TaskCgroupsTest}, {@code
 * CgroupSiteTest}, {@code GroupReaperTest}.
 */
class TaskConformanceTest {
  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path directory;

  @SuppressWarnings("NullAway.Init")
  private TaskBench bench;

  @BeforeEach
  void open() throws IOException {
    bench = TaskBench.open(directory);
  }

  @AfterEach
  void close() {
    bench.close();
  }

  private LaunchSpec withoutCanary(LaunchSpec launch) {
    SubprocessOptions d = launch.subprocess();
    return Launches.with(launch, d.withUseCanaryPipe(false));
  }

  /** Ten tasks that only end when all of them run. */
  @Test
  void p2TasksRunInParallelHoweverFewThreadsStartThem() throws IOException {
    Files.createDirectory(directory.resolve("up"));
    List<LaunchSpec> launches =
        IntStream.range(0, 10)
            .mapToObj(
                i ->
                    bench.sh(
                        "n" + i,
                        "echo out; echo err >&2; : > '"
                            + directory
                            + "/up/'$1; while [ $(ls '"
                            + directory
                            + "/up' | wc -l) -lt 10 ]; do sleep 0.02; done; echo done > \"$2\""))
            .toList();
    launches.forEach(bench::start);
    for (LaunchSpec launch : launches) {
      assertThat(bench.ends.await(launch).rawStatus()).isEqualTo("done");
      assertThat(bench.out(launch)).containsExactly("out\n");
      assertThat(bench.err(launch)).containsExactly("err\n");
      assertThat(bench.events(launch)).hasSize(4);
    }
  }

  @Test
  void p4OfTheSameInvocationThereIsOneStartAndAnotherInvocationCannotBeKilled() {
    LaunchSpec launch = bench.start(bench.sh("n", "echo up; exec sleep 300"));
    bench.awaitLine(launch, "up");
    assertThatThrownBy(() -> bench.start(launch)).isInstanceOf(IllegalStateException.class);
    Invocation other = new Invocation(9, 9, 9);
    assertThat(bench.runner.kill("job", "n", other, TaskBench.KILL)).isFalse();
    assertThat(bench.kill(launch, TaskBench.KILL)).isTrue();
    TaskResult end = bench.ends.await(launch);
    assertThat(end.kind()).isEqualTo(TaskResult.Kind.KILLED);
    assertThat(bench.events(launch)).anyMatch(event -> event.contains("killed by signal 9"));
  }

  /** A TERM to a shell does not reach what has left its group: the task goes on until that ends. */
  @Test
  void p5ADescendantThatIsNotReachedDelaysTheEndUntilItsPipeCloses() throws IOException {
    Path fifo = directory.resolve("fifo");
    LaunchSpec launch =
        bench.start(
            bench.sh(
                "n",
                "mkfifo '" + fifo + "'; setsid sh -c 'echo up; read x < " + fifo + "' & wait"));
    bench.awaitLine(launch, "up");
    assertThat(bench.kill(launch, TaskBench.TERM)).isTrue();
    await().until(() -> bench.events(launch).stream().anyMatch(e -> e.contains("process_exited")));
    assertThat(bench.ends.of(launch)).isEmpty();
    Files.writeString(fifo, "go\n");
    assertThat(bench.ends.await(launch).kind()).isEqualTo(TaskResult.Kind.KILLED);
    List<String> events = bench.events(launch);
    assertThat(events.get(events.size() - 2)).contains("task_pipes_closed");
    assertThat(events.get(events.size() - 1)).contains("got_status");
  }

  @Test
  void p9TheEventsOfAKilledTaskComeInOrder() {
    Path fifo = directory.resolve("fifo");
    LaunchSpec launch =
        bench.start(
            bench.sh(
                "n",
                "trap '' TERM; echo done > \"$2\"; mkfifo '"
                    + fifo
                    + "'; setsid sh -c 'trap \"\" TERM; echo up; read x < "
                    + fifo
                    + "' & while :; do sleep 0.05; done"));
    bench.awaitLine(launch, "up");
    assertThat(bench.kill(launch, new KillRequest(KillRequest.Method.TERM_WAIT_KILL, 100)))
        .isTrue();
    TaskResult end = bench.ends.await(launch);
    assertThat(end.signal()).isEqualTo(9);
    assertThat(end.rawStatus()).isEqualTo("done");
    assertThat(bench.events(launch))
        .satisfiesExactly(
            first -> assertThat(first).contains("\"running\""),
            second -> assertThat(second).contains("process_exited", "signal 9"),
            third -> assertThat(third).contains("task_pipes_closed"),
            fourth -> assertThat(fourth).contains("got_status", "done"));
  }

  /** 43,000 lines, 150 each 10 ms; two buffers of 64 KiB do not count, once it has exited. */
  @Test
  void p10ATaskIsHeldToItsRate() {
    LaunchSpec launch =
        TaskBench.withQuota(
            bench.sh("n", "seq 1 3000; seq 1 40000 >&2; echo done > \"$2\""), 10, 150);
    long begin = System.nanoTime();
    assertThat(bench.run(launch).rawStatus()).isEqualTo("done");
    assertThat(Duration.ofNanos(System.nanoTime() - begin)).isGreaterThan(Duration.ofMillis(500));
    assertThat(bench.out(launch)).hasSize(3000).last().isEqualTo("3000\n");
    assertThat(bench.err(launch)).hasSize(40_000).last().isEqualTo("40000\n");
  }

  /** No more lines than the quota has given, whatever the task would like to write. */
  @Test
  void p16LinesComeAtTheRateOfTheQuota() {
    for (int perMillisecond : new int[] {1, 20}) {
      LaunchSpec launch =
          TaskBench.withQuota(bench.sh("n" + perMillisecond, "yes"), 1, perMillisecond);
      long begin = System.nanoTime();
      bench.start(launch);
      await().until(() -> bench.out(launch).size() > 100 * perMillisecond);
      int lines = bench.out(launch).size();
      long millis = (System.nanoTime() - begin) / 1_000_000 + 1;
      assertThat((long) lines).isLessThanOrEqualTo((millis + 1) * perMillisecond);
      bench.kill(launch, TaskBench.KILL);
      bench.ends.await(launch);
    }
    LaunchSpec unlimited = TaskBench.withQuota(bench.sh("all", "yes"), 1, 0);
    bench.start(unlimited);
    await().until(() -> bench.out(unlimited).size() > 20_000);
    bench.kill(unlimited, TaskBench.KILL);
    bench.ends.await(unlimited);
  }

  /** Signals race with exits; each child is told once, and nobody else is ever hit. */
  @Test
  void p17AHundredThreadsRaceSignalsAgainstExits() throws Exception {
    int count = 100;
    List<LaunchSpec> launches = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      launches.add(bench.sh("n" + i, "echo up; read x < /dev/null; exit 0"));
    }
    CountDownLatch go = new CountDownLatch(1);
    List<Thread> killers = new ArrayList<>();
    for (LaunchSpec launch : launches) {
      Thread killer =
          new Thread(
              () -> {
                try {
                  go.await();
                } catch (InterruptedException e) {
                  Thread.currentThread().interrupt();
                }
                while (bench.kill(launch, TaskBench.TERM)) {
                  Thread.onSpinWait();
                }
              });
      killer.start();
      killers.add(killer);
    }
    launches.forEach(bench::start);
    go.countDown();
    for (Thread killer : killers) {
      killer.join();
    }
    bench.ends.awaitCount(count);
    for (LaunchSpec launch : launches) {
      assertThat(bench.ends.of(launch))
          .singleElement()
          .satisfies(
              end ->
                  assertThat(end.signal() == null ? "exit " + end.exitCode() : "" + end.signal())
                      .isIn("exit 0", "15"));
    }
    bench.close();
    assertThat(bench.ends.all()).hasSize(count);
  }

  /** All three streams of a task, through the store that a scheduler uses. */
  @Test
  void p20P21TheStreamsOfATaskCanBeAskedForAndAreForgottenWithTime() throws IOException {
    try (SegmentLogStore store = SegmentLogStore.open(directory.resolve("logs"));
        TaskBench stored = TaskBench.open(TaskBench.options(directory.resolve("own")), store)) {
      long begin = System.currentTimeMillis();
      LaunchSpec launch = stored.sh("n", "printf 'no newline'; echo error >&2; echo done > \"$2\"");
      assertThat(stored.run(launch).rawStatus()).isEqualTo("done");
      for (LogLine.Stream stream : LogLine.Stream.values()) {
        LogPage page = store.query(LogQuery.of(EnumSet.of(stream)).withLimit(10));
        assertThat(page.nextId()).isEqualTo(LogPage.END);
        assertThat(page.lines())
            .isNotEmpty()
            .allSatisfy(
                line -> {
                  assertThat(line.job()).isEqualTo("job");
                  assertThat(line.node()).isEqualTo("n");
                  assertThat(line.timeMillis()).isBetween(begin, System.currentTimeMillis());
                  // The id carries the second.
                  assertThat(line.id() >>> 32).isBetween(begin / 1000 - 2, begin / 1000 + 60);
                });
      }
      assertThat(store.query(LogQuery.of(EnumSet.of(LogLine.Stream.STDOUT))).lines())
          .singleElement()
          .satisfies(line -> assertThat(line.text()).isEqualTo("no newline"));
      assertThat(store.query(LogQuery.of(EnumSet.of(LogLine.Stream.STATUSES))).lines()).hasSize(4);
      LogEntry old =
          new LogEntry(LogLine.Stream.STDOUT, "old", "n", "1.1", begin - 86_400_000L * 50, "x\n");
      store.append(old);
      store.apply(
          new io.espalier.core.logs.LogPolicy(
              new io.espalier.core.logs.LogRetention(86_400_000L * 30, 0), List.of()));
      store.prune(System.currentTimeMillis());
      assertThat(store.query(LogQuery.of(EnumSet.of(LogLine.Stream.STDOUT))).lines())
          .noneMatch(line -> line.job().equals("old"));
    }
  }

  @Test
  void p21OfFiveTasksEachKillEndsOneAndTheOthersGoOn() {
    List<LaunchSpec> launches =
        IntStream.range(0, 5)
            .mapToObj(i -> bench.start(bench.sh("n" + i, "echo up; exec sleep 300")))
            .toList();
    launches.forEach(launch -> bench.awaitLine(launch, "up"));
    for (int i = 0; i < 5; i++) {
      assertThat(bench.kill(launches.get(i), TaskBench.KILL)).isTrue();
      assertThat(bench.ends.await(launches.get(i)).rawStatus()).isNull();
      assertThat(bench.ends.all()).hasSize(i + 1);
      for (LaunchSpec other : launches.subList(i + 1, 5)) {
        assertThat(TaskBench.isDead(bench.live(other).pid())).isFalse();
      }
    }
  }

  /** P23, as far as it is about tasks: no shell sees their arguments. */
  @Test
  void p23NoArgumentIsEverShellText() {
    String hostile = "'; touch \"$HOME\" `id` $(id) \\ \n * \t${x}";
    LaunchSpec launch = bench.launches.of(hostile, "/usr/bin/printf", "[%s]", hostile);
    bench.run(launch);
    assertThat(String.join("", bench.out(launch))).startsWith("[" + hostile + "][" + hostile + "]");
  }

  @Test
  void p24ACanaryTellsOfADescendantThatHasClosedEverythingElse() throws IOException {
    Path fifo = directory.resolve("fifo");
    String script =
        "mkfifo '"
            + fifo
            + "'; bash -c 'exec 99>&-; read x < "
            + fifo
            + "' > /dev/null 2>&1 & echo done > $2";
    LaunchSpec watched = bench.start(bench.sh("watched", script));
    await().until(() -> bench.events(watched).stream().anyMatch(e -> e.contains("process_exited")));
    assertThat(bench.ends.of(watched)).isEmpty();
    Files.writeString(fifo, "go\n");
    assertThat(bench.ends.await(watched).rawStatus()).isEqualTo("done");
    Files.delete(fifo);
    LaunchSpec unwatched = withoutCanary(bench.sh("unwatched", script));
    assertThat(bench.run(unwatched).rawStatus()).isEqualTo("done");
    Files.writeString(fifo, "go\n");
  }

  /** Otherwise its next attempt could run beside what is left of this one. */
  @Test
  void aTaskThatWasAskedToStopEndsWhenNobodyOfItIsLeft() throws IOException {
    Path fifo = directory.resolve("fifo");
    LaunchSpec launch = bench.start(bench.sh("n", withHiddenChild(fifo)));
    bench.awaitLine(launch, "up");
    assertThat(bench.kill(launch, TaskBench.TERM)).isTrue();
    await().until(() -> bench.events(launch).stream().anyMatch(e -> e.contains("process_exited")));
    // Long enough to miss that the child lives.
    bench.run(bench.sh("other", "sleep 0.3"));
    assertThat(bench.ends.of(launch)).isEmpty();
    Files.writeString(fifo, "go\n");
    assertThat(bench.ends.await(launch).kind()).isEqualTo(TaskResult.Kind.KILLED);
  }

  @Test
  void theKillAfterAWaitReachesWhoHasOutlivedTheProcess() {
    LaunchSpec launch = bench.start(bench.sh("n", withHiddenChild(directory.resolve("fifo"))));
    bench.awaitLine(launch, "up");
    long child = Long.parseLong(bench.out(launch).get(0).strip());
    assertThat(bench.kill(launch, new KillRequest(KillRequest.Method.TERM_WAIT_KILL, 200)))
        .isTrue();
    assertThat(bench.ends.await(launch).kind()).isEqualTo(TaskResult.Kind.KILLED);
    await().until(() -> ProcessHandle.of(child).isEmpty());
  }

  /** A task with a child in its group that ignores TERM and has closed all pipes of the task. */
  private static String withHiddenChild(Path fifo) {
    return "mkfifo '"
        + fifo
        + "'; bash -c 'trap \"\" TERM; for fd in /proc/self/fd/*; do fd=${fd##*/};"
        + " [ $fd -le 2 ] || eval \"exec $fd>&-\"; done; : > "
        + fifo
        + ".ready; read x < "
        + fifo
        + "' > /dev/null 2>&1 & child=$!; while [ ! -e '"
        + fifo
        + ".ready' ]; do sleep 0.01; done; echo $child; echo up; wait";
  }
}
