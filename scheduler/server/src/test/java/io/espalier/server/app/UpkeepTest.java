package io.espalier.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class UpkeepTest {
  @Test
  void workIsDoneAgainAfterTheMachineHadNoThreadForIt() throws Exception {
    CountDownLatch twice = new CountDownLatch(2);
    ScheduledExecutorService timer = WorkerProcess.timer("upkeep-test");
    try {
      WorkerProcess.every(
          timer,
          1,
          () -> {
            twice.countDown();
            throw new OutOfMemoryError("unable to create native thread");
          });
      assertThat(twice.await(30, TimeUnit.SECONDS)).isTrue();
    } finally {
      timer.shutdownNow();
    }
  }
}
