package io.espalier.worker.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.protocol.RunId;
import io.espalier.core.running.LaunchSpec;
import io.espalier.testkit.running.Launches;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LeaseBarrierTest {
  @Test
  void aMistakeInOneDoesNotTakeThoseBehindItWithIt() {
    LeaseBarrier gate = new LeaseBarrier();
    List<String> done = new ArrayList<>();
    gate.then(() -> done.add("first"));
    gate.then(
        () -> {
          throw new IllegalStateException("a mistake, for the test");
        });
    gate.then(() -> done.add("last"));
    assertThat(done).isEmpty();
    gate.open();
    assertThat(done).containsExactly("first", "last");
  }

  @Test
  void aStartIsRecalledAsLongAsItWaitsForTheLease() {
    LeaseBarrier gate = new LeaseBarrier();
    Launches launches = new Launches();
    LaunchSpec alone = launches.of("alone", "true");
    List<LaunchSpec> batch = List.of(launches.of("a", "true"), launches.of("b", "true"));
    List<String> started = new ArrayList<>();
    gate.start(List.of(alone), starts -> started.add("alone"));
    gate.start(batch, starts -> starts.forEach(launch -> started.add(launch.node())));
    gate.then(() -> started.add("then"));
    assertThat(gate.recall(RunId.of(alone))).isTrue();
    assertThat(gate.recall(RunId.of(batch.get(0)))).isTrue();
    gate.open();
    assertThat(started).containsExactly("b", "then");
    assertThat(gate.recall(RunId.of(batch.get(1)))).as("it has passed").isFalse();
  }
}
