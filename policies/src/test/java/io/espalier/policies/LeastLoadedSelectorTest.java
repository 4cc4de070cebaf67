package io.espalier.policies;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.spi.WorkerSelector;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.testkit.scheduling.ConfigFixture;
import io.espalier.testkit.scheduling.JobFixture;
import io.espalier.testkit.scheduling.WorkerFixture;
import io.espalier.testkit.scheduling.WorkerSelectorContract;
import java.util.List;
import org.junit.jupiter.api.Test;

final class LeastLoadedSelectorTest extends WorkerSelectorContract {
  private static final List<WorkerInfo> POOL =
      List.of(WorkerFixture.healthy("w1", "h1"), WorkerFixture.healthy("w2", "h2"));

  @Override
  protected WorkerSelector selector() {
    return new LeastLoadedSelector();
  }

  @Test
  void aWorkerGetsTasksInProportionToItsSize() {
    ConfigFixture config =
        new ConfigFixture("db").resource("worker", "ram", 2).override("w2", "ram", 6).job("a");
    assertThat(started(core(config, POOL, 4)))
        .as("w1 is half full with one task, w2 with three")
        .containsExactly("w1", "w2", "w2", "w2");
  }

  @Test
  void withoutResourcesTheFewestTasksCount() {
    SchedulingCore core = core(new ConfigFixture("db").job("a"), POOL, 5);
    assertThat(started(core)).containsExactly("w1", "w2", "w1", "w2", "w1");
    assertThat(core.capacity().workerUse()).extracting(use -> use.tasks()).containsExactly(3, 2);
  }

  @Test
  void theLimitOfTasksIsOneMoreResource() {
    List<WorkerInfo> pool =
        List.of(
            WorkerInfo.of(new WorkerRef("small", 1), "h").maxTasks(2).build(),
            WorkerInfo.of(new WorkerRef("large", 1), "h").maxTasks(8).build());
    assertThat(started(core(new ConfigFixture("db").job("a"), pool, 5)))
        .containsExactly("small", "large", "large", "large", "large");
  }

  @Test
  void aLimitFarBelowWhatIsInUseIsTheFullest() {
    int huge = Integer.MAX_VALUE;
    ConfigFixture config =
        new ConfigFixture("db")
            .resource("worker", "ram", huge, huge)
            .job("a", new JobFixture("a").only("db", "d0"))
            .job("b", new JobFixture("b").needs("ram", 0).only("db", "d1"));
    SchedulingCore core = core(config, POOL, 2);
    core.gates().close(Gate.of(GateKind.PAUSE, "b", ""));
    assertThat(started(core)).containsExactly("w1");
    core.limits().override(new LimitOverride("worker", "ram", "w1", 1, "", "", 0, 0));
    assertThat(core.stepLimits(10_000)).isTrue();
    core.gates().open(GateKind.PAUSE, "b");
    assertThat(started(core)).containsExactly("w2");
  }

  @Test
  void theNextBatchGoesToTheLeastLoadedWorker() {
    assertThat(batches(ofThreeSizes()))
        .containsExactly("3 on w1", "3 on w2", "3 on w3", "2 on w3", "1 on w1");
  }
}
