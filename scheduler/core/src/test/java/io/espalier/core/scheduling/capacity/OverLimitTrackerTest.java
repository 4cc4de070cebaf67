package io.espalier.core.scheduling.capacity;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.scheduling.util.LongQueue;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Since when more is in use than a limit. */
final class OverLimitTrackerTest {
  private final OverLimitTracker over = new OverLimitTracker(2);

  private Map<Integer, Long> places(int resource) {
    Map<Integer, Long> all = new TreeMap<>();
    for (int part = 0; part < over.parts(resource); part++) {
      over.visit(resource, part, (place, since) -> all.put((int) place, since));
    }
    return all;
  }

  @Test
  void onlyWhatPassesZeroCountsAndTheTimeIsThatOfTheFirstSuchMoment() {
    over.at(10);
    over.changed(1, 4, 1, 0);
    assertThat(over.isEmpty()).isTrue();
    over.changed(1, 4, 0, -1);
    over.at(20);
    over.changed(1, 4, -1, -3);
    over.changed(0, 7, 2, -2);
    assertThat(places(1)).containsExactly(Map.entry(4, 10L));
    assertThat(over.first(0)).isEqualTo(20);
    assertThat(places(0)).hasSize(1);
    over.changed(1, 4, -3, 0);
    assertThat(over.first(1)).isEqualTo(Long.MAX_VALUE);
    assertThat(over.isOver(1, 4)).isFalse();
    assertThat(places(0)).hasSize(1);
  }

  @Test
  void whatANewWorldSawFirstIsNotHiddenBehindWhatTheOldOneSawMeanwhile() {
    over.at(10);
    over.set(0, 1, true);
    over.at(30);
    over.set(0, 2, true);
    over.set(0, 3, true);
    over.setSince(0, 3, 5);
    over.setSince(0, 2, 20);
    over.setSince(0, 9, 2);
    assertThat(places(0)).containsExactly(Map.entry(1, 10L), Map.entry(2, 20L), Map.entry(3, 5L));
    assertThat(over.first(0)).isEqualTo(5);
    over.set(0, 3, false);
    assertThat(over.first(0)).isEqualTo(10);
    assertThat(over.isOver(0, 9)).isFalse();
  }

  @Test
  void placesThatGoOverAreToldOnceEach() {
    LongQueue told = new LongQueue();
    over.logTo(told);
    over.changed(1, 4, 0, -1);
    over.changed(1, 4, -1, -2);
    over.changed(1, 4, -2, 3);
    long key = told.poll();
    assertThat(OverLimitTracker.resource(key)).isEqualTo(1);
    assertThat(OverLimitTracker.place(key)).isEqualTo(4);
    assertThat(told.isEmpty()).isTrue();
  }
}
