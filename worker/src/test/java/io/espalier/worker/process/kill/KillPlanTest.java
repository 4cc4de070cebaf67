package io.espalier.worker.process.kill;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.config.task.KillRequest.Method;
import io.espalier.worker.process.os.Signals;
import org.junit.jupiter.api.Test;

class KillPlanTest {
  private static final long MS = 1_000_000L;
  // A monotonic clock may be about to wrap around.
  private static final long T0 = Long.parseLong("9223372036804775807");

  private final KillPlan plan = new KillPlan();

  @Test
  void aTermOnlyAsks() {
    assertThat(request(Method.TERM, 0, 0)).isEqualTo(Signals.TERM);
    assertThat(plan.waitNanos(T0)).isEqualTo(KillPlan.NEVER);
    assertThat(plan.due(T0 + 1000 * MS)).isZero();
    assertThat(request(Method.TERM, 0, 5)).isEqualTo(Signals.TERM);
  }

  @Test
  void aKillIsTheLastWord() {
    assertThat(request(Method.KILL, 0, 0)).isEqualTo(Signals.KILL);
    assertThat(request(Method.KILL, 0, 1)).isZero();
    assertThat(request(Method.TERM, 0, 1)).isZero();
    assertThat(request(Method.TERM_WAIT_KILL, 10, 1)).isZero();
    assertThat(plan.due(T0 + 1000 * MS)).isZero();
    assertThat(plan.isKilled()).isTrue();
  }

  @Test
  void aWaitEndsInAKill() {
    assertThat(request(Method.TERM_WAIT_KILL, 100, 0)).isEqualTo(Signals.TERM);
    assertThat(plan.waitNanos(T0 + 40 * MS)).isEqualTo(60 * MS);
    assertThat(plan.due(T0 + 99 * MS)).isZero();
    assertThat(plan.due(T0 + 100 * MS)).isEqualTo(Signals.KILL);
    assertThat(plan.due(T0 + 101 * MS)).isZero();
  }

  /** In Bistro a wait of 0 never killed (docs/design/bistro.md#killing). */
  @Test
  void aWaitOfZeroOrLessIsAKillAtOnce() {
    assertThat(request(Method.TERM_WAIT_KILL, 0, 0)).isEqualTo(Signals.KILL);
    assertThat(new KillPlan().request(new KillRequest(Method.TERM_WAIT_KILL, -5), T0))
        .isEqualTo(Signals.KILL);
  }

  @Test
  void ofSeveralWaitsTheEarliestKillWins() {
    request(Method.TERM_WAIT_KILL, 100, 0);
    request(Method.TERM_WAIT_KILL, 500, 10);
    assertThat(plan.waitNanos(T0)).isEqualTo(100 * MS);
    request(Method.TERM_WAIT_KILL, 20, 10);
    assertThat(plan.waitNanos(T0)).isEqualTo(30 * MS);
    request(Method.TERM, 0, 15);
    assertThat(plan.due(T0 + 30 * MS)).isEqualTo(Signals.KILL);
  }

  @Test
  void aKillDoesNotWaitForAPendingOne() {
    request(Method.TERM_WAIT_KILL, 100, 0);
    assertThat(request(Method.KILL, 0, 1)).isEqualTo(Signals.KILL);
    assertThat(plan.waitNanos(T0 + 1)).isEqualTo(KillPlan.NEVER);
  }

  private int request(Method method, int waitMillis, long atMillis) {
    return plan.request(new KillRequest(method, waitMillis), T0 + atMillis * MS);
  }
}
