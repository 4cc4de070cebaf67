package io.espalier.worker.resources;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.task.SubprocessOptions.Cgroups;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HostResourcesTest {
  private static final String OWN = "/slice/own/";

  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path root;

  private FakeHost host() {
    return new FakeHost(root)
        .memoryKb(64 * 1024)
        .put("sys/devices/system/cpu/online", "0-7")
        .node(0, 1_024)
        .node(1, 20 * 1_024)
        .node(3, 300 * 1_024);
  }

  @Test
  void r2_the_memory_of_the_nodes_of_the_nearest_group_that_names_some_is_summed() {
    FakeHost host = host().version1("cpuset");
    host.put("sys/fs/cgroup/cpuset/cpuset.mems", "0,3");
    assertThat(host.read().memoryMb()).isEqualTo(301);
    host.put("sys/fs/cgroup/cpuset/slice/cpuset.mems", "0-1");
    host.put("sys/fs/cgroup/cpuset" + OWN + "cpuset.mems", "");
    assertThat(host.read().memoryMb()).isEqualTo(21);
    host.put("sys/fs/cgroup/cpuset" + OWN + "cpuset.mems", "1");
    assertThat(host.read().memoryMb()).isEqualTo(20);
  }

  @Test
  void r2_a_memory_limit_holds_from_the_top_most_group_with_hierarchy() throws IOException {
    FakeHost host = host().version1("memory");
    String memory = "sys/fs/cgroup/memory/";
    for (String group : List.of("", "slice/", "slice/own/")) {
      host.put(memory + group + "memory.use_hierarchy", 0);
    }
    host.put(memory + "memory.limit_in_bytes", 9223372036854771712L)
        .put(memory + "slice/memory.limit_in_bytes", 6 * FakeHost.MB)
        .put(memory + "slice/own/memory.limit_in_bytes", 7 * FakeHost.MB);
    assertThat(CgroupLimitsSeen.memoryBytes(host.place())).isEmpty();
    host.put(memory + "slice/own/memory.use_hierarchy", 1);
    assertThat(CgroupLimitsSeen.memoryBytes(host.place())).hasValue(7 * FakeHost.MB);
    host.put(memory + "slice/memory.use_hierarchy", 1);
    assertThat(CgroupLimitsSeen.memoryBytes(host.place())).hasValue(6 * FakeHost.MB);
    host.put(memory + "slice/memory.use_hierarchy", 0).put(memory + "memory.use_hierarchy", 1);
    assertThat(CgroupLimitsSeen.memoryBytes(host.place())).hasValue(6 * FakeHost.MB);
  }

  @ParameterizedTest
  @CsvSource({"'0,2-4', 4", "'', 2", "31, 1"})
  void r2_the_cpus_of_the_nearest_group_that_names_some_are_counted(String own, int cores) {
    FakeHost host = host().version1("cpuset");
    host.put("sys/fs/cgroup/cpuset/cpuset.cpus", "0-7")
        .put("sys/fs/cgroup/cpuset/slice/cpuset.cpus", "5,9")
        .put("sys/fs/cgroup/cpuset" + OWN + "cpuset.cpus", own);
    assertThat(host.read().cpuCores()).isEqualTo(cores);
  }

  @Test
  void r2_without_the_subsystem_nothing_is_seen() throws IOException {
    CgroupPlace nowhere = host().place();
    assertThat(CgroupLimitsSeen.cpus(nowhere)).isEmpty();
    assertThat(CgroupLimitsSeen.memoryNodes(nowhere)).isEmpty();
    assertThat(CgroupLimitsSeen.memoryBytes(nowhere)).isEmpty();
    assertThat(CgroupLimitsSeen.cores(nowhere)).isEmpty();
  }

  @Test
  void r3_memory_is_that_of_the_system_unless_a_limit_is_smaller() {
    FakeHost host = host();
    assertThat(host.read().memoryMb()).isEqualTo(64);
    host.version1("memory").put("sys/fs/cgroup/memory/memory.use_hierarchy", 1);
    String limit = "sys/fs/cgroup/memory" + OWN + "memory.limit_in_bytes";
    host.put(limit, 65 * FakeHost.MB);
    assertThat(host.read().memoryMb()).isEqualTo(64);
    host.put(limit, 63 * FakeHost.MB);
    assertThat(host.read().memoryMb()).isEqualTo(63);
  }

  @Test
  void r3_memory_is_that_of_the_nodes_unless_a_limit_is_smaller() {
    FakeHost host = host().version1("memory", "cpuset");
    host.put("sys/fs/cgroup/cpuset" + OWN + "cpuset.mems", "1")
        .put("sys/fs/cgroup/memory/memory.use_hierarchy", 1);
    assertThat(host.read().memoryMb()).isEqualTo(20);
    host.put("sys/fs/cgroup/memory/slice/memory.limit_in_bytes", 19 * FakeHost.MB);
    assertThat(host.read().memoryMb()).isEqualTo(19);
  }

  @Test
  void r3_cpus_are_those_of_the_system_or_of_the_cpuset() {
    FakeHost host = host();
    assertThat(host.read().cpuCores()).isEqualTo(8);
    host.version1("cpuset").put("sys/fs/cgroup/cpuset" + OWN + "cpuset.cpus", "1-3");
    assertThat(host.read().cpuCores()).isEqualTo(3);
  }

  @ParameterizedTest
  @CsvSource({"250000, 100000, 2", "50000, 100000, 1", "-1, 100000, 8", "9900000, 100000, 8"})
  void a_quota_leaves_whole_cores_and_at_least_one(long quota, long period, int cores) {
    FakeHost host = host().version1("cpu");
    host.put("sys/fs/cgroup/cpu/slice/cpu.cfs_quota_us", quota)
        .put("sys/fs/cgroup/cpu/slice/cpu.cfs_period_us", period);
    assertThat(host.read().cpuCores()).isEqualTo(cores);
  }

  @Test
  void version_2_says_the_same_in_other_files() {
    FakeHost host = host().version2();
    String group = "sys/fs/cgroup/slice/";
    assertThat(host.read().cpuCores()).isEqualTo(8);
    assertThat(host.read().memoryMb()).isEqualTo(64);
    host.put(group + "memory.max", 30 * FakeHost.MB)
        .put(group + "own/memory.max", "max")
        .put(group + "cpuset.cpus.effective", "0-5")
        .put(group + "own/cpuset.cpus.effective", "1-4")
        .put(group + "own/cpu.max", "max 100000");
    assertThat(host.read().cpuCores()).isEqualTo(4);
    assertThat(host.read().memoryMb()).isEqualTo(30);
    host.put(group + "cpu.max", "350000 100000").put(group + "own/cpuset.mems.effective", "1");
    assertThat(host.read().cpuCores()).isEqualTo(3);
    assertThat(host.read().memoryMb()).isEqualTo(20);
    assertThat(host.read().notes()).isEmpty();
  }

  @Test
  void in_a_container_paths_of_the_host_are_cut_to_what_is_mounted() {
    FakeHost host = host();
    host.put("proc/self/cgroup", "4:memory:/docker/abc/inner")
        .put(
            "proc/self/mountinfo",
            "31 23 0:28 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory")
        .put("sys/fs/cgroup/memory/memory.use_hierarchy", 1)
        .put("sys/fs/cgroup/memory/memory.limit_in_bytes", 9 * FakeHost.MB)
        .put("sys/fs/cgroup/memory/inner/memory.limit_in_bytes", 8 * FakeHost.MB);
    assertThat(host.read().memoryMb()).isEqualTo(8);
    host.put("proc/self/cgroup", "4:memory:/../../elsewhere");
    assertThat(host.read().memoryMb()).isEqualTo(9);
  }

  @Test
  void what_tasks_get_is_seen_from_the_configured_slice() {
    FakeHost host = host().version1("cpuset", "memory");
    host.put("sys/fs/cgroup/cpuset/tasks/cpuset.cpus", "2");
    Cgroups configured =
        new Cgroups(root.resolve("sys/fs/cgroup").toString(), "tasks", List.of("cpuset"), false);
    HostResources seen =
        new HostResourceReader(root, new NvidiaSmi("", NvidiaSmi.TIMEOUT)).read(configured);
    assertThat(seen.cpuCores()).isEqualTo(1);
  }

  @Test
  void what_cannot_be_read_is_unknown_and_said() {
    FakeHost host = new FakeHost(root).version1("cpuset", "memory", "cpu");
    host.put("sys/fs/cgroup/cpuset" + OWN + "cpuset.cpus", "many")
        .put("sys/fs/cgroup/cpuset" + OWN + "cpuset.mems", "7")
        .put("sys/fs/cgroup/memory" + OWN + "memory.use_hierarchy", "1")
        .put("sys/fs/cgroup/memory" + OWN + "memory.limit_in_bytes", "lots")
        .put("sys/fs/cgroup/cpu" + OWN + "cpu.cfs_quota_us", "x")
        .put("sys/fs/cgroup/cpu" + OWN + "cpu.cfs_period_us", "1");
    HostResources seen = host.read();
    assertThat(seen.cpuCores()).isZero();
    assertThat(seen.memoryMb()).isZero();
    assertThat(seen.notes()).hasSize(6);
    assertThat(seen.physical()).isEqualTo(Map.of("ram_mb", 0L, "cpu_core", 0L, "gpu_card", 0L));
  }

  @Test
  void this_host_has_cores_and_memory_and_not_more_than_the_virtual_machine_sees() {
    HostResources seen = HostResourceReader.ofThisHost(new NvidiaSmi("", NvidiaSmi.TIMEOUT)).read();
    assertThat(seen.notes()).isEmpty();
    assertThat(seen.cpuCores()).isBetween(1, Runtime.getRuntime().availableProcessors());
    assertThat(seen.memoryMb()).isGreaterThan(Runtime.getRuntime().totalMemory() / FakeHost.MB);
  }

  @Test
  void cards_are_counted_in_all_and_by_name() {
    HostResources seen =
        new HostResources(
            2,
            3,
            List.of(
                new Gpu("0", "Tesla K40m", 1, 0, 0),
                new Gpu("1", "Tesla M40", 1, 0, 0),
                new Gpu("2", "Tesla K40m", 1, 0, 0)),
            List.of());
    assertThat(seen.physical())
        .isEqualTo(
            Map.of(
                "ram_mb",
                3L,
                "cpu_core",
                2L,
                "gpu_card",
                3L,
                "GPU: Tesla K40m",
                2L,
                "GPU: Tesla M40",
                1L));
  }
}
