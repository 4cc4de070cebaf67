package io.espalier.worker.cgroup;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** What {@code /proc} says on several kinds of hosts. */
class CgroupHostTest {
  private static List<String> shown(CgroupHost host) {
    return host.hierarchies().stream()
        .map(h -> h.version() + " " + h.mount() + " " + h.controllers() + " " + h.own())
        .toList();
  }

  @Test
  void aHostWithVersionTwoOnly() {
    CgroupHost host =
        CgroupHost.parse(
            "24 18 0:22 / /no/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
            "0::/system.slice/espalier.service\n");
    // The directory is not on this machine: then the mount stands for it.
    assertThat(shown(host)).containsExactly("2 /no/cgroup [] /no/cgroup");
    assertThat(host.unified()).isPresent();
    assertThat(host.of("memory")).isEmpty();
  }

  @Test
  void controllersOfVersionOneThatShareAHierarchyAreFoundInAnyOrder() {
    CgroupHost host =
        CgroupHost.parse(
            """
            30 25 0:26 / /no/cpu rw - cgroup cgroup rw,cpu,cpuacct
            31 25 0:27 / /no/systemd rw - cgroup cgroup rw,xattr,name=systemd
            32 25 0:28 / /no/memory rw - cgroup cgroup rw,memory
            """,
            "5:cpuacct,cpu:/\n4:memory:/\n1:name=systemd:/\n");
    assertThat(shown(host))
        .containsExactly(
            "1 /no/cpu [cpu, cpuacct] /no/cpu",
            "1 /no/systemd [name=systemd] /no/systemd",
            "1 /no/memory [memory] /no/memory");
    assertThat(host.of("cpuacct")).isEqualTo(host.of("cpu"));
  }

  @Test
  void aContainerSeesOnlyAPartAndMayStandOutsideOfIt() {
    CgroupHost host =
        CgroupHost.parse(
            """
            30 25 0:26 /docker/abc /no/memory ro - cgroup cgroup rw,memory
            31 25 0:27 / /no/with\\040blank rw - cgroup cgroup rw,pids
            """,
            "4:memory:/docker/abc\n5:pids:/../elsewhere\n");
    assertThat(shown(host))
        .containsExactly(
            "1 /no/memory [memory] /no/memory", "1 /no/with blank [pids] /no/with blank");
  }

  @Test
  void nonsenseIsNoHierarchy() {
    assertThat(CgroupHost.parse("", "").hierarchies()).isEmpty();
    assertThat(CgroupHost.parse("a b - cgroup\n- - -\nx", "::\n::::\n\n").hierarchies()).isEmpty();
    assertThat(CgroupHost.none().hierarchies()).isEmpty();
  }
}
