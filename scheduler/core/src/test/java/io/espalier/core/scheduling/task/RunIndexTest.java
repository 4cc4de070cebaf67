package io.espalier.core.scheduling.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class RunIndexTest {
  private record Key(int job, int node) {}

  @Test
  void itFindsWhatAMapFinds() {
    Random random = new Random(7);
    RunIndex lookup = new RunIndex();
    Map<Key, Integer> model = new HashMap<>();
    List<Key> byRun = new ArrayList<>();
    for (int step = 0; step < 200_000; step++) {
      Key key = new Key(random.nextInt(5), random.nextInt(8_000));
      Integer known = model.get(key);
      assertThat(lookup.find(key.job(), key.node(), run -> byRun.get(run).equals(key)))
          .isEqualTo(known == null ? -1 : known);
      if (known == null) {
        model.put(key, byRun.size());
        lookup.add(key.job(), key.node(), byRun.size());
        byRun.add(key);
      } else {
        model.remove(key);
        lookup.remove(key.job(), key.node(), known);
      }
    }
  }

  @Test
  void oneOfTwoOfTheSameTaskGoesAndTheOtherStays() {
    RunIndex lookup = new RunIndex();
    lookup.add(1, 2, 10);
    lookup.add(1, 2, 11);
    lookup.remove(1, 2, 10);
    assertThat(lookup.find(1, 2, run -> true)).isEqualTo(11);
    lookup.remove(1, 2, 11);
    assertThat(lookup.find(1, 2, run -> true)).isEqualTo(-1);
    assertThatThrownBy(() -> lookup.remove(1, 2, 11)).isInstanceOf(IllegalStateException.class);
  }
}
