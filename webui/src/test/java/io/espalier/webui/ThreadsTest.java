package io.espalier.webui;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.api.Query;
import io.espalier.testkit.api.ApiFixture;
import io.espalier.testkit.api.FakeScheduler;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class ThreadsTest {
  @Test
  void whatFollowsAnAnswerDoesNotRunWhereItWasGiven() throws Exception {
    FakeScheduler scheduler = ApiFixture.standard();
    ExecutorService pool = Executors.newSingleThreadExecutor(work -> new Thread(work, "ours"));
    try {
      CompletableFuture<String> gate = new CompletableFuture<>();
      CompletableFuture<String> trap = new CompletableFuture<>();
      CountDownLatch done = new CountDownLatch(2);
      AtomicReference<String> answered = new AtomicReference<>();
      AtomicReference<String> failed = new AtomicReference<>();
      new PooledSchedulerApi(scheduler.answersAfter(gate), pool)
          .ask(new Query.Histograms(List.of(), 0))
          .thenAccept(
              found -> {
                answered.set(Thread.currentThread().getName());
                done.countDown();
              });
      new PooledSchedulerApi(scheduler.answersAfter(trap), pool)
          .ask(new Query.Histograms(List.of(), 0))
          .exceptionally(
              failure -> {
                failed.set(Thread.currentThread().getName());
                done.countDown();
                return List.of();
              });

      gate.complete("open");
      trap.completeExceptionally(new IllegalStateException("no"));

      assertThat(done.await(20, TimeUnit.SECONDS)).isTrue();
      assertThat(answered).hasValue("ours");
      assertThat(failed).hasValue("ours");
    } finally {
      pool.shutdownNow();
    }
  }

  @Test
  void theThreadsOfAServerEndWithIt() {
    try (Served served = Served.standard()) {
      served.get("/api/v1/jobs");
      assertThat(threads()).isNotEmpty();
    }
    org.awaitility.Awaitility.await().until(() -> threads().isEmpty());
  }

  private static List<String> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith("espalier-web-") || name.startsWith("vert.x-eventloop"))
        .toList();
  }
}
