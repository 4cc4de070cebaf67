package io.espalier.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.config.task.SubprocessOptions;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.TaskResult.Kind;
import io.espalier.testkit.running.CollectedEnds;
import io.espalier.testkit.running.JavaCommand;
import io.espalier.testkit.running.MemoryLogStore;
import io.espalier.worker.cgroup.RealGroups;
import io.espalier.worker.process.SupervisorOptions;
import io.espalier.worker.process.TaskSupervisor;
import io.espalier.worker.process.os.ProcFs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What becomes of the processes of batches when those who run them die or lose their lease. The
 * first task, by whose invocation the journal names the process, has ended each time.
 */
class BatchDeathTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** Writes its number and that of a child, once its first task has ended. */
  private static final String SCRIPT =
      "say a "
          + BatchBench.DONE
          + "; say b "
          + BatchBench.STARTED
          + "; sleep 300 & echo $! > child; echo $$ > self.new; mv self.new self; wait";

  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path directory;

  /** A scheduler to be killed; argument: a directory. */
  static final class Scheduler {
    private Scheduler() {}

    public static void main(String[] args) throws Exception {
      BatchBench bench = BatchBench.open(Path.of(args[0]));
      List<LaunchSpec> batch = bench.start(bench.batch(SCRIPT, "a", "b", "c"));
      bench.tasks.ends.await(batch.get(0));
      Files.writeString(Path.of(args[0], "ended"), "");
      new CountDownLatch(1).await();
    }
  }

  private long pid(String file) {
    Path path = directory.resolve("data/jobs/job").resolve(file);
    await().atMost(PATIENCE).until(() -> Files.exists(path));
    try {
      return Long.parseLong(Files.readString(path).strip());
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private Process scheduler() throws IOException {
    Process process =
        new ProcessBuilder(JavaCommand.of(Scheduler.class, directory.toString()))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .redirectOutput(directory.resolve("out").toFile())
            .start();
    await().atMost(PATIENCE).until(() -> Files.exists(directory.resolve("ended")));
    return process;
  }

  private static void signal(String signal, long pid) throws Exception {
    assertThat(new ProcessBuilder("kill", signal, Long.toString(pid)).start().waitFor()).isZero();
  }

  @Test
  void theGuardKillsTheProcessOfASchedulerThatWasKilled() throws Exception {
    Process scheduler = scheduler();
    long self = pid("self");
    long child = pid("child");
    assertThat(TaskBench.isDead(self)).isFalse();
    scheduler.destroyForcibly();
    await().atMost(PATIENCE).until(() -> TaskBench.isDead(self) && TaskBench.isDead(child));
  }

  @Test
  void theNextStartKillsWhatNobodyGuarded() throws Exception {
    Process scheduler = scheduler();
    long self = pid("self");
    long child = pid("child");
    ProcessHandle guard =
        scheduler
            .children()
            .filter(process -> process.pid() != self && process.pid() != child)
            .findFirst()
            .orElseThrow();
    // Stopped, so that it cannot replace its guard.
    signal("-STOP", scheduler.pid());
    guard.destroyForcibly();
    await().atMost(PATIENCE).until(() -> TaskBench.isDead(guard.pid()));
    scheduler.destroyForcibly().waitFor();
    assertThat(TaskBench.isDead(self)).isFalse();
    TaskSupervisor.prepare(TaskBench.options(directory), new MemoryLogStore()).close();
    assertThat(TaskBench.isDead(self)).isTrue();
    assertThat(TaskBench.isDead(child)).isTrue();
  }

  @Test
  void aLostLeaseKillsTheProcessAndReturnsWhatHadNotBegun() throws Exception {
    CollectedEnds ends = new CollectedEnds();
    try (BatchBench bench = BatchBench.open(directory.resolve("other"));
        TaskSupervisor supervisor =
            TaskSupervisor.prepareLeased(
                SupervisorOptions.of(directory.resolve("data"), directory), new MemoryLogStore())) {
      supervisor.open(ends);
      lease(supervisor, 600_000);
      supervisor.guardAtRest().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      List<LaunchSpec> batch = bench.batch(SCRIPT, "a", "b", "c");
      supervisor.startBatch(batch);
      assertThat(ends.await(batch.get(0)).rawStatus()).isEqualTo("done");
      long self = pid("self");
      lease(supervisor, 50);
      TaskResult begun = ends.await(batch.get(1));
      assertThat(begun.kind()).isEqualTo(Kind.KILLED);
      assertThat(begun.stopReason()).isEqualTo(StopReason.LEASE_LOST);
      assertThat(ends.await(batch.get(2)).kind()).isEqualTo(Kind.NOT_STARTED);
      assertThat(TaskBench.isDead(self)).isTrue();
    }
  }

  private static void lease(TaskSupervisor supervisor, long millis) {
    supervisor.lease(ProcFs.uptimeTicks() + millis / 10, System.currentTimeMillis() + millis);
  }

  /** Found by its group alone: in a session of its own, and without our environment. */
  @Test
  void aControlGroupHoldsEverythingThatABatchHasStarted() throws Exception {
    try (RealGroups groups = RealGroups.second();
        BatchBench bench = BatchBench.open(directory)) {
      SubprocessOptions options = SubprocessOptions.DEFAULT.withCgroups(groups.options());
      String script =
          "say a "
              + BatchBench.DONE
              + "; env -i setsid bash -c 'exec 99>&- 98>&-; echo $$ > \"$0.new\"; mv \"$0.new\" \"$0\";"
              + " exec sleep 300' \"$PWD/self\" > /dev/null 2>&1 & sleep 300";
      List<LaunchSpec> batch =
          bench.batch(script, "a", "b").stream()
              .map(launch -> launch.withSubprocess(options))
              .toList();
      bench.start(batch);
      long escaped = pid("self");
      LaunchSpec left = batch.get(1);
      assertThat(bench.tasks.live(left).pids()).contains(escaped);
      bench.tasks.kill(left, TaskBench.KILL);
      assertThat(bench.tasks.ends.await(left).kind()).isEqualTo(Kind.KILLED);
      assertThat(TaskBench.isDead(escaped)).isTrue();
    }
  }
}
