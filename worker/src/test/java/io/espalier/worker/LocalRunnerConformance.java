package io.espalier.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.config.task.StatusSource;
import io.espalier.core.config.task.SubprocessOptions;
import io.espalier.core.json.Json;
import io.espalier.core.logs.LogLine.Stream;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.TaskRunner;
import io.espalier.testkit.running.LastingTaskRunnerContract;
import io.espalier.testkit.running.Launches;
import io.espalier.testkit.running.MemoryLogStore;
import io.espalier.worker.process.SupervisorOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The local runner with real processes, for every mechanism: the runner's contract and the parts of
 * table 14.6 that hold for all of them. Scripts get node, status path and JSON as $1, $2, $3.
 */
abstract class LocalRunnerConformance extends LastingTaskRunnerContract {
  private static final KillRequest KILL = new KillRequest(KillRequest.Method.KILL, 0);
  private static final KillRequest TERM = new KillRequest(KillRequest.Method.TERM, 0);

  protected final Launches launches = new Launches();
  protected final MemoryLogStore logs = new MemoryLogStore();

  @TempDir
  @SuppressWarnings("NullAway.Init")
  protected Path directory;

  private int runners;

  protected abstract SupervisorOptions.Mechanism mechanism();

  @Override
  protected TaskRunner create() throws IOException {
    return LocalRunner.prepare(
        "instance",
        SupervisorOptions.of(directory.resolve("data" + runners++), directory)
            .withMechanism(mechanism())
            .withShutdownWait(Duration.ofSeconds(5))
            .withEnvironment(
                Map.of(
                    "PATH", "/usr/local/bin:/usr/bin:/bin",
                    "LC_ALL", "C.UTF-8",
                    "ESPALIER_TOKEN", "secret",
                    "AWS_SECRET", "secret"))
            .withWorkerCommand(List.of("./default.sh")),
        logs);
  }

  @Override
  protected LaunchSpec quick(String node) {
    return sh(node, "echo done > \"$2\"");
  }

  @Override
  protected LaunchSpec lasting(String node) {
    return sh(node, "exec sleep 300");
  }

  /** A task that runs the script; the arguments are those of Bistro. */
  protected final LaunchSpec sh(String node, String script) {
    return launches.of(node, "/bin/sh", "-c", script, "task");
  }

  protected final TaskResult run(LaunchSpec launch) {
    runner().start(launch);
    return ends.await(launch);
  }

  protected final List<String> out(LaunchSpec launch) {
    return logs.texts(Stream.STDOUT, launch.node());
  }

  protected final List<String> events(LaunchSpec launch) {
    return logs.texts(Stream.STATUSES, launch.node());
  }

  private void awaitLine(LaunchSpec launch, String text) {
    await().until(() -> out(launch).contains(text + "\n"));
  }

  private static LaunchSpec withFewLines(LaunchSpec launch, int pollMillis, int lines) {
    SubprocessOptions d = SubprocessOptions.DEFAULT;
    return Launches.with(launch, d.withQuota(pollMillis, lines));
  }

  @Test
  void p1ATaskGetsNodeStatusPathAndJsonAndItsLifeIsLogged() {
    LaunchSpec launch = sh("n 1", "echo \"$1|$3\"; echo to stderr >&2; echo done > \"$2\"");
    TaskResult end = run(launch);
    assertThat(end.kind()).isEqualTo(TaskResult.Kind.EXITED);
    assertThat(end.rawStatus()).isEqualTo("done");
    assertThat(out(launch)).containsExactly("n 1|{\"id\":\"job\"}\n");
    assertThat(logs.texts(Stream.STDERR, "n 1")).containsExactly("to stderr\n");
    assertThat(events(launch)).hasSize(4);
    assertThat(events(launch).get(0)).contains("\"event\":\"running\"", "\"command\":[\"/bin/sh\"");
    assertThat(events(launch).subList(1, 3))
        .anyMatch(event -> event.contains("task_pipes_closed"))
        .anyMatch(event -> event.contains("process_exited") && event.contains("code 0"));
    assertThat(events(launch).get(3)).contains("got_status", "\"raw_status\":\"done\"");
  }

