package io.espalier.core.loop.watch;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.loop.watch.VictimSelection.Holder;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Whom to kill where more than a limit is in use. */
class VictimSelectionTest {
  private static Holder holder(String node, long start, int slots) {
    return new Holder("j", node, start, slots, false);
  }

  private static List<String> chosen(long over, Holder... holders) {
    return VictimSelection.choose(List.of(holders), over).stream().map(Holder::node).toList();
  }

  @Test
  void theYoungestComeFirstUntilEnoughIsGivenBack() {
    Holder[] all = {holder("a", 10, 1), holder("b", 30, 2), holder("c", 20, 5)};
    assertThat(chosen(0, all)).isEmpty();
    assertThat(chosen(-3, all)).isEmpty();
    assertThat(chosen(1, all)).containsExactly("b");
    assertThat(chosen(2, all)).containsExactly("b");
    assertThat(chosen(3, all)).containsExactly("b", "c");
    assertThat(chosen(100, all)).containsExactly("b", "c", "a");
  }

  @Test
  void ofTheSameAgeTheLastByNameComesFirst() {
    assertThat(chosen(2, holder("a", 10, 1), holder("c", 10, 1), holder("b", 10, 1)))
        .containsExactly("c", "b");
  }

  @Test
  void whoIsEndingAlreadyCounts() {
    Holder going = new Holder("j", "z", 99, 3, true);
    assertThat(chosen(3, holder("a", 10, 1), going)).isEmpty();
    assertThat(chosen(4, holder("a", 10, 1), going)).containsExactly("a");
  }

  @Test
  void largeNumbersDoNotRunOver() {
    Holder large = holder("a", 10, Integer.MAX_VALUE);
    Holder other = holder("b", 20, Integer.MAX_VALUE);
    assertThat(chosen(2L * Integer.MAX_VALUE, large, other)).containsExactly("b", "a");
  }
}
