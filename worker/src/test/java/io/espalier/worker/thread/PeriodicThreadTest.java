package io.espalier.worker.thread;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class PeriodicThreadTest {
  private static final Duration SOON = Duration.ofMillis(1);

  @Test
  void workThatFailsIsDoneAgain() throws Exception {
    AtomicInteger runs = new AtomicInteger();
    CountDownLatch all = new CountDownLatch(4);
    try (PeriodicThread thread = new PeriodicThread("periodic-test")) {
      thread.every(
          SOON,
          SOON,
          () -> {
            all.countDown();
            switch (runs.incrementAndGet()) {
              case 1 -> throw new OutOfMemoryError("unable to create native thread");
              case 2 -> throw new IOException("on purpose");
              default -> throw new IllegalStateException("on purpose");
            }
          });
      assertThat(all.await(30, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void workForOnceIsDoneOnceAndInTheOrderOfItsTimes() throws Exception {
    List<String> done = new CopyOnWriteArrayList<>();
    CountDownLatch all = new CountDownLatch(3);
    try (PeriodicThread thread = new PeriodicThread("periodic-test")) {
      CountDownLatch begun = new CountDownLatch(1);
      thread.once(
          Duration.ZERO,
          () -> {
            begun.countDown();
            done.add("a");
            all.countDown();
            throw new IOException("on purpose");
          });
      assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
      for (String each : List.of("b", "c")) {
        thread.once(
            SOON,
            () -> {
              done.add(each);
              all.countDown();
            });
      }
      assertThat(all.await(30, TimeUnit.SECONDS)).isTrue();
    }
    assertThat(done).containsExactly("a", "b", "c");
  }

  @Test
  void aClosedThreadDoesNothingMore() {
    PeriodicThread thread = new PeriodicThread("periodic-test");
    thread.close();
    thread.once(Duration.ZERO, () -> assertThat(false).as("is done").isTrue());
  }
}
