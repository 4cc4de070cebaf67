package io.espalier.policies;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.running.WorkerInfo;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.spi.WorkerSelector;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.JobFixture;
import io.espalier.testkit.scheduling.WorkerFixture;
import io.espalier.testkit.scheduling.WorkerSelectorContract;
import java.util.List;
import org.junit.jupiter.api.Test;

final class RoundRobinSelectorTest extends WorkerSelectorContract {
  private static final List<WorkerInfo> POOL =
      List.of(
          WorkerFixture.healthy("w1", "h1"),
          WorkerFixture.healthy("w2", "h2"),
          WorkerFixture.healthy("w3", "h2"));

  @Override
  protected WorkerSelector selector() {
    return new RoundRobinSelector();
  }

  @Test
  void workersTakeTurnsFromOneRoundToTheNext() {
    ConfigFixture config =
        new ConfigFixture("db").resource("instance", "two_at_a_time", 2).job("a");
    SchedulingCore core = core(config, POOL, 9);
    assertThat(started(core)).containsExactly("w1", "w2");
    for (long run : core.running().all()) {
      core.finish(run, null);
    }
    assertThat(started(core)).containsExactly("w3", "w1");
  }

  @Test
  void theWorkersOfAHostHaveTurnsOfTheirOwn() {
    ConfigFixture config = new ConfigFixture("db").job("a", new JobFixture("a").host("h2"));
    assertThat(started(core(config, POOL, 4))).containsExactly("w2", "w3", "w2", "w3");
  }

  @Test
  void aWorkerWithoutRoomIsPassedOver() {
    ConfigFixture config =
        new ConfigFixture("db").resource("worker", "slots", 2).override("w2", "slots", 1).job("a");
    assertThat(started(core(config, POOL, 9))).containsExactly("w1", "w2", "w3", "w1", "w3");
  }

  @Test
  void workersTakeTurnsByBatches() {
    assertThat(batches(ofThreeSizes()))
        .containsExactly("3 on w1", "3 on w2", "3 on w3", "1 on w1", "2 on w3");
  }
}
