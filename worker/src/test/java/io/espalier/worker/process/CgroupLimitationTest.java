package io.espalier.worker.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.worker.cgroup.CgroupHost;
import org.junit.jupiter.api.Test;

public class CgroupLimitationTest {
  @Test
  void aHostWithoutControlGroupsHasALimitation() {
    assertThat(TaskCgroups.limitation(CgroupHost.none()))
        .contains("none are mounted", "not enforced", "\"required\" are refused");
  }

  @Test
  void aHostWhoseGroupsCannotBeWrittenHasOneThatNamesThem() {
    CgroupHost readOnly =
        CgroupHost.parse("30 25 0:26 / /proc/none ro - cgroup2 cgroup2 rw\n", "0::/\n");
    assertThat(TaskCgroups.limitation(readOnly)).contains("/proc/none", "is writable");
  }

  @Test
  void aHostWithWritableGroupsHasNone() {
    CgroupHost writable = CgroupHost.parse("30 25 0:26 / /tmp rw - cgroup2 cgroup2 rw\n", "0::/\n");
    assertThat(TaskCgroups.limitation(writable)).isEmpty();
  }
}
