package io.espalier.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.espalier.testkit.running.JavaCommand;
import io.espalier.testkit.running.MemoryLogStore;
import io.espalier.worker.process.SupervisorOptions;
import io.espalier.worker.process.SupervisorOptions.Mechanism;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Nothing outlives the scheduler (docs/design/design.md#journal-and-guard). */
class SchedulerDeathTest {
  /** Three processes per task: its own, one in a session of its own, one forked twice. */
  private static final String STUBBORN =
      "trap '' TERM HUP INT; echo $$ > pid.$1.a;"
          + " setsid sh -c 'echo $$ > pid.'$1'.b; exec sleep 300' &"
          + " (sh -c 'echo $$ > pid.'$1'.c; exec sleep 300' &) ;"
          + " while :; do sleep 300; done";

  private static final int TASKS = 4;

  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path directory;

  private final List<ProcessHandle> toEnd = new ArrayList<>();

  @AfterEach
  void end() {
    toEnd.forEach(ProcessHandle::destroyForcibly);
  }

  @ParameterizedTest
  @EnumSource(
      value = Mechanism.class,
      names = {"NATIVE", "JDK"})
  void aSchedulerThatIsKilledTakesAllProcessesOfItsTasksWithIt(Mechanism mechanism)
      throws Exception {
    Process scheduler = scheduler(mechanism);
    List<ProcessHandle> processes = processesOfTasks();
    scheduler.destroyForcibly();
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> processes.stream().allMatch(SchedulerDeathTest::isDead));
  }

  @ParameterizedTest
  @EnumSource(
      value = Mechanism.class,
      names = {"NATIVE", "JDK"})
  void whatNobodyGuardedIsGoneWhenTheNextRunnerIsPrepared(Mechanism mechanism) throws Exception {
    Process scheduler = scheduler(mechanism);
    List<ProcessHandle> processes = processesOfTasks();
    ProcessHandle guard =
        scheduler
            .children()
            .filter(child -> commandOf(child).contains("espalier-task-guard"))
            .findFirst()
            .orElseThrow();
    // Stopped, so that it cannot replace its guard.
    signal("-STOP", scheduler.pid());
    guard.destroyForcibly();
    await().until(() -> isDead(guard));
    scheduler.destroyForcibly().waitFor();
    assertThat(processes).noneMatch(SchedulerDeathTest::isDead);
    prepare().close();
    assertThat(processes).allMatch(SchedulerDeathTest::isDead);
  }

  @Test
  void deletingTheDataDirectoryDoesNotSaveTheTasks() throws Exception {
    Process scheduler = scheduler(Mechanism.AUTO);
    List<ProcessHandle> processes = processesOfTasks();
    Files.delete(directory.resolve("running/journal"));
    scheduler.destroyForcibly();
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> processes.stream().allMatch(SchedulerDeathTest::isDead));
  }

  @Test
  void aGuardThatDiesIsReplaced() throws Exception {
    Process scheduler = scheduler(Mechanism.AUTO);
    List<ProcessHandle> processes = processesOfTasks();
    for (int i = 0; i < 2; i++) {
      await().until(() -> guards(scheduler).size() == 1);
      ProcessHandle guard = guards(scheduler).get(0);
      guard.destroyForcibly();
      await().until(() -> isDead(guard));
    }
    await().until(() -> guards(scheduler).size() == 1);
    scheduler.destroyForcibly();
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> processes.stream().allMatch(SchedulerDeathTest::isDead));
  }

  @Test
  void aSecondRunnerOnOneDirectoryIsRefusedAndHarmsNothing() throws Exception {
    scheduler(Mechanism.AUTO);
    List<ProcessHandle> processes = processesOfTasks();
    assertThatThrownBy(this::prepare)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("another scheduler or worker");
    assertThat(processes).noneMatch(SchedulerDeathTest::isDead);
  }

  @Test
  void aSecondRunnerInTheSameProcessIsRefusedToo() throws Exception {
    try (LocalRunner first = prepare()) {
      assertThat(first.name()).isEqualTo("local");
      assertThatThrownBy(this::prepare)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("another scheduler or worker");
    }
    prepare().close();
  }

  @Test
  void aDataDirectoryThatCannotBeUsedIsRefusedByName() throws Exception {
    Path file = Files.writeString(directory.resolve("file"), "");
    SupervisorOptions options = SupervisorOptions.of(file.resolve("data"), directory);
    assertThatThrownBy(() -> LocalRunner.prepare("instance", options, new MemoryLogStore()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(file.resolve("data").toString());
  }

  private LocalRunner prepare() throws IOException {
    return LocalRunner.prepare(
        "instance", SupervisorOptions.of(directory, directory), new MemoryLogStore());
  }

  private Process scheduler(Mechanism mechanism) throws IOException {
    Process process =
        new ProcessBuilder(
                JavaCommand.of(
                    RunnerInAnotherProcess.class,
                    directory.toString(),
                    mechanism.name(),
                    Integer.toString(TASKS),
                    STUBBORN))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .redirectOutput(directory.resolve("scheduler.out").toFile())
            .start();
    toEnd.add(process.toHandle());
    return process;
  }

  private List<ProcessHandle> processesOfTasks() {
    Path job = directory.resolve("jobs/job");
    List<ProcessHandle> processes = new ArrayList<>();
    await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () -> {
              processes.clear();
              processes.addAll(pids(job));
              return processes.size() == 3 * TASKS;
            });
    toEnd.addAll(processes);
    assertThat(processes).noneMatch(SchedulerDeathTest::isDead);
    return processes;
  }

  private static List<ProcessHandle> pids(Path job) throws IOException {
    List<ProcessHandle> handles = new ArrayList<>();
    if (Files.isDirectory(job)) {
      try (DirectoryStream<Path> files = Files.newDirectoryStream(job, "pid.*")) {
        for (Path file : files) {
          String text = Files.readString(file).strip();
          if (!text.isEmpty()) {
            ProcessHandle.of(Long.parseLong(text)).ifPresent(handles::add);
          }
        }
      }
    }
    return handles;
  }

  private static List<ProcessHandle> guards(Process scheduler) {
    return scheduler
        .children()
        .filter(child -> commandOf(child).contains("espalier-task-guard"))
        .toList();
  }

  /** Also when nobody has collected it yet. */
  private static boolean isDead(ProcessHandle process) {
    try {
      String stat = Files.readString(Path.of("/proc", Long.toString(process.pid()), "stat"));
      return stat.substring(stat.lastIndexOf(')')).startsWith(") Z");
    } catch (IOException e) {
      return true;
    }
  }

  private static String commandOf(ProcessHandle process) {
    try {
      return Files.readString(Path.of("/proc", Long.toString(process.pid()), "cmdline"));
    } catch (IOException e) {
      return "";
    }
  }

  private static void signal(String signal, long pid) throws Exception {
    int result = new ProcessBuilder("kill", signal, Long.toString(pid)).start().waitFor();
    assertThat(result).isZero();
  }
}
