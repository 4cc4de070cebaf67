package io.espalier.policies;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.SchedulingPolicy;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.JobFixture;
import io.espalier.testkit.scheduling.SchedulingPolicyContract;
import java.util.List;
import org.junit.jupiter.api.Test;

final class LongTailPolicyTest extends SchedulingPolicyContract {
  @Override
  protected SchedulingPolicy policy() {
    return new LongTailPolicy();
  }

  /** Mirrored (docs/design/design.md#order-of-nodes). */
  @Test
  void s6_theJobWithFewestTasksComesFirst() {
    ConfigFixture config =
        new ConfigFixture("host", "db")
            .resource("db", "lock", 1)
            .job("job1")
            .job("job2")
            .job("job3", new JobFixture("job3").only("db", "db12"));
    List<String> starts = started(core(config, "h1/db11", "h1/db12", "h2/db21", "h2/db22"), 100);
    String other = starts.get(1).substring(0, 4);
    assertThat(other).isIn("job1", "job2");
    assertThat(starts)
        .containsExactly("job3 db12", other + " db11", other + " db21", other + " db22");
  }

  /**
   * Unlike Bistro, which counts only what could start now
   * (docs/design/design.md#where-espalier-differs-from-bistro).
   */
  @Test
  void tasksThatWaitOrRunCountAsRemaining() {
    ConfigFixture config =
        new ConfigFixture("db").resource("instance", "one", 1).job("few").job("many");
    SchedulingCore core = core(config, "d1", "d2", "d3", "d4");
    TaskStatus done = TaskStatus.of(Main.DONE, 0, 1);
    TaskStatus waits = TaskStatus.waiting(0, 99, 1);
    core.setStatus(core.findJob("few"), core.topology().find(1, "d1"), done);
    for (String node : List.of("d1", "d2", "d3")) {
      core.setStatus(core.findJob("many"), core.topology().find(1, node), waits);
    }
    // Of "many" only one task could start now, but four remain; of "few" three could and remain.
    assertThat(started(core, 1)).containsExactly("few d2");
  }
}
