package io.espalier.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.Query;
import io.espalier.core.api.view.WorkerView;
import io.espalier.core.running.HostFigures;
import io.espalier.core.running.HostFigures.Space;
import io.espalier.core.running.MeasuredLoad;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.scheduling.CoreEvent;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What workers measure costs the core nothing where no selector reads it. */
class MeasuredWorkersTest {
  private final LoopWorld world = new LoopWorld();
  private int told;

  private void configure(String selector) {
    world.configure(
        """
        {"bistro_settings": {"nodes": {"levels": ["db"], "node_sources": [
           {"source": "manual", "prefs": {"a": []}}]},
           "resources": {}, "remote_worker_selector": "%s"},
         "bistro_job->j": {"owner": "o", "enabled": false, "command": ["x"]}}
        """
            .formatted(selector));
  }

  private void workers(WorkerInfo... workers) {
    world.post(new LoopInput.Workers(List.of(workers)));
    world.settle();
  }

  private WorkerInfo measured(int cpu) {
    world.now += 5_000;
    return WorkerInfo.of(new WorkerRef("w1", 1), "h1")
        .lastSeenMillis(world.now)
        .measured(new MeasuredLoad(cpu, 100))
        .figures(new HostFigures(cpu, Space.UNKNOWN, Space.UNKNOWN))
        .build();
  }

  private MeasuredLoad known() {
    return Objects.requireNonNull(world.core.capacity().workers()).get(0).measured();
  }

  private WorkerView view() {
    return world.answer(new Query.Workers()).get(0);
  }

  @Test
  void ofAWorkerThatHasToldNothingNothingIsShown() {
    workers(
        measured(10).with().measured(MeasuredLoad.UNKNOWN).figures(HostFigures.UNKNOWN).build());
    assertThat(view().load()).isEqualTo(MeasuredLoad.UNKNOWN);
    assertThat(view().measuredMillis()).isZero();
  }

  @Test
  void theCoreIsToldOnlyWhereTheSelectorReadsMeasurements() {
    workers(measured(10));
    configure("two_choice");
    world.core.recordTo(
        event -> {
          if (event instanceof CoreEvent.WorkersNamed) {
            told++;
          }
        });
    for (int cpu = 20; cpu < 40; cpu++) {
      workers(measured(cpu));
    }
    assertThat(told).isZero();
    workers(measured(40).withState(WorkerInfo.State.UNHEALTHY));
    workers(measured(41));
    assertThat(told).as("what else workers say is told at once").isEqualTo(2);
    workers(measured(42));
    assertThat(told).isEqualTo(2);

    configure("measured");
    assertThat(told).isEqualTo(3);
    assertThat(known().cpu()).isEqualTo(42);
    configure("measured");
    assertThat(told).isEqualTo(3);
    workers(measured(43));
    assertThat(known().cpu()).isEqualTo(43);

    configure("busiest");
    workers(measured(44));
    assertThat(known().cpu()).isEqualTo(43);
    assertThat(view().load().cpu()).as("people see it with each selector").isEqualTo(44);
    assertThat(view().figures().load()).isEqualTo(44);
    assertThat(view().measuredMillis()).isEqualTo(world.now);
  }
}
