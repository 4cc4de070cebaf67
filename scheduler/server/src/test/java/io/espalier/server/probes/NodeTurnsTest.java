package io.espalier.server.probes;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class NodeTurnsTest {
  private final NodeTurns turns = new NodeTurns();

  /** Asks so many nodes of a round; those that begin with x give no value. */
  private List<String> round(List<String> nodes, int count) {
    turns.begin(nodes);
    List<String> asked = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      String node = turns.next();
      if (node != null) {
        asked.add(node);
        turns.asked(node, !node.startsWith("x"));
      }
    }
    return asked;
  }

  @Test
  void nodesThatGiveNoValueAreAskedLast() {
    List<String> nodes = List.of("x1", "a", "x2", "b");
    assertThat(round(nodes, 4)).containsExactly("x1", "a", "x2", "b");
    assertThat(round(nodes, 4)).containsExactly("a", "b", "x1", "x2");
    assertThat(round(nodes, 3)).containsExactly("a", "b", "x1");
    assertThat(turns.left()).isOne();
    assertThat(round(nodes, 3)).as("the other one has its turn").containsExactly("a", "b", "x2");
  }

  @Test
  void aRoundGoesOnWhereTheLastOneEnded() {
    List<String> nodes = List.of("a", "b", "c", "d", "e");
    assertThat(round(nodes, 2)).containsExactly("a", "b");
    assertThat(round(nodes, 2)).containsExactly("c", "d");
    assertThat(round(nodes, 2)).containsExactly("e", "a");
  }

  @Test
  void nodesComeAndGo() {
    assertThat(round(List.of("a", "x"), 9)).containsExactly("a", "x");
    assertThat(round(List.of("b", "a"), 9)).containsExactly("a", "b");
    assertThat(round(List.of(), 9)).isEmpty();
    assertThat(turns.next()).isNull();
  }
}
