package io.espalier.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.espalier.core.config.task.CgroupLimits;
import io.espalier.core.config.task.SubprocessOptions.Cgroups;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskResult;
import io.espalier.testkit.running.JavaCommand;
import io.espalier.testkit.running.Launches;
import io.espalier.worker.cgroup.CgroupHost;
import io.espalier.worker.cgroup.RealGroups;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/**
 * Tasks in control groups of this machine: P11 to P14 and P24 of
 * docs/design/bistro.md#conformance-of-tasks, limits, and what a kill reaches.
 */
class TaskCgroupsTest {
  private static final OptionalInt NO = OptionalInt.empty();
  private static final OptionalLong NONE = OptionalLong.empty();

  /** Nothing of it can be found but through its group: forked twice, no session, no environment. */
  private static final String ESCAPES =
      "env -i setsid bash -c '(bash -c \"exec 99>&- 98>&-; echo \\$\\$; exec sleep 300\" > \"$0\""
          + " 2>/dev/null &)' \"$PWD/pid\"; while [ ! -s pid ]; do sleep 0.01; done; cat pid;";

  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path directory;

  @SuppressWarnings("NullAway.Init")
  private TaskBench bench;

  private void open() throws IOException {
    bench = TaskBench.open(directory);
  }

  @AfterEach
  void close() {
    if (bench != null) {
      bench.close();
    }
  }

  private static CgroupLimits memory(long mb) {
    return new CgroupLimits(OptionalLong.of(mb), OptionalLong.of(0), NO, NO, NO, NO, true);
  }

  private static LaunchSpec with(LaunchSpec launch, CgroupLimits limits) {
    return Launches.with(launch, launch.subprocess().withLimits(limits));
  }

  private static String member(Path procs) throws IOException {
    return Files.readString(procs).strip();
  }

  private RealGroups groups(String kind) {
    return kind.equals("freezer") ? RealGroups.first("freezer", "memory") : RealGroups.second();
  }

  @Test
  void p11ATaskIsInItsGroupsBeforeItBeginsAndTheyAreGoneAfterIt() throws IOException {
    try (RealGroups groups = RealGroups.first("cpu", "memory", "freezer")) {
      open();
      LaunchSpec launch =
          TaskBench.with(
              bench.sh("n", "cat /proc/self/cgroup; echo done > \"$2\""), groups.options());
      assertThat(bench.run(launch).rawStatus()).isEqualTo("done");
      String slice = groups.options().slice();
      for (String controller : List.of("cpu", "memory", "freezer")) {
        assertThat(bench.out(launch))
            .anyMatch(
                line ->
                    line.matches(
                        "\\d+:"
                            + controller
                            + ":/"
                            + slice
                            + "/local:\\d{14}:[0-9a-f]+:"
                            + ProcessHandle.current().pid()
                            + "\n"));
        assertThat(groups.tasks(controller)).isEmpty();
      }
      assertThat(bench.events(launch)).anyMatch(event -> event.contains("cgroups_reaped"));
    }
  }

  @Test
  void p11AMissingSliceIsAFailedStartThatNamesIt() throws IOException {
    open();
    LaunchSpec launch =
        TaskBench.with(
            bench.sh("n", "echo done > \"$2\""),
            new Cgroups(directory.toString(), "no/such", List.of("memory"), false));
    TaskResult end = bench.run(launch);
    assertThat(end.kind()).isEqualTo(TaskResult.Kind.START_FAILED);
    assertThat(end.message()).contains("there is no directory", "memory/no/such");
    assertThat(bench.events(launch)).singleElement().asString().contains("task_failed_to_start");
  }

