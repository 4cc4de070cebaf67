package io.espalier.policies;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.running.MeasuredLoad;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.spi.WorkerSelector;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.WorkerFixture;
import io.espalier.testkit.scheduling.WorkerSelectorContract;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

final class MeasuredSelectorTest extends WorkerSelectorContract {
  private static final WorkerInfo FIRST = WorkerFixture.healthy("w1", "h1");
  private static final WorkerInfo SECOND = WorkerFixture.healthy("w2", "h2");

  @Override
  protected WorkerSelector selector() {
    return new MeasuredSelector();
  }

  private static ConfigFixture config() {
    return new ConfigFixture("db").resource("worker", "slots", 10).job("a");
  }

  private static WorkerInfo with(WorkerInfo worker, int cpu, int memory) {
    return worker.withMeasured(new MeasuredLoad(cpu, memory));
  }

  private List<String> started(int nodes, WorkerInfo... pool) {
    return started(core(config(), List.of(pool), nodes));
  }

  @Test
  void theWorkerThatIsLessBusyIsTakenUntilItsSlotsAreAsFull() {
    List<String> starts = started(20, with(FIRST, 500, 100), with(SECOND, 0, 100));
    assertThat(starts.subList(0, 5)).containsOnly("w2");
    assertThat(starts.subList(5, 10)).as("both are as full, and it has fewer").containsOnly("w1");
    assertThat(starts.subList(10, 20)).as("from now on by slots").contains("w1", "w2");
  }

  @Test
  void theMemoryCountsAsMuchAsTheProcessors() {
    assertThat(started(4, with(FIRST, 100, 900), with(SECOND, 300, 300))).containsOnly("w2");
  }

  @Test
  void withoutMeasurementsTheSlotsDecide() {
    List<String> starts = started(10, FIRST, SECOND);
    assertThat(Collections.frequency(starts, "w1")).isEqualTo(5);
    assertThat(started(2, FIRST, with(SECOND, 200, -1))).containsOnly("w1");
  }

  @Test
  void aNewMeasurementCountsFromTheNextStartOn() {
    SchedulingCore core = core(config(), List.of(with(FIRST, 900, 0), SECOND), 2);
    core.workers(List.of(FIRST, with(SECOND, 900, 0)));
    assertThat(started(core)).containsOnly("w1");
  }

  @Test
  void theLessBusyWorkerGetsBatchesUntilItsSlotsAreAsFull() {
    ConfigFixture config =
        new ConfigFixture("db").resource("worker", "slots", 10).job("a", inBatchesOfThree());
    List<WorkerInfo> pool = List.of(with(FIRST, 500, 100), with(SECOND, 0, 100));
    assertThat(batches(core(config, pool, 12)))
        .containsExactly("3 on w2", "3 on w2", "3 on w1", "3 on w1");
  }
}
