package example;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.scheduling.SchedulingPolicy;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.JobFixture;
import io.espalier.testkit.scheduling.SchedulingPolicyContract;
import org.junit.jupiter.api.Test;

/** Inherits the tests that every policy must pass. */
final class FewestLeftPolicyTest extends SchedulingPolicyContract {
  @Override
  protected SchedulingPolicy policy() {
    return new FewestLeftPolicy();
  }

  @Test
  void theJobWithFewerTasksGoesFirst() {
    ConfigFixture config =
        new ConfigFixture("host", "db")
            .job("long")
            .job("short", new JobFixture("short").level("host"));
    assertThat(started(core(config, "h1/d1", "h1/d2"), 3)).startsWith("short h1").hasSize(3);
  }
}
