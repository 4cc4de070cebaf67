package io.espalier.worker.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.StopReason;
import io.espalier.core.running.TaskResult;
import io.espalier.testkit.running.CollectedEnds;
import io.espalier.testkit.running.Launches;
import io.espalier.testkit.running.MemoryLogStore;
import io.espalier.worker.process.os.ProcFs;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whom the guard has killed has not failed. */
class LeaseLostTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path directory;

  private static void lease(TaskSupervisor supervisor, long millis) {
    supervisor.lease(ProcFs.uptimeTicks() + millis / 10, System.currentTimeMillis() + millis);
  }

  @Test
  void theEndOfATaskThatTheGuardKilledIsALostLease() throws Exception {
    CollectedEnds ends = new CollectedEnds();
    try (TaskSupervisor supervisor =
        TaskSupervisor.prepareLeased(
            SupervisorOptions.of(directory, directory), new MemoryLogStore())) {
      supervisor.open(ends);
      lease(supervisor, 600_000);
      supervisor.guardAtRest().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      Launches launches = new Launches();
      LaunchSpec failing = launches.of("job", "n1", List.of("/bin/sh", "-c", "kill -9 $$"));
      LaunchSpec lost =
          launches.of("job", "n2", List.of("/bin/sh", "-c", "echo > up; exec sleep 300"));
      supervisor.start(failing);
      supervisor.start(lost);
      TaskResult own = ends.await(failing);
      assertThat(own.kind()).isEqualTo(TaskResult.Kind.EXITED);
      assertThat(own.stopReason()).isNull();
      await().atMost(PATIENCE).until(() -> Files.exists(directory.resolve("jobs/job/up")));
      lease(supervisor, 50);
      TaskResult end = ends.await(lost);
      assertThat(end.kind()).isEqualTo(TaskResult.Kind.KILLED);
      assertThat(end.stopReason()).isEqualTo(StopReason.LEASE_LOST);
    }
  }
}
