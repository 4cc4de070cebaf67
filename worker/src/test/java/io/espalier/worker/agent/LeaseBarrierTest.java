package io.espalier.worker.agent;

import static org.assertj.core.api.Assertions.assertThat;

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
}
