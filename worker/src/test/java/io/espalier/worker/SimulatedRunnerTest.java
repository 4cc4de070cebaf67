package io.espalier.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.TaskRunner;
import io.espalier.testkit.running.CollectedEnds;
import io.espalier.testkit.running.Launches;
import io.espalier.testkit.running.TaskRunnerContract;
import java.util.List;
import org.junit.jupiter.api.Test;

/** P22 of docs/design/bistro.md#conformance-of-tasks. */
class SimulatedRunnerTest extends TaskRunnerContract {
  private final Launches launches = new Launches();

  @Override
  protected TaskRunner create() {
    return new SimulatedRunner("instance", 2, 0, 1);
  }

  @Override
  protected LaunchSpec quick(String node) {
    return launches.of(node);
  }

  @Test
  void p22AtFailureRateZeroAllAreDoneAndAtOneAllFail() {
    assertThat(statuses(0, 100)).hasSize(100).containsOnly("done");
    assertThat(statuses(1, 100)).hasSize(100).containsOnly("error_backoff");
  }

  @Test
  void theSameSeedGivesTheSameFailures() {
    List<String> first = statuses(0.5, 200);
    assertThat(first).contains("done", "error_backoff");
    assertThat(statuses(0.5, 200)).isEqualTo(first);
  }

  @Test
  void p22AShorterTaskFinishesFirst() {
    CollectedEnds ends = new CollectedEnds();
    try (TaskRunner longer = new SimulatedRunner("instance", 600_000, 0, 4);
        TaskRunner shorter = new SimulatedRunner("instance", 0, 0, 4)) {
      longer.open(ends);
      shorter.open(ends);
      longer.start(launches.of("long"));
      shorter.start(launches.of("short"));
      assertThat(ends.awaitCount(1))
          .singleElement()
          .extracting(TaskResult::node)
          .isEqualTo("short");
    }
    assertThat(ends.all()).last().extracting(TaskResult::kind).isEqualTo(TaskResult.Kind.KILLED);
  }

  @Test
  void impossibleSettingsAreRefused() {
    assertThatThrownBy(() -> new SimulatedRunner("instance", -1, 0, 1)).hasMessageContaining("-1");
    assertThatThrownBy(() -> new SimulatedRunner("instance", 1, Double.NaN, 1))
        .hasMessageContaining("NaN");
  }

  private static List<String> statuses(double failureRate, int count) {
    CollectedEnds ends = new CollectedEnds();
    Launches launches = new Launches();
    try (TaskRunner runner = new SimulatedRunner("instance", 0, failureRate, 99)) {
      runner.open(ends);
      for (int i = 0; i < count; i++) {
        runner.start(launches.of("node" + i));
      }
      ends.awaitCount(count);
    }
    return ends.all().stream().map(end -> String.valueOf(end.rawStatus())).toList();
  }
}