  @Test
  void p3WithoutAStatusTheEndHasNone() {
    TaskResult end = run(sh("node", "exit 3"));
    assertThat(end.rawStatus()).isNull();
    assertThat(end.exitCode()).isEqualTo(3);
    assertThat(end.kind()).isEqualTo(TaskResult.Kind.EXITED);
  }

  @Test
  void theEndTellsTheLastLineOfTheErrorOutputThatSaysSomething() {
    TaskResult end = run(sh("node", "echo one >&2; echo '  two ' >&2; echo >&2; echo out; exit 3"));
    assertThat(end.lastErrorLine()).isEqualTo("two");
    assertThat(run(sh("quiet", "echo out; exit 3")).lastErrorLine()).isNull();
    assertThat(run(sh("cut", "printf x%01000d 0 >&2; exit 3")).lastErrorLine()).hasSize(500);
  }

  @Test
  void p4AKillEndsTheTaskAtOnce() {
    LaunchSpec launch = launches.of("node", "/bin/sh", "-c", "echo up; exec sleep 300");
    runner().start(launch);
    awaitLine(launch, "up");
    runner().kill("job", "node", launch.invocation(), KILL);
    TaskResult end = ends.await(launch);
    assertThat(end.kind()).isEqualTo(TaskResult.Kind.KILLED);
    assertThat(end.signal()).isEqualTo(9);
    assertThat(end.exitCode()).isNull();
  }

  @Test
  void p6ChildrenInTheGroupDieWithTheTask() {
    LaunchSpec launch = sh("node", "sleep 300 & echo $!; echo up; wait");
    runner().start(launch);
    awaitLine(launch, "up");
    long child = Long.parseLong(out(launch).get(0).strip());
    runner().kill("job", "node", launch.invocation(), KILL);
    ends.await(launch);
    await().until(() -> ProcessHandle.of(child).isEmpty());
  }

  @Test
  void p7AMissingProgramFailsToStartWithPathAndCause() {
    LaunchSpec launch = launches.of("node", "/no/such/program");
    TaskResult end = run(launch);
    assertThat(end.kind()).isEqualTo(TaskResult.Kind.START_FAILED);
    assertThat(end.message()).contains("/no/such/program", "No such file");
    assertThat(events(launch)).singleElement().asString().contains("task_failed_to_start");
  }

  @Test
  void p7WhatCannotBeRunFailsToStartWithPathAndCause() throws IOException {
    Path script = Files.writeString(directory.resolve("plain.txt"), "#!/bin/sh\n");
    assertThat(run(launches.of("a", script.toString())).message())
        .contains(script.toString(), "not executable");
    assertThat(run(launches.of("b", directory.toString())).message()).contains("directory");
    assertThat(run(launches.of("c", "no-such-word")).message()).contains("no-such-word", "PATH");
    assertThat(run(launches.of("d", "")).message()).contains("empty");
    assertThat(run(launches.of("e", "/bin/echo", "nul\0")).message()).contains("NUL");
    assertThat(ends.all()).allMatch(end -> end.kind() == TaskResult.Kind.START_FAILED);
  }

  @Test
  void p8ATaskMayAnswerATermWithItsStatus() {
    LaunchSpec launch =
        sh("node", "trap 'echo done > \"$2\"; exit 0' TERM; echo up; while :; do sleep 0.05; done");
    runner().start(launch);
    awaitLine(launch, "up");
    runner().kill("job", "node", launch.invocation(), TERM);
    TaskResult end = ends.await(launch);
    assertThat(end.kind()).isEqualTo(TaskResult.Kind.KILLED);
    assertThat(end.rawStatus()).isEqualTo("done");
    assertThat(end.exitCode()).isZero();
  }

