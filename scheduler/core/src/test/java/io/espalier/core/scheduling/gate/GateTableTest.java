package io.espalier.core.scheduling.gate;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which gates are closed, and when they are due. */
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
    assertThat(gates.due(GateKind.PAUSE, 1_000)).isEmpty();
    assertThat(gates.nextMillis(GateKind.PAUSE)).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void gatesAreDueAtTheirEndByNameAndStayClosedUntilTheyAreOpened() {
    gates.close(pause("b", 100));
    gates.close(pause("a", 100));
    gates.close(pause("c", 200));
    assertThat(gates.nextMillis(GateKind.PAUSE)).isEqualTo(100);
    assertThat(gates.due(GateKind.PAUSE, 99)).isEmpty();
    assertThat(gates.due(GateKind.PAUSE, 100)).extracting(Gate::name).containsExactly("a", "b");
    assertThat(gates.nextMillis(GateKind.PAUSE)).isEqualTo(200);
    assertThat(gates.isClosed(A)).isTrue();
  }

  @Test
  void eachKindHasItsOwnEnds() {
    gates.close(new Gate(GateKind.NODE_CLOSED, Scope.node("host", "a"), "", "", 0, 50));
    gates.close(pause("a", 100));
    assertThat(gates.nextMillis(GateKind.PAUSE)).isEqualTo(100);
    assertThat(gates.due(GateKind.PAUSE, 100)).containsExactly(pause("a", 100));
    assertThat(gates.nextMillis(GateKind.NODE_CLOSED)).isEqualTo(50);
    assertThat(gates.due(GateKind.NODE_CLOSED, 49)).isEmpty();
    assertThat(gates.due(GateKind.NODE_CLOSED, 50)).hasSize(1);
  }

  /** The order must not depend on the run, because a recording repeats what follows from it. */
  @Test
  void closedNodesAreListedInTheOrderInWhichTheyWereClosed() {
    List<Scope> nodes = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      nodes.add(Scope.node("host", "h" + i));
      gates.close(new Gate(GateKind.NODE_CLOSED, nodes.get(i), "", "", 0, 0));
    }
    assertThat(gates.closed(Scope.Kind.NODE)).isEqualTo(nodes);
  }

  @Test
  void onlySomeGatesEndAJob() {
    gates.close(pause("a", 0));
    gates.close(Gate.of(GateKind.LOADING, "a", ""));
    assertThat(gates.isEnded("a")).isFalse();
    gates.close(Gate.of(GateKind.DEADLINE, "a", "late"));
    assertThat(gates.isEnded("a")).isTrue();
  }
}