  /** No freezer, and nothing may be killed: the end waits for the descendant. */
  @Test
  void p12WithoutAFreezerTheEndWaitsForWhatIsLeftInTheGroup() throws IOException {
    try (RealGroups groups = RealGroups.first("memory")) {
      open();
      LaunchSpec launch =
          bench.start(TaskBench.with(bench.sh("n", ESCAPES + " echo done > $2"), groups.options()));
      long stray = bench.firstNumber(launch);
      await().until(() -> bench.events(launch).stream().anyMatch(e -> e.contains("pipes_closed")));
      assertThat(TaskBench.isDead(stray)).isFalse();
      assertThat(bench.ends.of(launch)).isEmpty();
      ProcessHandle.of(stray).orElseThrow().destroyForcibly();
      assertThat(bench.ends.await(launch).rawStatus()).isEqualTo("done");
      assertThat(groups.tasks("memory")).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"freezer", "cgroup.kill"})
  void p13WhatOutlivesATaskInItsGroupIsKilledAndTheGroupRemoved(String kind) throws IOException {
    try (RealGroups groups = groups(kind)) {
      open();
      LaunchSpec launch =
          bench.start(TaskBench.with(bench.sh("n", ESCAPES + " echo done > $2"), groups.options()));
      long stray = bench.firstNumber(launch);
      assertThat(bench.ends.await(launch).rawStatus()).isEqualTo("done");
      assertThat(TaskBench.isDead(stray)).isTrue();
      assertThat(groups.tasks("freezer")).isEmpty();
    }
  }

  @Test
  void p14WithoutAFreezerMembersAreKilledOneByOneWhereTheJobAllowsIt() throws IOException {
    try (RealGroups groups = RealGroups.first("memory")) {
      open();
      LaunchSpec launch =
          bench.start(
              TaskBench.with(
                  bench.sh("n", ESCAPES + " exec sleep 300"), groups.options(true, "memory")));
      long stray = bench.firstNumber(launch);
      assertThat(bench.kill(launch, TaskBench.KILL)).isTrue();
      assertThat(bench.ends.await(launch).kind()).isEqualTo(TaskResult.Kind.KILLED);
      assertThat(TaskBench.isDead(stray)).isTrue();
    }
  }

  /** What no signal to a group or session reaches, and no look into environments finds. */
  @ParameterizedTest
  @ValueSource(strings = {"freezer", "cgroup.kill"})
  void aKillReachesDescendantsThatHaveHiddenFromEverythingElse(String kind) throws IOException {
    try (RealGroups groups = groups(kind)) {
      open();
      LaunchSpec launch =
          bench.start(
              TaskBench.with(
                  bench.sh("n", ESCAPES + " trap '' TERM; while :; do sleep 300; done"),
                  groups.options()));
      long stray = bench.firstNumber(launch);
      assertThat(bench.kill(launch, TaskBench.TERM)).isTrue();
      assertThat(bench.kill(launch, TaskBench.KILL)).isTrue();
      TaskResult end = bench.ends.await(launch);
      assertThat(end.kind()).isEqualTo(TaskResult.Kind.KILLED);
      assertThat(TaskBench.isDead(stray)).isTrue();
      assertThat(groups.tasks("freezer")).isEmpty();
    }
  }

  /**
   * The limit of the process group and the look into environments, as docs/adr/0009-processes.md
   * tells it.
   */
  @Test
  void withoutGroupsWhatHasHiddenFromEverythingIsNotReached() throws IOException {
    open();
    LaunchSpec launch = bench.start(bench.sh("n", ESCAPES + " exec sleep 300"));
    ProcessHandle stray = ProcessHandle.of(bench.firstNumber(launch)).orElseThrow();
    try {
      assertThat(bench.kill(launch, TaskBench.KILL)).isTrue();
      assertThat(bench.ends.await(launch).kind()).isEqualTo(TaskResult.Kind.KILLED);
      assertThat(TaskBench.isDead(stray.pid())).isFalse();
    } finally {
      killHard(stray);
    }
  }

  /** A thousand of them, which go on forking while they are killed. */
  @ParameterizedTest
  @ValueSource(strings = {"freezer", "cgroup.kill"})
  void aForkBombIsKilledAsAWhole(String kind) throws IOException {
    RealGroups.skipUnless(
        CgroupHost.discover().of("pids").isPresent(), "the control group controller pids");
    try (RealGroups groups = groups(kind)) {
      open();
      LaunchSpec launch =
          bench.start(
              TaskBench.with(
                  bench.sh(
                      "n",
                      "i=0; while [ $i -lt 1000 ]; do (trap '' TERM; exec setsid sleep 300)"
                          + " 2>/dev/null & i=$((i+1)); done; echo up;"
                          + " while :; do sleep 0.01 & done"),
                  groups.options()));
      bench.awaitLine(launch, "up");
      assertThat(bench.live(launch).pids()).hasSizeGreaterThan(1000);
      bench.kill(launch, TaskBench.KILL);
      assertThat(bench.ends.await(launch).kind()).isEqualTo(TaskResult.Kind.KILLED);
      assertThat(groups.tasks("freezer")).isEmpty();
    }
  }

