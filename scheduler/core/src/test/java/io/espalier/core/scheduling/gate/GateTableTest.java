package io.espalier.core.scheduling.gate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.scheduling.query.EntryMessages;
import org.junit.jupiter.api.Test;

/** Which gates are closed, what they say, and when they are due. */
final class GateTableTest {
  private static final Scope A = Scope.job("a");

  private final GateTable gates = new GateTable();

  private static Gate pause(String job, long untilMillis) {
    return new Gate(GateKind.PAUSE, Scope.job(job), "ada", "repair", 10, untilMillis);
  }

  @Test
  void aJobIsClosedUntilItsLastGateIsOpen() {
    gates.close(pause("a", 0));
    gates.close(Gate.of(GateKind.LOADING, "a", ""));
    assertThat(gates.open(GateKind.PAUSE, A)).isEqualTo(pause("a", 0));
    assertThat(gates.isClosed(A)).isTrue();
    assertThat(gates.isClosed(Scope.job("b"))).isFalse();
    gates.open(GateKind.LOADING, A);
    assertThat(gates.isClosed(A)).isFalse();
    assertThat(gates.open(GateKind.LOADING, A)).isNull();
  }

  @Test
  void aNewerGateOfTheSameKindReplacesTheOlderOne() {
    gates.close(pause("a", 100));
    gates.close(pause("a", 0));
    assertThat(gates.of(GateKind.PAUSE)).containsExactly(pause("a", 0));
    assertThat(gates.due(1_000)).isEmpty();
    assertThat(gates.nextMillis()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void gatesAreDueAtTheirEndByNameAndStayClosedUntilTheyAreOpened() {
    gates.close(pause("b", 100));
    gates.close(pause("a", 100));
    gates.close(pause("c", 200));
    assertThat(gates.nextMillis()).isEqualTo(100);
    assertThat(gates.due(99)).isEmpty();
    assertThat(gates.due(100)).extracting(Gate::name).containsExactly("a", "b");
    assertThat(gates.nextMillis()).isEqualTo(200);
    assertThat(gates.isClosed(A)).isTrue();
  }

  @Test
  void onlySomeGatesEndAJob() {
    gates.close(pause("a", 0));
    gates.close(Gate.of(GateKind.LOADING, "a", ""));
    assertThat(gates.isEnded("a")).isFalse();
    gates.close(Gate.of(GateKind.DEADLINE, "a", "late"));
    assertThat(gates.isEnded("a")).isTrue();
  }

  @Test
  void explanationsNameTheReasonAndTheEnd() {
    gates.close(pause("a", 100));
    gates.close(Gate.of(GateKind.JOB_FAILED, "a", "3 tasks have failed"));
    assertThat(gates.of(A))
        .extracting(
            gate -> EntryMessages.reason(gate).kind(),
            gate -> EntryMessages.reason(gate).message(),
            gate -> EntryMessages.reason(gate).untilMillis())
        .containsExactly(
            tuple(Kind.JOB_PAUSED, "the job is paused", 100L),
            tuple(
                Kind.JOB_FAILED,
                "the job has failed: 3 tasks have failed; it can be resumed or forgiven",
                0L));
  }
}
