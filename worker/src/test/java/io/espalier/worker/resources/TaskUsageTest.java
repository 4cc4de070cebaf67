package io.espalier.worker.resources;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.espalier.core.running.Invocation;
import io.espalier.core.running.ResourceUsage;
import io.espalier.core.running.TaskListener;
import io.espalier.core.running.TaskResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
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
    private final Queue<ResourceUsage> all = new ConcurrentLinkedQueue<>();

    @Override
    public void ended(TaskResult end) {
      throw new AssertionError("a sampler ends nothing");
    }

    @Override
    public void usage(String job, String node, Invocation invocation, ResourceUsage usage) {
      all.add(usage);
    }
  }

  private static SampledTask task(TaskUsageReader reader, long pid, Path... cgroups) {
    return new MeasuredTask(reader, "j", "n", new Invocation(1, pid, 1), pid, List.of(cgroups));
  }

  private SampledTask task(long pid, Path... cgroups) {
    return task(new TaskUsageReader(root), pid, cgroups);
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
    assertThat(task.usage())
        .isEqualTo(new ResourceUsage(7, 39 * FakeHost.MB, 4100, 10, 37 * FakeHost.MB, List.of()));
    assertThat(task.pids()).containsExactly(12L, 7L);
  }

  @Test
  void r2_a_subsystem_that_is_off_says_nothing() {
    new FakeHost(root).put("memory/memory.usage_in_bytes", 5);
    assertThat(TaskUsageReader.ofCgroups(List.of(root.resolve("memory"))))
        .isEqualTo(new ResourceUsage(-1, -1, -1, -1, 5, List.of()));
    assertThat(TaskUsageReader.ofCgroups(List.of(root.resolve("none"))))
        .isEqualTo(ResourceUsage.UNKNOWN);
  }

  @Test
  void version_2_has_all_in_one_group() {
    new FakeHost(root)
        .put("g/cpu.stat", "usage_usec 123456\nuser_usec 1\nsystem_usec 2")
        .put("g/memory.current", 11)
        .put("g/memory.peak", 22)
        .put("g/io.stat", "8:0 rbytes=100 wbytes=5 rios=3 wios=1 dbytes=0 dios=0\n8:16 rbytes=1");
    assertThat(TaskUsageReader.ofCgroups(List.of(root.resolve("g"))))
        .isEqualTo(new ResourceUsage(123, 22, 101, 5, 11, List.of()));
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
    assertThat(task(5).usage())
        .isEqualTo(new ResourceUsage(200, 11 * 4096, 101, 7, 11 * 4096, List.of()));
    assertThat(task(8).usage()).isEqualTo(ResourceUsage.UNKNOWN);
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
  void cards_are_those_of_the_task_s_processes() throws Exception {
    new FakeHost(root)
        .put("g/cgroup.procs", "12\n7")
        .put("g/memory.current", 5)
        .put("proc/9/stat", stat(9, 1, 0, 0, 0, 1))
        .put(
            "smi",
            "#!/bin/sh\ncase $1 in --query-gpu*) echo 0:3, 1, 1, 1, Tesla;;"
                + " *) echo 7, 0:3; echo 8, 0:3;; esac");
    Path tool = root.resolve("smi");
    Files.setPosixFilePermissions(tool, PosixFilePermissions.fromString("rwxr-xr-x"));
    Samples samples = new Samples();
    try (UsageSampler sampler =
        new UsageSampler(
            List::of,
            new NvidiaSmi(tool.toString(), Duration.ofSeconds(20)),
            samples,
            Duration.ZERO)) {
      sampler.refreshGpus(0);
      sampler.sample(task(1, root.resolve("g")));
      sampler.sample(task(9));
    }
    assertThat(samples.all)
        .extracting(ResourceUsage::gpus)
        .containsExactly(List.of("Tesla 0:3"), List.of());
  }

  @Test
  void a_real_process_is_sampled_until_it_ends() throws Exception {
    Samples samples = new Samples();
    Process process = new ProcessBuilder("/bin/sh", "-c", "while :; do :; done").start();
    try (UsageSampler sampler =
        new UsageSampler(
                () -> List.of(task(new TaskUsageReader(), process.pid())),
                NO_CARDS,
                samples,
                Duration.ofMillis(20))
            .start()) {
      await()
          .until(
              () -> samples.all.stream().anyMatch(u -> u.cpuMillis() > 0 && u.memoryBytes() > 0));
      assertThat(sampler.start()).isSameAs(sampler);
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void nothing_grows_less_when_a_child_is_gone() {
    FakeHost host = new FakeHost(root).put("proc/5/stat", stat(5, 9, 0, 0, 0, 10));
    Samples samples = new Samples();
    try (UsageSampler sampler = new UsageSampler(List::of, NO_CARDS, samples, Duration.ZERO)) {
      SampledTask task = task(5);
      sampler.sample(task);
      host.put("proc/5/stat", stat(5, 1, 0, 0, 0, 3));
      sampler.sample(task);
      assertThat(samples.all)
          .extracting(
              ResourceUsage::cpuMillis, ResourceUsage::peakMemoryBytes, ResourceUsage::memoryBytes)
          .containsExactly(
              org.assertj.core.groups.Tuple.tuple(90L, 40_960L, 40_960L),
              org.assertj.core.groups.Tuple.tuple(90L, 40_960L, 12_288L));
      sampler.forgetAllBut(List.of());
      sampler.sample(task);
      assertThat(samples.all).element(2).extracting(ResourceUsage::cpuMillis).isEqualTo(10L);
    }
  }

  @ParameterizedTest
  @CsvSource({
    // 16 of 16 tasks at 10 us each: the rest of the period
    "160000, 16, 16, 2000000000, 1999840000",
    // 16 of 5,000 at 10 us: a two-hundredth of one core at most
    "160000, 16, 5000, 2000000000, 31840000",
    // 16 of 160 at 10 us
    "160000, 16, 160, 2000000000, 199840000",
  })
  void however_many_tasks_there_are_sampling_costs_a_two_hundredth_of_a_core_at_most(
      long cost, int slice, int all, long period, long rest) {
    assertThat(UsageSampler.rest(cost, slice, all, period)).isEqualTo(rest);
    assertThat((double) cost / (cost + rest)).isLessThanOrEqualTo(UsageSampler.MAX_LOAD + 1e-9);
  }

  @Test
  void a_real_group_of_version_1_is_measured() throws Exception {
    Path memory = Path.of("/sys/fs/cgroup/memory/espalier-test-" + ProcessHandle.current().pid());
    Path cpuacct = Path.of("/sys/fs/cgroup/cpuacct").resolve(memory.getFileName());
    boolean memoryMade = made(memory);
    boolean usable = made(cpuacct) && memoryMade;
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
                ResourceUsage usage = TaskUsageReader.ofCgroups(groups);
                return usage.cpuMillis() > 20 && usage.peakMemoryBytes() > 0;
              });
      SampledTask task = task(process.pid(), memory, cpuacct);
      assertThat(task.pids()).contains(process.pid()).hasSizeGreaterThan(0);
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