  @Test
  void pidsMaxStopsATaskThatForksAThousandChildren() throws IOException {
    RealGroups.skipUnless(
        CgroupHost.discover().of("pids").isPresent(), "the control group controller pids");
    open();
    CgroupLimits few = new CgroupLimits(NONE, NONE, NO, NO, OptionalInt.of(50), NO, true);
    LaunchSpec launch =
        bench.start(
            with(
                bench.sh(
                    "n",
                    "i=0; while [ $i -lt 1000 ]; do sleep 300 & i=$((i+1)); done; echo all; wait"),
                few));
    // The shell gives up at the first fork that is refused, and says so; its children live on.
    await().until(() -> bench.events(launch).stream().anyMatch(e -> e.contains("process_exited")));
    assertThat(bench.err(launch)).anyMatch(line -> line.contains("fork"));
    assertThat(bench.live(launch).pids()).hasSizeBetween(1, 50);
    assertThat(bench.ends.of(launch)).isEmpty();
    bench.kill(launch, TaskBench.KILL);
    assertThat(bench.ends.await(launch).exitCode()).isNotZero();
    assertThat(bench.out(launch)).isEmpty();
  }

  @Test
  void p24AMemoryLimitIsMegabytesAndKillsWhatIsBeyondItAndSaysSo() throws IOException {
    RealGroups.skipUnless(
        CgroupHost.discover().of("memory").isPresent(), "the control group controller memory");
    open();
    String eater = "head -c %d /dev/zero | tail -c %d > /dev/null && echo done > \"$2\"";
    LaunchSpec modest =
        with(bench.sh("modest", String.format(eater, 20_000_000, 20_000_000)), memory(64));
    assertThat(bench.run(modest).rawStatus()).isEqualTo("done");
    // The whole pipeline is one task: which of its processes is killed does not matter.
    LaunchSpec greedy =
        with(bench.sh("greedy", String.format(eater, 200_000_000, 200_000_000)), memory(64));
    TaskResult end = bench.run(greedy);
    assertThat(end.kind()).isEqualTo(TaskResult.Kind.EXITED);
    assertThat(end.rawStatus()).isNull();
    assertThat(end.stopReason()).isEqualTo(StopReason.OUT_OF_MEMORY);
    assertThat(TaskBench.used(end).peakMemoryBytes()).isBetween(60L << 20, 64L << 20);
  }

  @Test
  void aCpuQuotaSlowsATaskDown() throws IOException {
    RealGroups.skipUnless(
        CgroupHost.discover().of("cpu").isPresent(), "the control group controller cpu");
    open();
    CgroupLimits tenth = new CgroupLimits(NONE, NONE, NO, OptionalInt.of(10), NO, NO, true);
    LaunchSpec launch = with(bench.sh("n", "while :; do :; done"), tenth);
    long begin = System.nanoTime();
    bench.start(launch);
    // On a slow machine it does not live yet.
    await()
        .atMost(Duration.ofMinutes(2))
        .ignoreException(AssertionError.class)
        .until(() -> bench.live(launch).usage().cpuMillis() >= 150);
    long wall = (System.nanoTime() - begin) / 1_000_000;
    bench.kill(launch, TaskBench.KILL);
    bench.ends.await(launch);
    // A tenth of one core, with what a first and a last period may add.
    assertThat(wall).isGreaterThan(150 * 10 - 300);
  }

  /** Two tasks on one core, one of them ten times as heavy. */
  @Test
  void aCpuWeightDividesABusyCore() throws IOException {
    RealGroups.skipUnless(
        CgroupHost.discover().of("cpu").isPresent(), "the control group controller cpu");
    open();
    LaunchSpec light = weighted("light", 10);
    LaunchSpec heavy = weighted("heavy", 1000);
    bench.start(light);
    bench.start(heavy);
    // On a slow machine it does not live yet.
    await()
        .atMost(Duration.ofMinutes(2))
        .ignoreException(AssertionError.class)
        .until(() -> bench.live(heavy).usage().cpuMillis() >= 1000);
    long lightMillis = bench.live(light).usage().cpuMillis();
    long heavyMillis = bench.live(heavy).usage().cpuMillis();
    bench.kill(light, TaskBench.KILL);
    bench.kill(heavy, TaskBench.KILL);
    bench.ends.awaitCount(2);
    assertThat(lightMillis).isLessThan(heavyMillis / 2);
  }

