package io.espalier.core.forecast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.scheduling.spi.SplitMix64;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class EndQueueTest {
  @Test
  void endsComeInTheOrderOfTheirTimes() {
    SplitMix64 random = new SplitMix64(3);
    EndQueue queue = new EndQueue(1);
    List<Long> times = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      long time = random.below(500);
      times.add(time);
      queue.add(time, time * 7);
    }
    Collections.sort(times);
    for (long time : times) {
      assertThat(queue.nextTime()).isEqualTo(time);
      assertThat(queue.remove()).isEqualTo(time * 7);
    }
    assertThat(queue.nextTime()).isEqualTo(Long.MAX_VALUE);
    assertThatThrownBy(queue::remove).isInstanceOf(IllegalStateException.class);
  }
}
