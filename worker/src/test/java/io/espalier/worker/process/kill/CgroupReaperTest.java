package io.espalier.worker.process.kill;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.worker.cgroup.TaskGroup.Killing;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * P12 to P14 of docs/design/bistro.md#conformance-of-tasks, with a clock of our own; with real
 * groups: {@code TaskCgroupsTest}.
 */
class CgroupReaperTest {
  private static final long MS = 1_000_000L;

  private final Members members = new Members();

  private static final class Members implements CgroupReaper.Members {
    final List<String> did = new ArrayList<>();
    final List<String> warnings = new ArrayList<>();
    final Deque<Killing> killings = new ArrayDeque<>();
    List<String> removalProblems = List.of();
    boolean empty;
    boolean broken;

    @Override
    public boolean isEmpty() {
      return empty;
    }

    @Override
    public Killing kill() throws IOException {
      did.add("kill");
      if (broken) {
        throw new IOException("no such file");
      }
      return killings.isEmpty() ? Killing.DONE : killings.remove();
    }

    @Override
    public void thaw() {
      did.add("thaw");
    }

    @Override
    public List<String> remove() {
      did.add("remove");
      return removalProblems;
    }

    @Override
    public void warn(String what) {
      warnings.add(what);
    }
  }

  @Test
  void p12WithoutAnOrderToKillItWaitsFourTimesLongerEachTimeAndWarns() {
    CgroupReaper reaper = new CgroupReaper(members, false, 10);
    long now = 0;
    List<Long> waits = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      long wait = reaper.look(now);
      waits.add(wait / MS);
      now += wait;
    }
    assertThat(waits).containsExactly(10L, 40L, 160L, 640L, 2560L, 10_000L, 10_000L, 10_000L);
    assertThat(members.did).isEmpty();
    assertThat(members.warnings.subList(0, 4))
        .satisfiesExactly(
            first -> assertThat(first).contains("after 10 ms"),
            second -> assertThat(second).contains("after 50 ms"),
            third -> assertThat(third).contains("after 210 ms"),
            fourth -> assertThat(fourth).contains("after 850 ms"));
    members.empty = true;
    assertThat(reaper.look(now)).isEqualTo(CgroupReaper.OVER);
    assertThat(reaper.isOver()).isTrue();
    assertThat(members.did).containsExactly("remove");
  }

  @Test
  void p12AnEmptyGroupIsRemovedAtOnceWithoutAWarning() {
    members.empty = true;
    CgroupReaper reaper = new CgroupReaper(members, false, 10);
    assertThat(reaper.look(0)).isEqualTo(CgroupReaper.OVER);
    assertThat(reaper.look(0)).isEqualTo(CgroupReaper.OVER);
    assertThat(members.did).containsExactly("remove");
    assertThat(members.warnings).isEmpty();
  }

  @Test
  void p13AFreezeIsAwaitedBeforeAnybodyIsKilled() {
    members.killings.addAll(List.of(Killing.FREEZING, Killing.FREEZING, Killing.DONE));
    CgroupReaper reaper = new CgroupReaper(members, true, 10);
    assertThat(reaper.look(0)).isEqualTo(10 * MS);
    assertThat(reaper.look(10 * MS)).isEqualTo(10 * MS);
    assertThat(reaper.look(20 * MS)).isEqualTo(10 * MS);
    assertThat(members.did).containsExactly("kill", "kill", "kill");
  }

  @Test
  void p13AFreezeThatTakesTooLongIsGivenUpAndBegunAnew() {
    members.killings.addAll(List.of(Killing.FREEZING, Killing.FREEZING, Killing.FREEZING));
    CgroupReaper reaper = new CgroupReaper(members, true, 10);
    reaper.look(0);
    reaper.look(CgroupReaper.FREEZE_NANOS);
    assertThat(members.did).doesNotContain("thaw");
    reaper.look(CgroupReaper.FREEZE_NANOS + 1);
    assertThat(members.did).containsExactly("kill", "kill", "kill", "thaw");
  }

  @Test
  void p13AGroupThatCannotBeRemovedIsOnlyWarnedOf() {
    members.empty = true;
    members.removalProblems = List.of("/x: busy");
    CgroupReaper reaper = new CgroupReaper(members, true, 10);
    assertThat(reaper.look(0)).isEqualTo(CgroupReaper.OVER);
    assertThat(reaper.isOver()).isTrue();
    assertThat(members.warnings).containsExactly("/x: busy");
  }

  @Test
  void p14AnOrderToKillWorksWhileTheTaskLivesAndIsRepeatedUntilNobodyIsLeft() {
    CgroupReaper reaper = new CgroupReaper(members, false, 10);
    assertThat(reaper.step(0)).isEqualTo(CgroupReaper.OVER);
    assertThat(members.did).isEmpty();
    reaper.kill();
    assertThat(reaper.step(0)).isEqualTo(10 * MS);
    assertThat(reaper.step(10 * MS)).isEqualTo(40 * MS);
    members.empty = true;
    assertThat(reaper.step(50 * MS)).isEqualTo(CgroupReaper.OVER);
    assertThat(members.did).containsExactly("kill", "kill");
    assertThat(reaper.isOver()).isFalse();
    assertThat(reaper.look(60 * MS)).isEqualTo(CgroupReaper.OVER);
    assertThat(members.did).containsExactly("kill", "kill", "remove");
  }

  @Test
  void p14AKillThatFailsIsWarnedOfAndTriedAgain() {
    members.broken = true;
    CgroupReaper reaper = new CgroupReaper(members, true, 10);
    assertThat(reaper.look(0)).isPositive();
    assertThat(reaper.look(10 * MS)).isPositive();
    assertThat(members.did).containsExactly("kill", "kill");
    assertThat(members.warnings).anyMatch(warning -> warning.contains("no such file"));
  }
}
