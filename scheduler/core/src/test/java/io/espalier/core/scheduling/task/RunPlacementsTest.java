package io.espalier.core.scheduling.task;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class RunPlacementsTest {
  private static final int[] NEEDS = {1};

  private final RunPlacements places = new RunPlacements(2, new int[][] {NEEDS, NEEDS}, 0);

  private void add(int run, int job, int node) {
    places.add(run, job, node, new int[] {0, node}, NEEDS, -1, true);
  }

  @Test
  void whileNobodyAsksAStartAndAnEndLeaveTheIndexAlone() {
    for (int run = 0; run < 1_000; run++) {
      add(run, run % 2, run);
    }
    places.remove(7);
    add(7, 0, 5_000);
    assertThat(places.work()).isZero();
  }

  @Test
  void whoAsksFindsWhatRunsNow() {
    add(0, 0, 10);
    add(1, 1, 10);
    add(2, 0, 11);
    places.remove(1);
    assertThat(places.find(0, 10)).isZero();
    assertThat(places.find(1, 10)).isEqualTo(-1);
    assertThat(places.find(0, 11)).isEqualTo(2);
    assertThat(places.work()).as("the index is built once").isEqualTo(2);
    add(1, 1, 12);
    places.remove(0);
    assertThat(places.find(1, 12)).isEqualTo(1);
    assertThat(places.find(0, 10)).isEqualTo(-1);
    assertThat(places.work()).as("and then kept up to date").isEqualTo(4);
  }

  @Test
  void theIndexGoesWhenNobodyHasAskedForALongTime() {
    for (int run = 0; run < 100; run++) {
      add(run, 0, run);
    }
    assertThat(places.find(0, 50)).isEqualTo(50);
    long built = places.work();
    for (int i = 0; i < 10_000; i++) {
      places.remove(3);
      add(3, 0, i % 2 == 0 ? 200 : 3);
    }
    assertThat(places.work() - built).as("what it has cost meanwhile").isBetween(100L, 600L);
    assertThat(places.find(0, 3)).isEqualTo(3);
    assertThat(places.find(0, 200)).isEqualTo(-1);
  }
}