  private LaunchSpec weighted(String node, int weight) {
    CgroupLimits limits = new CgroupLimits(NONE, NONE, OptionalInt.of(weight), NO, NO, NO, true);
    return with(
        bench.sh(
            node,
            "exec taskset -c $(taskset -cp $$ | sed 's/.*: //; s/[,-].*//') sh -c 'while :; do :;"
                + " done'"),
        limits);
  }

  @Test
  void whatIsWrittenAndUsedIsCountedForAllProcessesAlsoThoseThatNobodyWaitedFor()
      throws IOException {
    RealGroups.skipUnless(
        CgroupHost.discover().of("cpuacct").isPresent(), "the control group controller cpuacct");
    open();
    LaunchSpec launch =
        with(
            bench.sh(
                "n",
                "(i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo x) & echo done > \"$2\""),
            memory(512));
    TaskResult end = bench.run(launch);
    assertThat(end.rawStatus()).isEqualTo("done");
    // The shell did not wait for its child, so its own books know nothing of it.
    assertThat(TaskBench.used(end).cpuMillis()).isGreaterThan(50);
    assertThat(TaskBench.used(end).peakMemoryBytes()).isPositive();
  }

  @Test
  void aLimitThatThisHostCannotSetRefusesAJobThatRequiresItAndSaysWhy() throws IOException {
    bench = TaskBench.open(TaskBench.options(directory).withCgroups(CgroupHost.none()));
    LaunchSpec required = with(bench.sh("required", "echo done > \"$2\""), memory(64));
    TaskResult end = bench.run(required);
    assertThat(end.kind()).isEqualTo(TaskResult.Kind.START_FAILED);
    assertThat(end.message())
        .contains("limits that the job requires cannot be set", "memory_mb", "\"memory\"");
    CgroupLimits ifAvailable = new CgroupLimits(OptionalLong.of(64), NONE, NO, NO, NO, NO, false);
    LaunchSpec modest = with(bench.sh("modest", "echo done > \"$2\""), ifAvailable);
    assertThat(bench.run(modest).rawStatus()).isEqualTo("done");
    assertThat(bench.events(modest))
        .anyMatch(event -> event.contains("limit_not_set") && event.contains("memory_mb"));
  }

  @Test
  void onlyAJobThatAsksForLimitsIsWarnedOfAHostWithoutControlGroups() throws IOException {
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    Logger worker = (Logger) LoggerFactory.getLogger("io.espalier.worker");
    Level before = worker.getLevel();
    worker.setLevel(Level.INFO);
    worker.addAppender(log);
    try {
      bench = TaskBench.open(TaskBench.options(directory).withCgroups(CgroupHost.none()));
      assertThat(bench.run(bench.sh("plain", "echo done > \"$2\"")).rawStatus()).isEqualTo("done");
      assertThat(told(log, Level.INFO)).anyMatch(line -> line.contains("no control groups"));
      assertThat(told(log, Level.WARN)).isEmpty();

      CgroupLimits asked =
          new CgroupLimits(OptionalLong.of(64), NONE, OptionalInt.of(100), NO, NO, NO, false);
      for (String node : List.of("first", "second")) {
        LaunchSpec launch = with(bench.sh(node, "echo done > \"$2\""), asked);
        assertThat(bench.run(launch).rawStatus()).isEqualTo("done");
      }
      assertThat(told(log, Level.WARN))
          .singleElement(STRING)
          .contains("limits not set", "memory_mb", "cpu_weight");
    } finally {
      worker.detachAppender(log);
      worker.setLevel(before);
    }
  }

