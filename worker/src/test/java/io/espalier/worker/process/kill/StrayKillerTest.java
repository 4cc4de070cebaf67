package io.espalier.worker.process.kill;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.worker.process.os.Signals;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class StrayKillerTest {
  private final BlockingQueue<Runnable> supervisor = new LinkedBlockingQueue<>();

  @Test
  void aTaskCountsAsAliveWhenTheSearchFailsAndIsLookedForAgain() throws Exception {
    AtomicInteger searches = new AtomicInteger();
    StrayKiller.Search failingOnce =
        (left, signals) -> {
          if (searches.incrementAndGet() == 1) {
            throw new OutOfMemoryError("on purpose");
          }
          return new JournalKiller.Found(Map.of(), List.of());
        };
    try (StrayKiller killer = new StrayKiller("cookie", supervisor::add, failingOnce)) {
      assertThat(foundBy(killer)).isEqualTo(1);
      assertThat(foundBy(killer)).isZero();
    }
  }

  private int foundBy(StrayKiller killer) throws InterruptedException {
    AtomicInteger found = new AtomicInteger(-1);
    killer.request(new Journal.Entry("i1", 1, 1), Signals.KILL, found::set);
    Runnable answer = supervisor.poll(30, TimeUnit.SECONDS);
    assertThat(answer).isNotNull();
    answer.run();
    return found.get();
  }
}
