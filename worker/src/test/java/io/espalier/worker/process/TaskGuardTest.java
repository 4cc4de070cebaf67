package io.espalier.worker.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.running.LaunchSpec;
import io.espalier.testkit.running.CollectedEnds;
import io.espalier.testkit.running.Launches;
import io.espalier.testkit.running.MemoryLogStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** When the guard of a supervisor's tasks starts, with real processes. */
class TaskGuardTest {
  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path directory;

  private final CollectedEnds ends = new CollectedEnds();

  @Test
  void startsWithTheFirstTask() throws IOException {
    try (TaskSupervisor supervisor =
        TaskSupervisor.prepare(SupervisorOptions.of(directory, directory), new MemoryLogStore())) {
      supervisor.open(ends);
      assertThat(supervisor.guardAtRest()).isCompleted();
      assertThat(guards()).isEmpty();
      LaunchSpec task = new Launches().of("job", "node", List.of("/bin/true"));
      supervisor.start(task);
      ends.await(task);
      supervisor.guardAtRest().join();
      assertThat(guards()).hasSize(1);
    }
    assertThat(guards()).isEmpty();
  }

  @Test
  void runsFromTheBeginningWithLeases() throws IOException {
    try (TaskSupervisor supervisor =
        TaskSupervisor.prepareLeased(
            SupervisorOptions.of(directory, directory), new MemoryLogStore())) {
      assertThat(guards()).hasSize(1);
      supervisor.guardAtRest().join();
      assertThat(supervisor.guardProblem()).isEmpty();
    }
  }

  /** The guards of this test's directory: others run beside it. */
  private List<ProcessHandle> guards() {
    return ProcessHandle.current()
        .children()
        .filter(
            child -> {
              String command = commandOf(child);
              return command.contains("espalier-task-guard")
                  && command.contains(directory.toString());
            })
        .toList();
  }

  private static String commandOf(ProcessHandle process) {
    try {
      return Files.readString(Path.of("/proc/" + process.pid() + "/cmdline"));
    } catch (IOException e) {
      if (process.isAlive()) {
        throw new UncheckedIOException(e);
      }
      return "";
    }
  }
}
