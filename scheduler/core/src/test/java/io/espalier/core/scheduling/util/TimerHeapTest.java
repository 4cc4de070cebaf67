package io.espalier.core.scheduling.util;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class TimerHeapTest {
  @Test
  void itGivesWhatIsDueInAnyOrderAndKnowsTheNextTick() {
    Random random = new Random(5);
    TimerHeap timers = new TimerHeap((task, tick) -> true);
    PriorityQueue<Long> model = new PriorityQueue<>();
    for (int step = 0; step < 20_000; step++) {
      if (random.nextInt(3) > 0) {
        long tick = random.nextInt(1_000);
        // The tick is also the name of the task, so that what comes out tells when it was due.
        timers.add(tick, tick);
        model.add(tick);
      } else {
        long now = random.nextInt(1_000);
        for (long task = timers.pollDue(now); task >= 0; task = timers.pollDue(now)) {
          assertThat(task).isLessThanOrEqualTo(now);
          assertThat(model.remove(task)).isTrue();
        }
      }
      Long first = model.peek();
      assertThat(timers.nextTick()).isEqualTo(first == null ? Long.MAX_VALUE : first);
    }
  }

  @Test
  void theNextTaskIsTheFirstThatIsNotStale() {
    Set<Long> stale = new HashSet<>();
    TimerHeap timers = new TimerHeap((task, tick) -> !stale.contains(task));
    for (long task = 999; task >= 0; task--) {
      timers.add(task, 50 + task);
    }
    for (long task = 0; task < 1_000; task++) {
      assertThat(timers.nextTask()).isEqualTo(task);
      stale.add(task);
    }
    assertThat(timers.nextTask()).isEqualTo(-1);
    assertThat(timers.nextTick()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void whereNothingIsDueNoHeapIsLookedAt() {
    TimerHeap timers = new TimerHeap((task, tick) -> true);
    assertThat(timers.pollDue(Long.MAX_VALUE - 1)).isEqualTo(-1);
    assertThat(timers.nextTick()).isEqualTo(Long.MAX_VALUE);
    assertThat(timers.work()).isZero();
    for (int task = 0; task < 1_000; task++) {
      timers.add(task, 50 + task);
    }
    for (int tick = 0; tick < 50; tick++) {
      assertThat(timers.pollDue(tick)).isEqualTo(-1);
      assertThat(timers.nextTick()).isEqualTo(50);
    }
    assertThat(timers.work()).isZero();
  }
}
