package io.espalier.worker.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskListener;
import io.espalier.core.running.TaskResult;
import io.espalier.testkit.running.CollectedEnds;
import io.espalier.testkit.running.Launches;
import io.espalier.testkit.running.MemoryLogStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Starts that are taken back while the supervisor is busy, with real processes. */
class RecallTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path directory;

  private final Launches launches = new Launches();
  private final CollectedEnds ends = new CollectedEnds();

  /** Holds the supervisor's thread where the task on node "first" has ended. */
  private final CountDownLatch held = new CountDownLatch(1);

  private final CountDownLatch goOn = new CountDownLatch(1);

  @SuppressWarnings("NullAway.Init")
  private TaskSupervisor supervisor;

  @BeforeEach
  void open() throws IOException {
    supervisor =
        TaskSupervisor.prepare(
            SupervisorOptions.of(directory, directory).withShutdownWait(Duration.ofSeconds(1)),
            new MemoryLogStore());
    supervisor.open(
        new TaskListener() {
          @Override
          public void ended(TaskResult end) {
            ends.ended(end);
            if (end.node().equals("first")) {
              held.countDown();
              awaitLatch(goOn);
            }
          }
        });
  }

  @AfterEach
  void close() {
    goOn.countDown();
    supervisor.close();
  }

  private static void awaitLatch(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  private LaunchSpec launch(String node, String script) {
    return launches.of("job", node, List.of("/bin/sh", "-c", script, "task"));
  }

  private void recall(LaunchSpec launch) {
    supervisor.recall(launch.job(), launch.node(), launch.invocation());
  }

  private void holdTheSupervisor() {
    supervisor.start(launch("first", "exit 0"));
    awaitLatch(held);
  }

  @Test
  void whatHasNotBegunNeverDoesAndWhatComesAfterItDoes() {
    holdTheSupervisor();
    LaunchSpec recalled = launch("recalled", "echo > recalled");
    LaunchSpec other = launch("other", "echo > other; echo done > \"$2\"");
    supervisor.start(recalled);
    supervisor.start(other);
    recall(recalled);
    recall(recalled);
    goOn.countDown();
    TaskResult end = ends.await(recalled);
    assertThat(end.kind()).isEqualTo(TaskResult.Kind.NOT_STARTED);
    assertThat(end.message()).isEqualTo("it was recalled");
    assertThat(ends.await(other).rawStatus()).isEqualTo("done");
    assertThat(directory.resolve("jobs/job/other")).exists();
    assertThat(directory.resolve("jobs/job/recalled")).doesNotExist();
    assertThat(ends.of(recalled)).hasSize(1);
    assertThat(supervisor.runningCount()).isZero();
  }

  @Test
  void aBatchBeginsWithoutItsTasksThatWereRecalled() throws Exception {
    holdTheSupervisor();
    List<LaunchSpec> batch =
        List.of("a", "b", "c").stream()
            .map(node -> launch(node, "cp \"$1\" given").with().batch(7).build())
            .toList();
    supervisor.startBatch(batch);
    recall(batch.get(0));
    recall(batch.get(2));
    goOn.countDown();
    ends.awaitCount(4);
    assertThat(ends.of(batch.get(0)))
        .singleElement()
        .matches(end -> end.kind() == TaskResult.Kind.NOT_STARTED);
    assertThat(ends.of(batch.get(1)))
        .singleElement()
        .matches(end -> end.kind() == TaskResult.Kind.EXITED);
    assertThat(ends.of(batch.get(2)))
        .singleElement()
        .matches(end -> end.kind() == TaskResult.Kind.NOT_STARTED);
    assertThat(Files.readAllLines(directory.resolve("jobs/job/given")))
        .singleElement()
        .satisfies(line -> assertThat(line).contains("\"node\":\"b\""));
  }

  @Test
  void whatHasBegunGoesOn() {
    LaunchSpec running = launch("running", "echo > begun; exec sleep 300");
    supervisor.start(running);
    await().atMost(PATIENCE).until(() -> Files.exists(directory.resolve("jobs/job/begun")));
    recall(running);
    assertThat(
            supervisor.kill(
                "job",
                "running",
                running.invocation(),
                new KillRequest(KillRequest.Method.KILL, 0)))
        .isTrue();
    assertThat(ends.await(running).kind()).isEqualTo(TaskResult.Kind.KILLED);
  }
}
