package io.espalier.policies;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.running.WorkerInfo;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.spi.WorkerSelector;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.JobFixture;
import io.espalier.testkit.scheduling.WorkerFixture;
import io.espalier.testkit.scheduling.WorkerSelectorContract;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class TwoChoiceSelectorTest extends WorkerSelectorContract {
  @Override
  protected WorkerSelector selector() {
    return new TwoChoiceSelector();
  }

  private static List<WorkerInfo> pool(int size) {
    List<WorkerInfo> pool = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      pool.add(WorkerFixture.healthy("w" + i, i % 2 == 0 ? "even" : "odd"));
    }
    return pool;
  }

  @Test
  void noWorkerGetsMuchMoreThanTheOthers() {
    List<String> starts = started(core(new ConfigFixture("db").job("a"), pool(64), 640));
    Set<String> used = new HashSet<>(starts);
    assertThat(starts).hasSize(640);
    assertThat(used).hasSize(64);
    // With one random worker per task the fullest of 64 has about 19 of 10.
    int most =
        used.stream().mapToInt(worker -> Collections.frequency(starts, worker)).max().orElse(0);
    assertThat(most).isBetween(11, 14);
    assertThat(starts.subList(0, 64)).as("they are drawn").isNotEqualTo(starts.subList(64, 128));
  }

  @Test
  void anOccupiedWorkerIsSparedWhereverItIsOneOfTwo() {
    ConfigFixture config = new ConfigFixture("db").job("a", new JobFixture("a").host("even"));
    SchedulingCore core = core(config, pool(4), 40);
    List<String> starts = started(core);
    assertThat(Collections.frequency(starts, "w0")).isEqualTo(20);
    assertThat(Collections.frequency(starts, "w2")).isEqualTo(20);
  }

  @Test
  void theOnlyWorkerThatFitsTakesEverything() {
    ConfigFixture config =
        new ConfigFixture("db").job("a", new JobFixture("a").only("worker", "w5"));
    assertThat(started(core(config, pool(9), 7))).containsOnly("w5").hasSize(7);
  }

  @Test
  void twoWorkersAreComparedForEachBatch() {
    ConfigFixture config = new ConfigFixture("db").job("a", inBatchesOfThree().host("even"));
    List<String> batches = batches(core(config, pool(4), 12));
    assertThat(batches.subList(0, 2)).containsExactlyInAnyOrder("3 on w0", "3 on w2");
    assertThat(batches.subList(2, 4)).containsExactlyInAnyOrder("3 on w0", "3 on w2");
  }
}
