package io.espalier.core.scheduling.query;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.api.view.Explanation.Reason;
import io.espalier.core.scheduling.capacity.LimitFactor;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.gate.Scope;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What people are told about gates and factors. */
final class EntryMessagesTest {
  private static final Scope HOST = Scope.node("host", "h1");

  @Test
  void aGateNamesItsReasonAndItsEnd() {
    Reason pause =
        EntryMessages.reason(
            new Gate(GateKind.PAUSE, Scope.job("a"), "ada", "repair", 10, 100), 10);
    assertThat(pause.kind()).isEqualTo(Kind.JOB_PAUSED);
    assertThat(pause.message())
        .isEqualTo(
            "the job is paused since 1970-01-01T00:00:00.010Z by ada"
                + " until 1970-01-01T00:00:00.100Z (repair)");
    assertThat(pause.untilMillis()).isEqualTo(100);
    assertThat(EntryMessages.reason(Gate.of(GateKind.PAUSE, "a", ""), 10).message())
        .isEqualTo("the job is paused");
    Reason failed =
        EntryMessages.reason(Gate.of(GateKind.JOB_FAILED, "a", "3 tasks have failed"), 0);
    assertThat(failed.kind()).isEqualTo(Kind.JOB_FAILED);
    assertThat(failed.message())
        .isEqualTo("the job has failed: 3 tasks have failed; it can be resumed or forgiven");
    assertThat(failed.untilMillis()).isZero();
  }

  @Test
  void instantsOfOneMessageHaveOneFormat() {
    Gate gate = new Gate(GateKind.NODE_CLOSED, HOST, "ada", "", 5_250, 9_250);
    assertThat(EntryMessages.reason(gate, 0).message())
        .isEqualTo(
            "the node is closed since 1970-01-01T00:00:05.250Z by ada"
                + " until 1970-01-01T00:00:09.250Z");
  }

  private static String factor(Scope scope, String author, long untilMillis) {
    return EntryMessages.of(
        new LimitFactor("f", scope, Set.of(), 250_000, author, "", 0, untilMillis), 8);
  }

  @Test
  void aFactorNamesItsScopeItsAuthorAndItsEnd() {
    assertThat(factor(Scope.all(), "ada", 0))
        .isEqualTo("; the limit of 8 is multiplied by 0.25, for all nodes, by ada");
    assertThat(factor(Scope.level("host"), "", 9_000))
        .isEqualTo(
            "; the limit of 8 is multiplied by 0.25, for all of level host"
                + " until 1970-01-01T00:00:09Z");
    assertThat(factor(HOST, "", 0))
        .isEqualTo("; the limit of 8 is multiplied by 0.25, on and below h1");
  }
}
