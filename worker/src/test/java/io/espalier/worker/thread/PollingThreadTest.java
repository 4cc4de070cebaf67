package io.espalier.worker.thread;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

final class PollingThreadTest {
  private static final Instant T0 = Instant.ofEpochSecond(1_000_000);
  private static final Duration SOON = Duration.ofMillis(50);
  private static final Duration LONG = Duration.ofHours(1);

  private final AtomicReference<Instant> clock = new AtomicReference<>(T0);
  private final BlockingQueue<Instant> runs = new LinkedBlockingQueue<>();
  private final ListAppender<ILoggingEvent> log = new ListAppender<>();
  private @Nullable PollingThread thread;

  @BeforeEach
  void listenToTheLog() {
    log.start();
    ((Logger) LoggerFactory.getLogger(PollingThread.class)).addAppender(log);
  }

  @AfterEach
  void close() {
    if (thread != null) {
      thread.close(Duration.ofSeconds(20), true);
    }
    ((Logger) LoggerFactory.getLogger(PollingThread.class)).detachAppender(log);
  }

  /** Starts a thread that notes each run before it does its work. */
  private PollingThread started(Duration retry, PollingThread.Work work) {
    PollingThread fresh =
        new PollingThread(
            "polling-test",
            "polling in a test",
            clock::get,
            retry,
            now -> {
              runs.add(now);
              work.run(now);
            });
    thread = fresh;
    fresh.start();
    return fresh;
  }

  private @Nullable Instant nextRun() throws InterruptedException {
    return runs.poll(20, TimeUnit.SECONDS);
  }

  private List<String> logged() {
    return List.copyOf(log.list).stream().map(ILoggingEvent::getFormattedMessage).toList();
  }

  @Test
  void workThatFailsIsDueAgainAfterThePauseAlsoWhenTheClockIsSetBack() throws Exception {
    PollingThread failing =
        started(
            SOON,
            now -> {
              clock.set(T0.minus(LONG));
              throw new IllegalStateException("on purpose");
            });
    failing.due(Instant.MIN);

    assertThat(nextRun()).isEqualTo(T0);
    assertThat(nextRun()).isEqualTo(T0.minus(LONG));
  }

  @Test
  void workThatIsDueAfterATimeIsDoneAlsoWhenTheClockIsSetBack() throws Exception {
    AtomicReference<@Nullable PollingThread> self = new AtomicReference<>();
    PollingThread periodic =
        started(
            LONG,
            now -> {
              PollingThread same = self.get();
              if (same != null) {
                same.dueIn(SOON);
              }
              clock.set(now.minus(LONG));
            });
    self.set(periodic);
    periodic.due(T0);

    assertThat(nextRun()).isEqualTo(T0);
    assertThat(nextRun()).isEqualTo(T0.minus(LONG));
    assertThat(nextRun()).isEqualTo(T0.minus(LONG).minus(LONG));
  }

  @Test
  void aFailureDoesNotPutOffWhatIsDueEarlier() throws Exception {
    AtomicReference<@Nullable PollingThread> self = new AtomicReference<>();
    PollingThread failing =
        started(
            LONG,
            now -> {
              PollingThread same = self.getAndSet(null);
              if (same != null) {
                same.due(T0);
                throw new IllegalStateException("on purpose");
              }
            });
    self.set(failing);
    failing.due(T0);

    assertThat(nextRun()).isEqualTo(T0);
    assertThat(nextRun()).isEqualTo(T0);
    assertThat(logged()).containsExactly("polling in a test failed; it is tried again in PT1H");
  }

  @Test
  void workIsDoneAgainAlsoAfterAnError() throws Exception {
    PollingThread failing =
        started(
            SOON,
            now -> {
              throw new OutOfMemoryError("unable to create native thread");
            });
    failing.due(T0);

    assertThat(nextRun()).isEqualTo(T0);
    assertThat(nextRun()).isEqualTo(T0);
    assertThat(logged()).contains("polling in a test failed; it is tried again in PT0.05S");
  }

  @Test
  void nothingIsDoneUntilItIsDue() throws Exception {
    PollingThread idle = started(LONG, now -> {});
    idle.due(Instant.MAX);
    assertThat(idle.due()).isEqualTo(Instant.MAX);

    idle.due(T0);
    assertThat(nextRun()).isEqualTo(T0);
  }
}
