package io.espalier.worker.resources;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.espalier.core.running.Invocation;
import io.espalier.core.running.TaskEnd;
import io.espalier.core.running.TaskListener;
import io.espalier.core.running.Usage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TaskUsageTest {
  private static final NvidiaSmi NO_CARDS = new NvidiaSmi("", NvidiaSmi.TIMEOUT);

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path root;

  /** Samples as they come. */
  private static final class Samples implements TaskListener {
    private final Queue<Usage> all = new ConcurrentLinkedQueue<>();

    @Override
    public void ended(TaskEnd end) {
      throw new AssertionError("a sampler ends nothing");
    }

    @Override
    public void usage(String job, String node, Invocation invocation, Usage usage) {
      all.add(usage);
    }
  }

  private static SampledTask task(long pid, Path... cgroups) {
    return new SampledTask("j", "n", new Invocation(1, pid, 1), pid, List.of(cgroups));
  }

  @Test
  void r2_a_task_s_memory_time_and_processes_are_read_from_its_groups() {
    FakeHost host =
        new FakeHost(root)
            .put("memory/memory.usage_in_bytes", 37 * FakeHost.MB)
            .put("memory/memory.max_usage_in_bytes", 39 * FakeHost.MB)
            .put("memory/cgroup.procs", "12\n7\n12")
            .put("cpuacct/cpuacct.usage", 7_654_321)
            .put("cpuacct/cgroup.procs", "999")
            .put(
                "blkio/blkio.throttle.io_service_bytes",
                "8:0 Read 4096\n8:0 Write 10\n8:16 Read 4\n8:0 Total 4110\nTotal 4110");
    SampledTask task =
        task(1, host.root().resolve("memory"), root.resolve("cpuacct"), root.resolve("blkio"));
    TaskUsageReader reader = new TaskUsageReader(root);
    Usage usage = reader.read(task, GpuTable.EMPTY);
    assertThat(usage)
        .isEqualTo(new Usage(7, 39 * FakeHost.MB, 4100, 10, 37 * FakeHost.MB, List.of()));
    assertThat(reader.pids(task)).containsExactly(12L, 7L);
  }

  @Test
  void r2_a_subsystem_that_is_off_says_nothing() {
    new FakeHost(root).put("memory/memory.usage_in_bytes", 5);
    assertThat(TaskUsageReader.ofCgroups(List.of(root.resolve("memory"))))
        .isEqualTo(new Usage(-1, -1, -1, -1, 5, List.of()));
    assertThat(TaskUsageReader.ofCgroups(List.of(root.resolve("none")))).isEqualTo(Usage.UNKNOWN);
  }

  @Test
  void version_2_has_all_in_one_group() {
    new FakeHost(root)
        .put("g/cpu.stat", "usage_usec 123456\nuser_usec 1\nsystem_usec 2")
        .put("g/memory.current", 11)
        .put("g/memory.peak", 22)
        .put("g/io.stat", "8:0 rbytes=100 wbytes=5 rios=3 wios=1 dbytes=0 dios=0\n8:16 rbytes=1");
    assertThat(TaskUsageReader.ofCgroups(List.of(root.resolve("g"))))
        .isEqualTo(new Usage(123, 22, 101, 5, 11, List.of()));
  }

  @Test
  void without_groups_the_first_process_and_its_children_are_added_up() {
    new FakeHost(root)
        .put("proc/5/stat", stat(5, 1, 2, 3, 4, 10))
        .put("proc/5/task/5/children", "6 7 ")
        .put("proc/5/io", "rchar: 9\nread_bytes: 100\nwrite_bytes: 5\ncancelled_write_bytes: 0")
        .put("proc/6/stat", stat(6, 10, 0, 0, 0, 1))
        .put("proc/6/task/6/children", "")
        .put("proc/6/io", "read_bytes: 1\nwrite_bytes: 2");
    assertThat(new TaskUsageReader(root).read(task(5), GpuTable.EMPTY))
        .isEqualTo(new Usage(200, 11 * 4096, 101, 7, 11 * 4096, List.of()));
    assertThat(new TaskUsageReader(root).read(task(8), GpuTable.EMPTY)).isEqualTo(Usage.UNKNOWN);
  }

  private static String stat(long pid, long u, long s, long cu, long cs, long pages) {
    return pid
        + " (a name) with) S 1 1 1 0 -1 4194304 1 1 1 1 "
        + u
        + " "
        + s
        + " "
        + cu
        + " "
        + cs
        + " 20 0 1 0 77 1000 "
        + pages
        + " 184467 1 1 0 0 0 0 0 0 0";
  }

  @Test
  void cards_are_those_of_the_task_s_processes() {
    new FakeHost(root).put("g/cgroup.procs", "12\n7");
    Gpu card = new Gpu("bus", "Tesla", 1, 1, 1);
    GpuTable table = new GpuTable(List.of(card), Map.of(7L, Set.of("bus"), 8L, Set.of("bus")));
    TaskUsageReader reader = new TaskUsageReader(root);
    assertThat(reader.read(task(1, root.resolve("g")), table).gpus()).containsExactly("Tesla bus");
    assertThat(reader.read(task(8), table).gpus()).containsExactly("Tesla bus");
    assertThat(reader.read(task(9), table).gpus()).isEmpty();
  }

  @Test
  void a_real_process_is_sampled_until_it_ends() throws Exception {
    Samples samples = new Samples();
    Process process = new ProcessBuilder("/bin/sh", "-c", "while :; do :; done").start();
    try (UsageSampler sampler =
        new UsageSampler(new TaskUsageReader(), NO_CARDS, samples, Duration.ofMillis(20)).start()) {
      SampledTask task = task(process.pid());
      sampler.started(task);
      await()
          .until(
              () -> samples.all.stream().anyMatch(u -> u.cpuMillis() > 0 && u.memoryBytes() > 0));
      Usage last = sampler.ended(task.invocation());
      assertThat(last).isNotNull();
      assertThat(sampler.size()).isZero();
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void nothing_grows_less_when_a_child_is_gone() {
    FakeHost host = new FakeHost(root).put("proc/5/stat", stat(5, 9, 0, 0, 0, 10));
    Samples samples = new Samples();
    try (UsageSampler sampler =
        new UsageSampler(new TaskUsageReader(root), NO_CARDS, samples, Duration.ZERO).start()) {
      SampledTask task = task(5);
      sampler.started(task);
      sampler.sample(task);
      host.put("proc/5/stat", stat(5, 1, 0, 0, 0, 3));
      sampler.sample(task);
      assertThat(samples.all)
          .extracting(Usage::cpuMillis, Usage::peakMemoryBytes, Usage::memoryBytes)
          .containsExactly(
              org.assertj.core.groups.Tuple.tuple(90L, 40_960L, 40_960L),
              org.assertj.core.groups.Tuple.tuple(90L, 40_960L, 12_288L));
      assertThat(sampler.ended(task.invocation())).isNotNull();
      sampler.sample(task);
      assertThat(samples.all).hasSize(2);
      assertThat(sampler.ended(task.invocation())).isNull();
    }
  }

  @ParameterizedTest
  @CsvSource({
    // 16 of 16 tasks at 10 us each: the rest of the period
    "160000, 16, 16, 2000000000, 1999840000",
    // 16 of 5,000 at 10 us: a hundredth of one core at most
    "160000, 16, 5000, 2000000000, 15840000",
    // 16 of 160 at 10 us
    "160000, 16, 160, 2000000000, 199840000",
  })
  void however_many_tasks_there_are_sampling_costs_a_hundredth_of_a_core_at_most(
      long cost, int slice, int all, long period, long rest) {
    assertThat(UsageSampler.rest(cost, slice, all, period)).isEqualTo(rest);
    assertThat((double) cost / (cost + rest)).isLessThanOrEqualTo(UsageSampler.MAX_LOAD + 1e-9);
  }

  @Test
  void a_real_group_of_version_1_is_measured() throws Exception {
    Path memory = Path.of("/sys/fs/cgroup/memory/espalier-test-" + ProcessHandle.current().pid());
    Path cpuacct = Path.of("/sys/fs/cgroup/cpuacct").resolve(memory.getFileName());
    boolean usable = made(memory) & made(cpuacct);
    if (!usable) {
      System.err.println("SKIPPED: no control groups of version 1 can be made here");
    }
    assumeTrue(usable);
    List<Path> groups = List.of(memory, cpuacct);
    Process process =
        new ProcessBuilder(
                "/bin/sh",
                "-c",
                "echo $$ > '"
                    + memory
                    + "/cgroup.procs'; echo $$ > '"
                    + cpuacct
                    + "/cgroup.procs'; (while :; do :; done)")
            .start();
    try {
      await()
          .until(
              () -> {
                Usage usage = TaskUsageReader.ofCgroups(groups);
                return usage.cpuMillis() > 20 && usage.peakMemoryBytes() > 0;
              });
      SampledTask task = task(process.pid(), memory, cpuacct);
      assertThat(new TaskUsageReader().pids(task)).contains(process.pid()).hasSizeGreaterThan(0);
    } finally {
      List<ProcessHandle> all = new ArrayList<>(process.descendants().toList());
      all.forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly().waitFor();
      for (Path group : groups) {
        await().until(() -> removed(group));
      }
    }
  }

  private static boolean made(Path group) {
    try {
      Files.createDirectory(group);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private static boolean removed(Path group) {
    try {
      Files.deleteIfExists(group);
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
