package io.espalier.worker.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult;
import io.espalier.testkit.running.CollectedEnds;
import io.espalier.testkit.running.Launches;
import io.espalier.testkit.running.MemoryLogStore;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A start without a lease never was one: it costs the task no attempt. */
class ClosedGateTest {
  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path directory;

  @ParameterizedTest
  @EnumSource(
      value = SupervisorOptions.Mechanism.class,
      names = {"NATIVE", "JDK"})
  void nothingIsStartedAndNoAttemptIsCounted(SupervisorOptions.Mechanism mechanism)
      throws Exception {
    CollectedEnds ends = new CollectedEnds();
    try (TaskSupervisor supervisor =
        TaskSupervisor.prepareLeased(
            SupervisorOptions.of(directory, directory).withMechanism(mechanism),
            new MemoryLogStore())) {
      supervisor.open(ends);
      LaunchSpec launch =
          new Launches().of("job", "node", List.of("/bin/sh", "-c", "echo > started"));
      supervisor.start(launch);
      TaskResult end = ends.await(launch);
      assertThat(end.kind()).isEqualTo(TaskResult.Kind.NOT_STARTED);
      assertThat(end.message()).contains("lease");
      assertThat(directory.resolve("jobs/job/started")).doesNotExist();
    }
  }
}
