package io.espalier.policies;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.scheduling.SchedulingPolicy;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.JobFixture;
import io.espalier.testkit.scheduling.SchedulingPolicyContract;
import org.junit.jupiter.api.Test;

final class RankedPriorityPolicyTest extends SchedulingPolicyContract {
  @Override
  protected SchedulingPolicy policy() {
    return new RankedPriorityPolicy();
  }

  /** Mirrored (docs/design/design.md#order-of-nodes). */
  @Test
  void s5_theHighestPriorityTakesAllItCan() {
    ConfigFixture config =
        new ConfigFixture("host", "db")
            .resource("db", "lock", 1)
            .job("job1", new JobFixture("job1").priority(10))
            .job("job2", new JobFixture("job2").priority(1))
            .job("job3", new JobFixture("job3").priority(100).only("db", "db12"));
    assertThat(started(core(config, "h1/db11", "h1/db12", "h2/db21", "h2/db22"), 100))
        .containsExactly("job3 db12", "job1 db11", "job1 db21", "job1 db22");
  }
}