  private static List<String> told(ListAppender<ILoggingEvent> log, Level level) {
    return List.copyOf(log.list).stream()
        .filter(event -> event.getLevel() == level)
        .map(ILoggingEvent::getFormattedMessage)
        .filter(line -> line.contains("control group") || line.contains("limits"))
        .toList();
  }

  /** Where this machine's disks know weights; everywhere else the reason is told. */
  @Test
  void anIoWeightIsSetOrRefusedWithItsReason() throws IOException {
    RealGroups.skipUnless(
        CgroupHost.discover().of("blkio").isPresent() || CgroupHost.discover().of("io").isPresent(),
        "the control group controller blkio or io");
    open();
    CgroupLimits io = new CgroupLimits(NONE, NONE, NO, NO, NO, OptionalInt.of(300), true);
    TaskResult end = bench.run(with(bench.sh("n", "echo done > \"$2\""), io));
    if (end.kind() == TaskResult.Kind.START_FAILED) {
      assertThat(end.message()).contains("io_weight: ").containsAnyOf("no such file", "weight");
    } else {
      assertThat(end.rawStatus()).isEqualTo("done");
    }
  }

  @Test
  void aTaskThatMakesGroupsOfItsOwnIsKilledWithThemAndTheyAreRemoved() throws IOException {
    try (RealGroups groups = RealGroups.second()) {
      open();
      LaunchSpec launch =
          bench.start(
              TaskBench.with(
                  bench.sh(
                      "n",
                      "own="
                          + groups.slice("freezer")
                          + "/$(basename $(grep '^0::' /proc/self/cgroup)); mkdir $own/below;"
                          + " setsid sh -c 'echo 0 > $0/below/cgroup.procs; echo $$; exec sleep"
                          + " 300' $own & wait"),
                  groups.options()));
      long below = bench.firstNumber(launch);
      assertThat(member(Path.of("/proc/" + below + "/cgroup"))).contains("/below");
      bench.kill(launch, TaskBench.KILL);
      bench.ends.await(launch);
      assertThat(TaskBench.isDead(below)).isTrue();
      assertThat(groups.tasks("freezer")).isEmpty();
    }
  }

  /**
   * Its guard is killed with it, and what hides from everything but its group lives on: until the
   * next start.
   */
  @ParameterizedTest
  @ValueSource(strings = {"freezer", "cgroup.kill"})
  void groupsThatAKilledWorkerLeftBehindAreEmptiedAndRemovedAtTheNextStart(String kind)
      throws Exception {
    try (RealGroups groups = groups(kind)) {
      Path data = directory.resolve("data");
      Cgroups options = groups.options();
      Process worker =
          new ProcessBuilder(
                  JavaCommand.of(
                      RunnerInAnotherProcess.class,
                      data.toString(),
                      "NATIVE",
                      "1",
                      ESCAPES + " echo $$ > own; exec sleep 300",
                      options.root(),
                      options.slice(),
                      String.join(",", options.subsystems())))
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .redirectOutput(directory.resolve("worker.out").toFile())
              .start();
      try {
        Path job = data.resolve("jobs/job");
        await()
            .atMost(Duration.ofMinutes(2))
            .until(() -> Files.exists(job.resolve("own")) && Files.size(job.resolve("own")) > 0);
        long stray = Long.parseLong(Files.readString(job.resolve("pid")).strip());
        long own = Long.parseLong(Files.readString(job.resolve("own")).strip());
        // Stopped first: a worker that sees its task end would kill the rest of the task's group.
        assertThat(
                new ProcessBuilder("kill", "-STOP", Long.toString(worker.pid())).start().waitFor())
            .isZero();
        worker.children().forEach(TaskCgroupsTest::killHard);
        worker.destroyForcibly().waitFor();
        assertThat(TaskBench.isDead(stray)).isFalse();
        assertThat(groups.tasks("freezer")).isNotEmpty();
        open();
        assertThat(bench.runner.supervisor().recovery().removedGroups())
            .isEqualTo(options.subsystems().size());
        assertThat(TaskBench.isDead(stray)).isTrue();
        assertThat(TaskBench.isDead(own)).isTrue();
        assertThat(groups.tasks("freezer")).isEmpty();
      } finally {
        worker.destroyForcibly();
      }
    }
  }

  private static void killHard(ProcessHandle process) {
    boolean unused = process.destroyForcibly();
  }
}
