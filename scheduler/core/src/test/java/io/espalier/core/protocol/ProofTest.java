package io.espalier.core.protocol;

import static io.espalier.core.protocol.SchedulerWorld.TIMERS;
import static io.espalier.core.protocol.SchedulerWorld.ref;
import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.protocol.HeartbeatResponse.Verdict;
import io.espalier.core.running.WorkerRef;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Leadership is asked for whenever something is answered or sent, not once for many messages. */
class ProofTest {
  private static final WorkerRef W1 = ref("w1", 11);
  private static final WorkerRef W2 = ref("w2", 22);

  private final SchedulerWorld world = SchedulerWorld.open();

  @Test
  void aHeartbeatAfterTheLastProofOfTheSameTurnRenewsNothing() {
    long first = world.healthy(W1);
    long second = world.healthy(W2);

    // One turn, in the middle of which this process was suspended.
    HeartbeatResponse before = world.side.heartbeat(world.beat(W1, first), world.now);
    world.leads = false;
    HeartbeatResponse after = world.side.heartbeat(world.beat(W2, second), world.now);

    assertThat(before.verdict()).isEqualTo(Verdict.ACCEPTED);
    assertThat(after.verdict()).isEqualTo(Verdict.NOT_LEADER);
  }

  @Test
  void noBatchIsSentAfterTheLastProofOfTheSameStepAndNoneIsForgotten() {
    world.healthy(W1);
    world.healthy(W2);
    world.side.start(world.launch("a", W1), world.now);
    world.side.start(world.launch("b", W2), world.now);
    int before = world.sent.size();
    world.leadsUntilSent = before + 1;

    long next = world.side.step(world.now);

    assertThat(world.sent).hasSize(before + 1);
    assertThat(next)
        .as("leadership that is certain again is no message")
        .isLessThan(world.now + 1_000);

    world.leadsUntilSent = Integer.MAX_VALUE;
    world.after(next - world.now);
    assertThat(world.sent).hasSize(before + 2);
    assertThat(world.sent.get(before).starts()).hasSize(1);
    assertThat(world.last().starts()).hasSize(1);
    assertThat(world.last().worker()).isNotEqualTo(world.sent.get(before).worker());
  }

  @Test
  void reportsAfterTheLastProofAreNotAccepted() {
    world.healthy(W1);
    world.leads = false;

    assertThat(world.report(W1).accepted()).isFalse();
    assertThat(world.side.step(world.now)).isGreaterThan(world.now);
    assertThat(List.of(world.now + TIMERS.lostMillis())).allMatch(at -> world.side.step(at) > at);
  }
}
