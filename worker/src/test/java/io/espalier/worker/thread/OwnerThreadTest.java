package io.espalier.worker.thread;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.espalier.testkit.running.JavaCommand;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class OwnerThreadTest {
  private static final Duration BOUND = Duration.ofSeconds(20);

  private final OwnerThread<String> thread = new OwnerThread<>("owner-test");

  @AfterEach
  void close() {
    thread.close(BOUND);
  }

  @Test
  void eachMessageOfManyThreadsEndsTheSleepAndIsTakenOnce() throws Exception {
    int posters = 4;
    int each = 20_000;
    AtomicInteger taken = new AtomicInteger();
    CountDownLatch all = new CountDownLatch(1);
    thread.start(
        () -> {
          while (thread.inbox().poll() != null) {
            if (taken.incrementAndGet() == posters * each) {
              all.countDown();
            }
          }
          return OwnerThread.UNTIL_TOLD;
        },
        true);

    List<Thread> posting = new ArrayList<>();
    for (int i = 0; i < posters; i++) {
      Thread poster =
          new Thread(
              () -> {
                for (int k = 0; k < each; k++) {
                  thread.post("message");
                }
              });
      poster.start();
      posting.add(poster);
    }
    for (Thread poster : posting) {
      poster.join();
    }

    assertThat(all.await(20, TimeUnit.SECONDS)).isTrue();
    assertThat(taken).hasValue(posters * each);
  }

  @Test
  void itTakesItsNextTurnWhenThatIsDue() throws Exception {
    CompletableFuture<Long> waited = new CompletableFuture<>();
    AtomicInteger turns = new AtomicInteger();
    long begin = System.nanoTime();
    thread.start(
        () -> {
          if (turns.incrementAndGet() == 2) {
            waited.complete(System.nanoTime() - begin);
          }
          return turns.get() == 1 ? 50_000_000 : OwnerThread.UNTIL_TOLD;
        },
        true);

    assertThat(waited.get(20, TimeUnit.SECONDS)).isGreaterThanOrEqualTo(50_000_000);
  }

  @Test
  void aMessageThatATurnLeftMakesTheNextTurnDueAtOnce() throws Exception {
    CompletableFuture<String> second = new CompletableFuture<>();
    thread.post("a");
    thread.post("b");
    thread.start(
        () -> {
          if ("b".equals(thread.inbox().poll())) {
            second.complete("taken");
          }
          return OwnerThread.UNTIL_TOLD;
        },
        true);

    assertThat(second.get(20, TimeUnit.SECONDS)).isEqualTo("taken");
  }

  @Test
  void whatEscapesATurnEndsTheThread() throws Exception {
    CompletableFuture<Throwable> death = new CompletableFuture<>();
    AtomicInteger turns = new AtomicInteger();
    AssertionError failure = new AssertionError("on purpose");
    thread.start(
        new OwnerThread.Turn() {
          @Override
          public long take() {
            turns.incrementAndGet();
            throw failure;
          }

          @Override
          public void died(Throwable why) {
            death.complete(why);
          }
        },
        true);

    assertThat(death.get(20, TimeUnit.SECONDS)).isSameAs(failure);
    thread.close(BOUND);
    thread.post("too late");
    assertThat(turns).hasValue(1);
    assertThat(thread.inbox()).containsExactly("too late");
  }

  @Test
  void aProcessWhoseOwnerThreadDiesEnds() throws Exception {
    Process process =
        new ProcessBuilder(JavaCommand.of(Mortal.class))
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
      assertThat(process.exitValue()).isEqualTo(7);
    } finally {
      process.destroyForcibly();
    }
  }

  /** A process that never ends by itself. Another thread that fails does not end it. */
  static final class Mortal {
    private Mortal() {}

    public static void main(String[] args) throws InterruptedException {
      OwnerThread.haltOnDeath(7);
      Thread other =
          new Thread(
              () -> {
                throw new IllegalStateException("on purpose");
              });
      other.start();
      other.join();
      new OwnerThread<>("mortal")
          .start(
              () -> {
                throw new AssertionError("on purpose");
              },
              false);
      new CountDownLatch(1).await();
    }
  }

  @Test
  void aClosedThreadEndsOnlyWhenItIsOver() {
    List<String> seen = new ArrayList<>();
    thread.post("a");
    thread.post("b");
    thread.post("c");
    CountDownLatch closing = new CountDownLatch(1);
    thread.start(
        new OwnerThread.Turn() {
          @Override
          public long take() {
            try {
              closing.await();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
            String message = thread.inbox().poll();
            if (message != null) {
              seen.add(message);
            }
            return OwnerThread.UNTIL_TOLD;
          }

          @Override
          public boolean isOver() {
            return thread.inbox().isEmpty();
          }
        },
        true);
    closing.countDown();
    thread.close(BOUND);

    assertThat(seen).containsExactly("a", "b", "c");
  }

  @Test
  void aThreadThatIsBeingClosedSleepsUntilItsNextTurnIsDue() throws Exception {
    AtomicBoolean over = new AtomicBoolean();
    CompletableFuture<Thread> asked = new CompletableFuture<>();
    thread.start(
        new OwnerThread.Turn() {
          @Override
          public long take() {
            thread.inbox().clear();
            return OwnerThread.UNTIL_TOLD;
          }

          @Override
          public boolean isOver() {
            asked.complete(Thread.currentThread());
            return over.get();
          }
        },
        true);
    thread.close(Duration.ofMillis(1));

    Thread owner = asked.get(20, TimeUnit.SECONDS);
    await().until(() -> owner.getState() == Thread.State.TIMED_WAITING);
    over.set(true);
    thread.post("the last one");
    owner.join(BOUND.toMillis());
    assertThat(owner.isAlive()).isFalse();
  }
}
