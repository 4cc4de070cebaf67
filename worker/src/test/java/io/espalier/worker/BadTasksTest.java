package io.espalier.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.config.task.ProcessAttributes;
import io.espalier.core.config.task.ProcessAttributes.RunAs;
import io.espalier.core.logs.LogLine.Stream;
import io.espalier.core.logs.LogPolicy;
import io.espalier.core.logs.LogQuery;
import io.espalier.core.logs.LogRetention;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult;
import io.espalier.testkit.running.JavaCommand;
import io.espalier.worker.cgroup.RealGroups;
import io.espalier.worker.logs.SegmentLogStore;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tasks that do what nobody wants, with real processes; what cannot be run at all, exits at once,
 * ignores TERM or closes its output is in {@link LocalRunnerConformance}.
 */
@Tag("slow")
class BadTasksTest {
  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path directory;

  private static long descriptors() throws IOException {
    try (var open = Files.list(Path.of("/proc/self/fd"))) {
      return open.count();
    }
  }

  private static ProcessAttributes as(String user) {
    return new ProcessAttributes(
        OptionalInt.empty(),
        OptionalInt.empty(),
        Optional.empty(),
        Optional.of(new RunAs(user, Optional.empty())));
  }

  private static void assumeRoot() {
    boolean root = "root".equals(System.getProperty("user.name"));
    if (!root) {
      System.err.println("SKIPPED: tasks of other users were not tried: we are not root");
    }
    Assumptions.assumeTrue(root);
  }

  /** Without control groups: they are all in the group of the task. */
  @Test
  void aThousandChildrenDieWithTheTask() throws IOException {
    try (TaskBench bench = TaskBench.open(directory)) {
      LaunchSpec launch =
          bench.start(
              bench.sh(
                  "n",
                  "trap '' TERM; i=0; while [ $i -lt 1000 ]; do sleep 300 & echo $!; i=$((i+1));"
                      + " done > pids; echo up; wait"));
      bench.awaitLine(launch, "up");
      List<String> pids = Files.readAllLines(directory.resolve("data/jobs/job/pids"));
      assertThat(pids).hasSize(1000).noneMatch(pid -> TaskBench.isDead(Long.parseLong(pid)));
      assertThat(bench.kill(launch, TaskBench.KILL)).isTrue();
      assertThat(bench.ends.await(launch).kind()).isEqualTo(TaskResult.Kind.KILLED);
      assertThat(pids).allMatch(pid -> TaskBench.isDead(Long.parseLong(pid)));
    }
  }

  /** The processes are those that the task itself might have used up. */
  @Test
  void aTaskThatHasLostItsLeaderIsKilledWithoutANewThread() throws Exception {
    try (RealGroups groups = RealGroups.first("pids")) {
      Path group = Files.createDirectory(groups.slice("pids").resolve("runner"));
      Process runner =
          new ProcessBuilder(
                  // The virtual machine itself grumbles when it cannot start a thread.
                  JavaCommand.of(
                      List.of("-Xlog:disable"), KillsOnRequest.class, directory.toString()))
              .start();
      try (BufferedReader answers = runner.inputReader(StandardCharsets.UTF_8)) {
        long stray = Long.parseLong(answers.readLine());
        Files.writeString(group.resolve("cgroup.procs"), Long.toString(runner.pid()));
        Files.writeString(group.resolve("pids.max"), "1");
        runner.getOutputStream().write('\n');
        runner.getOutputStream().flush();
        await().atMost(Duration.ofMinutes(2)).until(() -> TaskBench.isDead(stray));
        assertThat(answers.readLine()).isEqualTo("EXITED after a kill");
      } finally {
        Files.writeString(group.resolve("pids.max"), "max");
        runner.destroyForcibly().waitFor();
      }
    }
  }

  /** The runner of the test above; argument: a directory. */
  static final class KillsOnRequest {
    private KillsOnRequest() {}

    public static void main(String[] args) throws IOException {
      try (TaskBench bench = TaskBench.open(Path.of(args[0]))) {
        LaunchSpec launch = bench.start(bench.sh("n", "sleep 300 & echo $!"));
        System.out.println(bench.firstNumber(launch));
        int unused = System.in.read();
        bench.kill(launch, TaskBench.KILL);
        System.out.println(bench.ends.await(launch).kind() + " after a kill");
      }
    }
  }