  @Test
  void p9ATaskThatIgnoresTermIsKilledAndAStatusWrittenBeforeCounts() {
    LaunchSpec launch =
        sh("node", "trap '' TERM; echo done > \"$2\"; echo up; while :; do sleep 0.05; done");
    runner().start(launch);
    awaitLine(launch, "up");
    runner()
        .kill(
            "job",
            "node",
            launch.invocation(),
            new KillRequest(KillRequest.Method.TERM_WAIT_KILL, 100));
    TaskResult end = ends.await(launch);
    assertThat(end.kind()).isEqualTo(TaskResult.Kind.KILLED);
    assertThat(end.signal()).isEqualTo(9);
    assertThat(end.rawStatus()).isEqualTo("done");
  }

  /**
   * P10 of docs/design/bistro.md#conformance-of-tasks, by counts: behind a quota nothing is lost,
   * and the status does not wait for it.
   */
  @Test
  void p10AllLinesArriveBehindAQuota() {
    LaunchSpec launch =
        withFewLines(sh("node", "seq 1 3000; seq 1 500 >&2; echo done > \"$2\""), 1, 50);
    assertThat(run(launch).rawStatus()).isEqualTo("done");
    assertThat(out(launch)).hasSize(3000).first().isEqualTo("1\n");
    assertThat(out(launch)).last().isEqualTo("3000\n");
    assertThat(logs.texts(Stream.STDERR, "node")).hasSize(500);
  }

  @Test
  void p10AQuotaHoldsBackATaskThatWritesMoreThanThePipesTake() {
    // One line in ten minutes: what is read stops at the quota while the task lives.
    LaunchSpec launch =
        withFewLines(sh("node", "yes 0123456789 | head -c 2000000; sleep 300"), 600_000, 7);
    runner().start(launch);
    await().until(() -> out(launch).size() == 7);
    assertThat(kill(launch)).isTrue();
    ends.await(launch);
    assertThat(out(launch).size()).isLessThan(150_000);
  }

  @Test
  void p21TextWithoutANewlineIsKeptAndTheJobsOwnCommandComesFirst() throws IOException {
    script("default.sh", "printf 'default %s' \"$1\"; echo done > \"$2\"");
    LaunchSpec byDefault = launches.of("a");
    assertThat(run(byDefault).rawStatus()).isEqualTo("done");
    assertThat(out(byDefault)).containsExactly("default a");
    script("own.sh", "printf 'own %s %s %s' \"$1\" \"$2\" \"$3\"; echo done > \"$4\"");
    LaunchSpec own = launches.of("b", "./own.sh", "x", "y");
    assertThat(run(own).rawStatus()).isEqualTo("done");
    assertThat(out(own)).containsExactly("own x y b");
  }

  @Test
  void p24ATermWaitKillWithoutAWaitKillsAtOnce() {
    LaunchSpec launch = sh("node", "trap '' TERM; echo up; while :; do sleep 0.05; done");
    runner().start(launch);
    awaitLine(launch, "up");
    runner()
        .kill(
            "job",
            "node",
            launch.invocation(),
            new KillRequest(KillRequest.Method.TERM_WAIT_KILL, 0));
    assertThat(ends.await(launch).signal()).isEqualTo(9);
  }

  @Test
  void aTaskIsKilledWhileItIsBeingStarted() {
    for (int i = 0; i < 50; i++) {
      LaunchSpec launch = lasting("node" + i);
      runner().start(launch);
      runner().kill("job", launch.node(), launch.invocation(), i % 2 == 0 ? TERM : KILL);
      assertThat(ends.await(launch).kind()).isEqualTo(TaskResult.Kind.KILLED);
    }
  }

