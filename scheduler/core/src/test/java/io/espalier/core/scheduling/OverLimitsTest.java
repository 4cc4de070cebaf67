package io.espalier.core.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Since when more is in use than a limit. */
final class OverLimitsTest {
  private final OverLimits over = new OverLimits(2);

  @Test
  void onlyWhatPassesZeroCountsAndTheTimeIsThatOfTheFirstSuchMoment() {
    over.at(10);
    over.changed(1, 4, 1, 0);
    assertThat(over.isEmpty()).isTrue();
    over.changed(1, 4, 0, -1);
    over.at(20);
    over.changed(1, 4, -1, -3);
    over.changed(0, 7, 2, -2);
    assertThat(over.of(1)).containsExactly(Map.entry(4, 10L));
    assertThat(over.first(0)).isEqualTo(20);
    assertThat(over.size()).isEqualTo(2);
    over.changed(1, 4, -3, 0);
    assertThat(over.first(1)).isEqualTo(Long.MAX_VALUE);
    assertThat(over.isOver(1, 4)).isFalse();
    assertThat(over.size()).isEqualTo(1);
  }

  @Test
  void whatANewWorldSawFirstIsNotHiddenBehindWhatTheOldOneSawMeanwhile() {
    over.at(10);
    over.set(0, 1, true);
    over.at(30);
    over.set(0, 2, true);
    over.set(0, 3, true);
    Map<Integer, Long> older = new LinkedHashMap<>();
    older.put(3, 5L);
    older.put(2, 20L);
    older.put(9, 2L);
    over.since(0, older);
    assertThat(over.of(0)).containsExactly(Map.entry(3, 5L), Map.entry(1, 10L), Map.entry(2, 20L));
    assertThat(over.first(0)).isEqualTo(5);
    over.since(0, Map.of(2, 20L));
    assertThat(over.of(0)).hasSize(3).containsEntry(2, 20L);
  }
}