  /** In a process of its own with little memory, where it would die if anything were kept. */
  @Test
  void threeHundredMegabytesOfOutputNeedBoundedMemoryAndDisk() throws Exception {
    Process process =
        new ProcessBuilder(
                JavaCommand.of(
                    List.of("-Xmx160m", "-XX:+ExitOnOutOfMemoryError"),
                    MuchOutput.class,
                    directory.toString()))
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("out").toFile())
            .start();
    try {
      assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
      assertThat(Files.readString(directory.resolve("out"))).contains("status done");
      assertThat(process.exitValue()).isZero();
    } finally {
      process.destroyForcibly();
    }
    try (var files = Files.walk(directory.resolve("logs"))) {
      long kept = files.filter(Files::isRegularFile).mapToLong(BadTasksTest::size).sum();
      // What may stay, and what is being written besides.
      assertThat(kept).isLessThan(100L << 20);
    }
  }

  /** The task of the test above; argument: a directory. */
  static final class MuchOutput {
    private MuchOutput() {}

    public static void main(String[] args) throws Exception {
      Path directory = Path.of(args[0]);
      try (SegmentLogStore store = SegmentLogStore.open(directory.resolve("logs"))) {
        store.apply(new LogPolicy(new LogRetention(0, 4L << 20), List.of()));
        try (TaskBench bench = TaskBench.open(TaskBench.options(directory), store)) {
          LaunchSpec launch =
              TaskBench.withQuota(
                  bench.sh(
                      "n",
                      "yes \"$(head -c 3750 /dev/urandom | base64 -w 0)\" | head -c 300000000;"
                          + " echo done > \"$2\""),
                  10,
                  0);
          bench.start(launch);
          // As the worker does, now and then.
          await()
              .pollInterval(Duration.ofMillis(200))
              .atMost(Duration.ofMinutes(2))
              .until(
                  () -> {
                    store.prune(System.currentTimeMillis());
                    return !bench.ends.of(launch).isEmpty();
                  });
          System.out.println("status " + bench.ends.await(launch).rawStatus());
          store.prune(System.currentTimeMillis());
        }
      }
    }
  }

  private static long size(Path file) {
    try {
      return Files.size(file);
    } catch (IOException e) {
      return 0;
    }
  }

  /** While nobody takes lines a task has to wait, and its status does not. */
  @Test
  void aLogThatTakesNothingHoldsTheTaskUpAndNotItsStatus() throws IOException {
    try (TaskBench bench = TaskBench.open(directory)) {
      bench.setRoom(false);
      LaunchSpec launch =
          bench.start(
              TaskBench.withQuota(
                  bench.sh(
                      "n",
                      "echo '{\"progress\": {\"done\": 1}}' >> \"$2\"; yes | head -c 1000000;"
                          + " echo passed > after; echo done >> \"$2\""),
                  10,
                  0));
      await().until(() -> !bench.progress.isEmpty());
      Path after = directory.resolve("data/jobs/job/after");
      assertThat(bench.out(launch)).isEmpty();
      assertThat(after).doesNotExist();
      bench.setRoom(true);
      assertThat(bench.ends.await(launch).rawStatus()).isEqualTo("done");
      assertThat(after).exists();
      assertThat(bench.out(launch)).hasSize(500_000);
    }
  }

  @Test
  void aTaskThatFillsTheDiskFailsAloneAndWhatFollowsSaysWhyUntilThereIsRoom() throws Exception {
    Path disk = Files.createDirectory(directory.resolve("disk"));
    boolean mounted = run("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk.toString());
    if (!mounted) {
      System.err.println("SKIPPED: a full disk was not tried: no right to mount a tmpfs here");
    }
    Assumptions.assumeTrue(mounted);
    try {
      try (SegmentLogStore store = SegmentLogStore.open(disk.resolve("logs"));
          TaskBench bench = TaskBench.open(TaskBench.options(disk), store)) {
        // It goes on writing until even the last bytes of a page of the journal are taken.
        LaunchSpec filler =
            bench.sh("fills", "cat /dev/zero > big; cat /dev/zero > more; echo $? >&2; exit 1");
        TaskResult end = bench.run(filler);
        assertThat(end.kind()).isEqualTo(TaskResult.Kind.EXITED);
        assertThat(end.exitCode()).isEqualTo(1);
        // The journal's last page has some room: it takes a few starts until that is used up.
        List<TaskResult> ends = new ArrayList<>();
        for (int i = 0; i < 2000 && ends.stream().allMatch(BadTasksTest::wasDone); i++) {
          ends.add(bench.run(bench.sh("n" + i, "echo done > \"$2\"")));
        }
        TaskResult refused = ends.get(ends.size() - 1);
        assertThat(refused.kind()).isEqualTo(TaskResult.Kind.NOT_STARTED);
        assertThat(refused.message()).contains("journal", "No space left on device");
        Files.delete(disk.resolve("data/jobs/job/big"));
        TaskResult again = bench.run(bench.sh("again", "echo line; echo done > \"$2\""));
        assertThat(again.rawStatus()).isEqualTo("done");
        await()
            .until(
                () ->
                    store.query(LogQuery.of(EnumSet.of(Stream.STDOUT))).lines().stream()
                        .anyMatch(line -> line.node().equals("again")));
      }
      // The journal is whole: nothing is believed to live.
      try (TaskBench bench = TaskBench.open(TaskBench.options(disk))) {
        assertThat(bench.runner.supervisor().recovery().invocations()).isEmpty();
      }
    } finally {
      assertThat(run("umount", disk.toString())).isTrue();
    }
  }

  private static boolean wasDone(TaskResult end) {
    return "done".equals(end.rawStatus());
  }

  private static boolean run(String... command) throws Exception {
    try {
      Process process = new ProcessBuilder(command).inheritIO().start();
      return process.waitFor(20, TimeUnit.SECONDS) && process.exitValue() == 0;
    } catch (IOException e) {
      return false;
    }
  }

  @Test
  void aTaskThatRemovesOrClosesItsStatusHasNone() throws IOException {
    try (TaskBench bench = TaskBench.open(directory)) {
      assertThat(bench.run(bench.sh("rm", "rm -f \"$2\"; echo done > \"$2\"")).kind())
          .isEqualTo(TaskResult.Kind.EXITED);
      LaunchSpec closed =
          bench.launches.of("c", "/bin/bash", "-c", "exec 99>&- 98>&-; echo done > $2", "task");
      TaskResult end = bench.run(closed);
      assertThat(end.rawStatus()).isNull();
      assertThat(end.exitCode()).isNotZero();
      assertThat(bench.err(closed)).isNotEmpty();
    }
  }

  @Test
  void aUserThatIsNotThereOrMayNotIsAFailedStartThatNamesIt() throws IOException {
    assumeRoot();
    try (TaskBench bench = TaskBench.open(directory)) {
      TaskResult unknown =
          bench.run(TaskBench.with(bench.sh("a", "id"), as("nobody-of-that-name")));
      assertThat(unknown.kind()).isEqualTo(TaskResult.Kind.START_FAILED);
      assertThat(unknown.message()).contains("run_as nobody-of-that-name");
      // The temporary directory is ours alone.
      TaskResult shut = bench.run(TaskBench.with(bench.sh("b", "id"), as("nobody")));
      assertThat(shut.kind()).isEqualTo(TaskResult.Kind.START_FAILED);
      assertThat(shut.message()).contains("user nobody may not enter", directory.toString());
      assertThat(run("chmod", "-R", "o+x", directory.toString())).isTrue();
      Path own = Files.writeString(directory.resolve("own.sh"), "#!/bin/sh\necho never\n");
      assertThat(run("chmod", "700", own.toString())).isTrue();
      LaunchSpec forbidden = TaskBench.with(bench.launches.of("c", own.toString()), as("nobody"));
      TaskResult refused = bench.run(forbidden);
      assertThat(refused.kind()).isEqualTo(TaskResult.Kind.START_FAILED);
      assertThat(refused.message()).contains("could not be run", "Permission denied");
      LaunchSpec allowed =
          TaskBench.with(bench.sh("d", "id -un; echo done > \"$2\""), as("nobody"));
      assertThat(bench.run(allowed).rawStatus()).isEqualTo("done");
      assertThat(bench.out(allowed)).containsExactly("nobody\n");
    } catch (Exception e) {
      throw new IOException(e);
    }
  }

  /** A thousand requests for one task, of all kinds and from many threads, and one end. */
  @Test
  void aThousandKillsOfOneTaskAreOneEnd() throws Exception {
    try (TaskBench bench = TaskBench.open(directory)) {
      LaunchSpec launch =
          bench.start(bench.sh("n", "trap '' TERM; echo up; while :; do sleep 0.05; done"));
      bench.awaitLine(launch, "up");
      IntStream.range(0, 999)
          .parallel()
          .forEach(i -> assertThat(bench.kill(launch, TaskBench.TERM)).isTrue());
      assertThat(bench.ends.of(launch)).isEmpty();
      assertThat(bench.kill(launch, TaskBench.KILL)).isTrue();
      assertThat(bench.ends.await(launch).signal()).isEqualTo(9);
      bench.runner.close();
      assertThat(bench.ends.all()).hasSize(1);
    }
  }

  /** A thousand tasks, each killed at another moment of its start, and nothing is left of any. */
  @Test
  void aThousandTasksKilledWhileTheyStartLeaveNothing() throws Exception {
    long before = descriptors();
    try (TaskBench bench = TaskBench.open(directory)) {
      List<LaunchSpec> launches = new ArrayList<>();
      for (int i = 0; i < 1000; i++) {
        LaunchSpec launch = bench.sh("n" + i, "sleep 300 & exec sleep 300");
        bench.start(launch);
        launches.add(launch);
        if (i >= 50) {
          bench.kill(launches.get(i - 50 + i % 50), i % 2 == 0 ? TaskBench.KILL : TaskBench.TERM);
        }
      }
      launches.forEach(launch -> bench.kill(launch, TaskBench.KILL));
      bench.ends.awaitCount(1000);
      for (LaunchSpec launch : launches) {
        assertThat(bench.ends.of(launch)).hasSize(1);
      }
      assertThat(bench.runner.supervisor().runningCount()).isZero();
      assertThat(bench.runner.supervisor().tasks()).isEmpty();
    }
    await().atMost(Duration.ofSeconds(10)).until(() -> descriptors() <= before + 5);
  }
}