  @Test
  void theLastLineIsTheStatusWhateverCameBefore() {
    assertThat(run(sh("two", "echo incomplete >> \"$2\"; echo done >> \"$2\"")).rawStatus())
        .isEqualTo("done");
    assertThat(run(sh("garbage", "head -c 3000 /dev/urandom | tr '\\n' x > \"$2\"")).rawStatus())
        .isNotEmpty();
    assertThat(run(sh("unended", "printf ' done' > \"$2\"")).rawStatus()).isEqualTo(" done");
    assertThat(run(sh("nothing", ": > \"$2\"")).rawStatus()).isNull();
    assertThat(run(sh("removed", "rm -f \"$2\"; exit 0")).rawStatus()).isNull();
  }

  @Test
  void tenMegabytesOfStatusDoNoHarm() {
    LaunchSpec lines =
        sh("lines", "{ yes 0123456789 | head -c 10000000; echo; echo done; } > \"$2\"");
    assertThat(run(lines).rawStatus()).isEqualTo("done");
    LaunchSpec oneLine = sh("line", "head -c 10000000 /dev/zero | tr '\\0' x > \"$2\"");
    assertThat(run(oneLine).rawStatus()).hasSizeLessThanOrEqualTo(200_000).startsWith("xxx");
  }

  @Test
  void tenMegabytesOfOutputInOneLineAreCutIntoPieces() {
    LaunchSpec launch =
        withFewLines(
            sh("node", "head -c 10000000 /dev/zero | tr '\\0' x; echo done > \"$2\""), 10, 0);
    assertThat(run(launch).rawStatus()).isEqualTo("done");
    assertThat(out(launch)).hasSize(154).first().asString().hasSize(65_000);
    assertThat(out(launch).stream().mapToLong(String::length).sum()).isEqualTo(10_000_000);
  }

  @Test
  void outputThatIsNoTextIsWrittenAsBytes() {
    LaunchSpec launch = sh("node", "printf 'a\\377\\376b\\0c\\n'; echo done > \"$2\"");
    run(launch);
    assertThat(out(launch)).containsExactly("a\\xff\\xfeb\0c\n");
  }

  @Test
  void aTaskThatClosesItsOutputEarlyIsStillWatched() {
    LaunchSpec launch = sh("node", "exec 1>&- 2>&-; sleep 0.2; echo done > \"$2\"");
    assertThat(run(launch).rawStatus()).isEqualTo("done");
  }

  @Test
  void stdinIsEmpty() {
    LaunchSpec launch = sh("node", "cat; echo read; echo done > \"$2\"");
    assertThat(run(launch).rawStatus()).isEqualTo("done");
    assertThat(out(launch)).containsExactly("read\n");
  }

  @Test
  void theEnvironmentIsAWhitelistAndTheTasksOwnVariables() {
    LaunchSpec launch = sh("no/de", "env; echo done > \"$2\"");
    run(launch);
    assertThat(out(launch))
        .contains(
            "ESPALIER_TASK_JOB=job\n",
            "ESPALIER_TASK_NODE=no/de\n",
            "ESPALIER_TASK_ATTEMPT=1\n",
            "ESPALIER_TASK_TOKEN=" + launch.invocation().token() + "\n",
            "LC_ALL=C.UTF-8\n",
            "PATH=/usr/local/bin:/usr/bin:/bin\n")
        .noneMatch(line -> line.contains("secret"));
  }

  @Test
  void namesOfJobsDoNotEscapeFromTheDataDirectory() {
    for (String job : List.of("..", ".", "a/../../b", "/etc", "", "x".repeat(500), "\u00fc n")) {
      LaunchSpec launch =
          launches.of(
              job,
              "node" + job.length(),
              List.of("/bin/sh", "-c", "pwd; echo done > \"$2\"", "task"));
      assertThat(run(launch).rawStatus()).as(job).isEqualTo("done");
      Path place = Path.of(out(launch).get(0).strip());
      assertThat(place.getParent()).hasToString(directory.resolve("data0/jobs").toString());
    }
  }

