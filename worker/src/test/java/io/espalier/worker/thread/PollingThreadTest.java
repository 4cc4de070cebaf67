package io.espalier.worker.thread;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class PollingThreadTest {
  private static final Instant T0 = Instant.ofEpochSecond(1_000_000);

  private final AtomicReference<Instant> clock = new AtomicReference<>(T0);
  private final InstantSource source = clock::get;
  private final BlockingQueue<Instant> runs = new LinkedBlockingQueue<>();
  private final PollingThread thread =
      new PollingThread(
          "polling-test",
          source,
          Duration.ofSeconds(30),
          now -> {
            runs.add(now);
            throw new IllegalStateException("on purpose");
          });

  @AfterEach
  void close() {
    thread.close(Duration.ofSeconds(20), true);
  }

  @Test
  void workThatFailsIsDueAgainAfterThePauseAlsoWhenTheClockIsSet() throws Exception {
    thread.start();
    thread.due(Instant.MIN);

    assertThat(runs.poll(20, TimeUnit.SECONDS)).isEqualTo(T0);
    await().until(() -> T0.plusSeconds(30).equals(thread.due()));
    clock.set(T0.plusSeconds(30));
    assertThat(runs.poll(20, TimeUnit.SECONDS)).isEqualTo(T0.plusSeconds(30));
  }

  @Test
  void nothingIsDoneUntilItIsDue() throws Exception {
    thread.start();
    thread.due(Instant.MAX);
    assertThat(thread.due()).isEqualTo(Instant.MAX);

    thread.due(T0);
    assertThat(runs.poll(20, TimeUnit.SECONDS)).isEqualTo(T0);
  }
}
