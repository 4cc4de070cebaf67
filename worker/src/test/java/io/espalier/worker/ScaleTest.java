package io.espalier.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult;
import io.espalier.testkit.running.JavaCommand;
import io.espalier.worker.process.SupervisorOptions.Mechanism;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a task costs while it does nothing (docs/adr/0009-processes.md). With 5,000: the benchmark
 * {@code ManyTasks}.
 */
class ScaleTest {
  private static final int TASKS = 300;

  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path directory;

  private static int entries(String directory) throws IOException {
    try (var entries = Files.list(Path.of(directory))) {
      return (int) entries.count();
    }
  }

  private static List<LaunchSpec> startAll(TaskBench bench, int count) {
    List<LaunchSpec> launches = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      launches.add(bench.start(bench.sh("n" + i, "exec sleep 600")));
    }
    await()
        .atMost(Duration.ofSeconds(60))
        .until(
            () ->
                bench.runner.supervisor().tasks().stream().filter(task -> task.pid() > 0).count()
                    == count);
    return launches;
  }

  @Test
  void aTaskCostsThreeDescriptorsAndNoThread() throws IOException {
    try (TaskBench bench = TaskBench.open(directory)) {
      startAll(bench, 20);
      int threads = entries("/proc/self/task");
      int descriptors = entries("/proc/self/fd");
      List<LaunchSpec> more = new ArrayList<>();
      for (int i = 0; i < TASKS; i++) {
        more.add(bench.start(bench.sh("more" + i, "exec sleep 600")));
      }
      await()
          .atMost(Duration.ofSeconds(60))
          .until(
              () ->
                  bench.runner.supervisor().tasks().stream().filter(task -> task.pid() > 0).count()
                      == TASKS + 20);
      // A little for what the virtual machine and the test do besides.
      assertThat(entries("/proc/self/fd") - descriptors).isBetween(3 * TASKS - 20, 3 * TASKS + 20);
      assertThat(entries("/proc/self/task") - threads).isLessThan(10);
      more.forEach(launch -> bench.kill(launch, TaskBench.KILL));
      bench.ends.awaitCount(TASKS);
      assertThat(entries("/proc/self/fd") - descriptors).isLessThan(20);
    }
  }

  /** A process that may open few files runs few tasks and refuses the others, with the reason. */
  @Test
  void theLimitOfOpenFilesBoundsTheTasksAndWhatIsAboveIsNotStarted() throws Exception {
    List<String> command =
        new ArrayList<>(List.of("/bin/sh", "-c", "ulimit -n 460; exec \"$@\"", "limited"));
    command.addAll(JavaCommand.of(Limited.class, directory.toString()));
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("out").toFile())
            .start();
    try {
      process.waitFor();
      assertThat(Files.readString(directory.resolve("out")))
          .contains("started 20", "limit of open files (ulimit -n)");
    } finally {
      process.destroyForcibly();
    }
  }

  /** The process of the test above; argument: a directory. */
  static final class Limited {
    private Limited() {}

    public static void main(String[] args) throws Exception {
      try (TaskBench bench =
          TaskBench.open(TaskBench.options(Path.of(args[0])).withMechanism(Mechanism.NATIVE))) {
        List<LaunchSpec> launches = startAll(bench, 20);
        LaunchSpec above = bench.start(bench.sh("above", "exec sleep 600"));
        TaskResult end = bench.ends.await(above);
        System.out.println(
            "started " + launches.size() + ", then " + end.kind() + ": " + end.message());
      }
    }
  }
}