  @Test
  void theExitCodeIsTheStatusWhereTheJobSaysSo() {
    LaunchSpec launch = launches.of("node", "/bin/sh", "-c", "echo \"$# arguments\"; exit 4");
    TaskResult end = run(Launches.with(launch, StatusSource.EXIT_CODE));
    assertThat(end.exitCode()).isEqualTo(4);
    assertThat(out(launch)).containsExactly("0 arguments\n");
  }

  @Test
  void placeholdersReplaceTheThreeArguments() throws IOException {
    script("own.sh", "echo \"$#\" \"$1\"; cat \"$3\"; echo done > \"$2\"");
    LaunchSpec launch =
        launches.of("n;1", "./own.sh", "--at={node}/{job}", "{status_file}", "{json_file}");
    assertThat(run(launch).rawStatus()).isEqualTo("done");
    assertThat(out(launch)).containsExactly("3 --at=n;1/job\n", "{\"id\":\"job\"}");
    TaskResult refused = run(launches.of("n;2", "/bin/sh", "-c", "echo {node} > {status_file}"));
    assertThat(refused.kind()).isEqualTo(TaskResult.Kind.START_FAILED);
    assertThat(refused.message()).contains("{node}", "n;2");
  }

  @Test
  void aBigJsonArgumentGoesByFile() {
    Json.Obj big = Json.object().put("text", "x".repeat(200_000)).build();
    LaunchSpec launch =
        sh("node", "f=${3#@}; echo \"$3\"; wc -c < \"$f\"; echo \"$f\"; echo done > \"$2\"");
    assertThat(run(Launches.with(launch, big)).rawStatus()).isEqualTo("done");
    assertThat(out(launch).get(0)).startsWith("@");
    assertThat(out(launch).get(1).strip()).isEqualTo("200011");
    assertThat(Path.of(out(launch).get(2).strip())).doesNotExist();
  }

  @Test
  void aDescendantThatKeepsTheTasksPipesKeepsItRunning() {
    LaunchSpec launch = sh("node", "echo done > \"$2\"; (read x < fifo; echo late) & exit 0");
    Path jobDirectory = directory.resolve("data0/jobs/job");
    run(launches.of("make", "/bin/sh", "-c", "mkfifo fifo"));
    runner().start(launch);
    await().until(() -> events(launch).stream().anyMatch(e -> e.contains("process_exited")));
    assertThat(ends.of(launch)).isEmpty();
    run(sh("release", "echo go > '" + jobDirectory.resolve("fifo") + "'"));
    assertThat(ends.await(launch).rawStatus()).isEqualTo("done");
  }

  @Test
  void aKillReachesDescendantsThatOutliveTheTaskAndLeftItsGroup() {
    LaunchSpec launch = sh("node", "setsid sh -c 'echo up; exec sleep 300' & wait");
    runner().start(launch);
    awaitLine(launch, "up");
    assertThat(kill(launch)).isTrue();
    assertThat(ends.await(launch).kind()).isEqualTo(TaskResult.Kind.KILLED);
  }

  @Test
  void closeKillsTasksThatDoNotStopWhenAsked() throws IOException {
    LaunchSpec launch = sh("node", "trap '' TERM; echo $$; echo up; while :; do sleep 0.05; done");
    LocalRunner stubborn =
        LocalRunner.prepare(
            "instance",
            SupervisorOptions.of(directory.resolve("other"), directory)
                .withMechanism(mechanism())
                .withShutdownWait(Duration.ofMillis(200)),
            logs);
    stubborn.open(ends);
    stubborn.start(launch);
    awaitLine(launch, "up");
    stubborn.close();
    assertThat(ends.of(launch)).hasSize(1);
    assertThat(ProcessHandle.of(Long.parseLong(out(launch).get(0).strip()))).isEmpty();
  }

  private void script(String name, String text) throws IOException {
    Path script = directory.resolve(name);
    Files.writeString(script, "#!/bin/sh\n" + text + "\n");
    assertThat(script.toFile().setExecutable(true)).isTrue();
  }
}
