package io.espalier.policies;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.running.WorkerInfo;
import io.espalier.core.scheduling.spi.WorkerSelector;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.JobFixture;
import io.espalier.testkit.scheduling.WorkerFixture;
import io.espalier.testkit.scheduling.WorkerSelectorContract;
import java.util.List;
import org.junit.jupiter.api.Test;

final class BusiestSelectorTest extends WorkerSelectorContract {
  private static final List<WorkerInfo> POOL =
      List.of(
          WorkerFixture.healthy("w1", "h1"),
          WorkerFixture.healthy("w2", "h2"),
          WorkerFixture.healthy("w3", "h3"));

  @Override
  protected WorkerSelector selector() {
    return new BusiestSelector();
  }

  @Test
  void oneWorkerIsFilledBeforeTheNext() {
    ConfigFixture config =
        new ConfigFixture("db").resource("worker", "ram", 2).weight("ram", 1).job("a");
    assertThat(started(core(config, POOL, 9))).containsExactly("w1", "w1", "w2", "w2", "w3", "w3");
  }

  @Test
  void theSmallestWeightedRestIsTaken() {
    ConfigFixture config =
        new ConfigFixture("db")
            .resource("worker", "ram", 10)
            .resource("worker", "cpu", 10)
            .weight("ram", 1)
            .weight("cpu", 5)
            .override("w1", "ram", 4)
            .override("w2", "cpu", 8)
            .job("a");
    // 4 + 50, 10 + 40, 10 + 50.
    assertThat(started(core(config, POOL, 1))).containsExactly("w2");
  }

  @Test
  void hugeNumbersDoNotRunOver() {
    int huge = Integer.MAX_VALUE;
    ConfigFixture config =
        new ConfigFixture("db")
            .resource("worker", "a", huge)
            .resource("worker", "b", huge)
            .resource("worker", "c", huge)
            .weight("a", huge)
            .weight("b", huge)
            .weight("c", huge)
            .override("w3", "b", 1)
            .job("a");
    assertThat(started(core(config, POOL, 2))).containsExactly("w3", "w1");
  }

  @Test
  void resourcesWithoutAWeightDoNotCount() {
    ConfigFixture config =
        new ConfigFixture("db")
            .resource("worker", "ram", 10)
            .resource("worker", "cpu", 10)
            .weight("cpu", 1)
            .override("w3", "ram", 1)
            .override("w2", "cpu", 9)
            .job("a");
    assertThat(started(core(config, POOL, 1))).containsExactly("w2");
  }

  @Test
  void theSmallestThatFitsIsKeptForWhatFits() {
    ConfigFixture config =
        new ConfigFixture("db")
            .resource("worker", "ram", 8)
            .weight("ram", 1)
            .override("w2", "ram", 3)
            .job("big", new JobFixture("big").needs("ram", 4));
    assertThat(started(core(config, POOL, 9))).containsExactly("w1", "w1", "w3", "w3");
  }

  @Test
  void aBatchGoesToTheFullestWorkerHoweverSmallItBecomes() {
    assertThat(batches(ofThreeSizes()))
        .containsExactly("3 on w2", "3 on w1", "1 on w1", "3 on w3", "2 on w3");
  }
}
