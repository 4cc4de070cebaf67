package io.espalier.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.TaskResult;
import io.espalier.worker.resources.MeasuringOptions;
import io.espalier.worker.resources.NvidiaSmi;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What tasks use is seen while they live and told at their end (docs/design/bistro.md#measuring).
 */
class LiveUsageTest {
  private static final long MB = 1 << 20;

  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path directory;

  private TaskBench bench(NvidiaSmi cards) throws IOException {
    return TaskBench.open(
        TaskBench.options(directory)
            .withMeasuring(new MeasuringOptions(Duration.ofMillis(20), cards)));
  }

  private static NvidiaSmi noCards() {
    return new NvidiaSmi(NvidiaSmi.OFF, NvidiaSmi.TIMEOUT);
  }

  @Test
  void cpuTimeAndMemoryOfAllItsProcessesAreSampledWhileItLives() throws IOException {
    try (TaskBench bench = bench(noCards())) {
      // The memory is a child's, the time is the task's own.
      LaunchSpec launch =
          bench.sh(
              "n",
              "head -c 60000000 /dev/zero | tail -c 60000000 > /dev/null &"
                  + " while :; do :; done");
      bench.start(launch);
      await()
          .atMost(Duration.ofSeconds(30))
          .until(
              () ->
                  bench.samples.getOrDefault(launch.invocation(), List.of()).stream()
                      .anyMatch(usage -> usage.cpuMillis() >= 100 && usage.memoryBytes() > MB));
      assertThat(bench.kill(launch, TaskBench.KILL)).isTrue();
      TaskResult end = bench.ends.await(launch);
      List<ResourceUsage> samples = bench.samples.getOrDefault(launch.invocation(), List.of());
      ResourceUsage used = TaskBench.used(end);
      assertThat(used.cpuMillis()).isGreaterThanOrEqualTo(100);
      assertThat(used.peakMemoryBytes())
          .isGreaterThanOrEqualTo(
              samples.stream().mapToLong(ResourceUsage::peakMemoryBytes).max().orElse(0));
      assertThat(used.memoryBytes()).isEqualTo(ResourceUsage.UNKNOWN_AMOUNT);
    }
  }

  @Test
  void aTaskThatIsNeverSampledStillTellsItsTimeAndPeak() throws IOException {
    try (TaskBench bench =
        TaskBench.open(TaskBench.options(directory).withMeasuring(MeasuringOptions.OFF))) {
      LaunchSpec launch =
          bench.sh("n", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo done > \"$2\"");
      TaskResult end = bench.run(launch);
      assertThat(TaskBench.used(end).cpuMillis()).isGreaterThan(0);
      assertThat(bench.samples).isEmpty();
    }
  }

  @Test
  void theCardsOfATaskAreSeenAndTheHostsAreItsPhysicalResources() throws IOException {
    Path tool = directory.resolve("nvidia-smi");
    Path pid = Files.writeString(directory.resolve("pid"), "1");
    Files.writeString(
        tool,
        "#!/bin/sh\ncase $1 in *gpu=*) echo '0:1, 1000, 10, 50, Tesla T4';;"
            + " *) while [ ! -s 'PID' ]; do sleep 0.01; done; echo \"$(cat 'PID'), 0:1\";; esac\n"
                .replace("PID", pid.toString()));
    assertThat(tool.toFile().setExecutable(true)).isTrue();
    try (TaskBench bench = bench(new NvidiaSmi(tool.toString(), Duration.ofSeconds(20)))) {
      assertThat(bench.runner.physical())
          .containsEntry("gpu_card", 1L)
          .containsEntry("GPU: Tesla T4", 1L)
          .hasEntrySatisfying("cpu_core", n -> assertThat(n).isPositive())
          .hasEntrySatisfying("ram_mb", n -> assertThat(n).isPositive());
      // Who uses which card is asked once a minute: the tool waits for the task to say its pid.
      Files.delete(pid);
      LaunchSpec launch = bench.start(bench.sh("n", "echo $$ > '" + pid + "'; exec sleep 300"));
      await()
          .atMost(Duration.ofSeconds(30))
          .until(
              () ->
                  bench.samples.getOrDefault(launch.invocation(), List.of()).stream()
                      .anyMatch(usage -> usage.gpus().equals(List.of("Tesla T4 0:1"))));
      assertThat(bench.kill(launch, TaskBench.KILL)).isTrue();
      bench.ends.await(launch);
    }
  }
}
