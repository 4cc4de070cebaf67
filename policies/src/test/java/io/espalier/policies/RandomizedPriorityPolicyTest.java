package io.espalier.policies;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.SchedulingPolicy;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.JobFixture;
import io.espalier.testkit.scheduling.SchedulingPolicyContract;
import io.espalier.testkit.scheduling.TreeFixture;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class RandomizedPriorityPolicyTest extends SchedulingPolicyContract {
  @Override
  protected SchedulingPolicy policy() {
    return new RandomizedPriorityPolicy();
  }

  @Test
  void s7_jobsAreDrawnByTheirShareOfAllPriorities() {
    ConfigFixture config =
        new ConfigFixture("host", "db")
            .resource("db", "lock", 1)
            .job("job1", new JobFixture("job1").priority(10))
            .job("job2", new JobFixture("job2").priority(1));
    int[] starts = new int[2];
    for (int seed = 0; seed < 100; seed++) {
      SchedulingCore core = new SchedulingCore(seed);
      core.apply(
          config.build(), TreeFixture.of(config.levels(), "h1/d1", "h1/d2", "h2/d3", "h2/d4"), 0);
      core.round(policy(), 100, run -> starts[core.running().job(run)]++);
    }
    assertThat(starts[0] + starts[1]).isEqualTo(400);
    assertThat(starts[0]).isBetween(323, 400);
    assertThat(starts[1]).isPositive();
  }

  @Test
  void jobsWithoutAPriorityComeLast() {
    ConfigFixture config =
        new ConfigFixture("db")
            .resource("instance", "three", 3)
            .job("a", new JobFixture("a").priority(0))
            .job("b", new JobFixture("b").priority(-5))
            .job("c", new JobFixture("c").priority(0.001));
    List<String> starts = new ArrayList<>(started(core(config, "d1", "d2"), 100));
    assertThat(starts).hasSize(3);
    assertThat(starts.get(0)).startsWith("c");
    assertThat(starts.get(1)).startsWith("c");
  }
}
