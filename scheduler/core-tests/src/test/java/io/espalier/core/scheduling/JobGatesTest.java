package io.espalier.core.scheduling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.config.Config;
import io.espalier.core.scheduling.capacity.LimitTable;
import io.espalier.core.scheduling.gate.GateTable;
import io.espalier.core.scheduling.gate.JobGates;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.scheduling.task.JobThrottle;
import io.espalier.core.scheduling.util.RateLimiterClock;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.JobFixture;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The gates of jobs are the conjunction of their sources, and are computed only at flips. */
final class JobGatesTest {
  private static final int STARTS = 1_000;

  private final JobGates gates = new JobGates(1);
  private int reads;

  /**
   * Starts and ends many tasks of job a, which has no limit, or of job b, which has one; returns
   * how often the sources were read.
   */
  private int readsOf(String job) {
    Config config =
        new ConfigFixture("db").job("a").job("b", new JobFixture("b").maxConcurrent(3)).build();
    JobTable table = new JobTable(config, Map.of());
    JobThrottle throttle =
        new JobThrottle(table, new RateLimiterClock(), gates, new LimitTable(), new GateTable());
    gates.add(
        word -> {
          reads++;
          return throttle.open(word);
        });
    gates.changed();
    reads = 0;
    int number = table.find(job);
    for (int i = 0; i < STARTS; i++) {
      throttle.entered(number);
      throttle.started(number);
    }
    for (int i = 0; i < STARTS; i++) {
      throttle.left(number);
    }
    gates.check();
    return reads - 1; // check reads them once
  }

  @Test
  void aJobWithoutLimitsCostsNothingPerStart() {
    assertThat(readsOf("a")).isZero();
  }

  @Test
  void aLimitCostsOnlyWhenItIsReachedOrLeft() {
    assertThat(readsOf("b")).isEqualTo(2);
  }

  @Test
  void aJobIsOpenWhereAllSourcesLeaveItOpen() {
    long[] bits = {0b110, 0b011};
    gates.add(word -> bits[0]);
    gates.add(word -> bits[1]);
    gates.changed();
    assertThat(gates.open(0)).isEqualTo(0b010);
    bits[1] = 0b100;
    assertThatThrownBy(gates::check).isInstanceOf(IllegalStateException.class);
    gates.changed(0);
    assertThat(gates.open(0)).isEqualTo(0b100);
    gates.check();
  }
}
