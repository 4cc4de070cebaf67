package io.espalier.server.process;

import io.espalier.core.loop.SchedulerLoop;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The scheduler thread: the only one that touches the loop. Others hand it work through {@link
 * #execute}, the inbox; it runs what is there, then one step of the loop, then sleeps until the
 * step's time or the next piece of work.
 *
 * <p>An exception that gets out of a step means that the state can no longer be trusted: it goes to
 * {@code onDeath} and the thread ends.
 */
final class LoopThread implements Executor, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LoopThread.class);

  /** So many pieces of work at most before the loop gets its turn. */
  private static final int BATCH = 4096;

  private final LinkedBlockingQueue<Runnable> inbox = new LinkedBlockingQueue<>();
  private final AtomicBoolean open = new AtomicBoolean(true);
  private final SteadyClock clock;
  private final Consumer<Throwable> onDeath;
  private volatile LongConsumer steps = nanos -> {};
  private volatile @Nullable Thread thread;

  LoopThread(InstantSource clock, Consumer<Throwable> onDeath) {
    this.clock = new SteadyClock(clock, System::nanoTime);
    this.onDeath = onDeath;
  }

  /** Begins to drive the loop; once. */
  void start(SchedulerLoop loop) {
    Thread fresh = new Thread(() -> run(loop), "scheduler");
    thread = fresh;
    fresh.start();
  }

  /** Whether it was told to drive a loop. */
  boolean isStarted() {
    return thread != null;
  }

  /**
   * Runs a question on the scheduler thread, after all that was handed in before, and waits.
   *
   * @throws CompletionException when the question failed
   * @throws TimeoutException when the thread does not answer within a minute
   */
  <T> T call(Supplier<T> question) throws InterruptedException, TimeoutException {
    CompletableFuture<T> answer = new CompletableFuture<>();
    execute(
        () -> {
          try {
            answer.complete(question.get());
          } catch (RuntimeException e) {
            answer.completeExceptionally(e);
          }
        });
    try {
      return answer.get(1, TimeUnit.MINUTES);
    } catch (ExecutionException e) {
      throw new CompletionException(e.getCause());
    }
  }

  /** Is told on the scheduler thread how long each step took, in nanoseconds, inbox included. */
  void observe(LongConsumer newSteps) {
    steps = newSteps;
  }

  /** Work that waits to be run. */
  int backlog() {
    return inbox.size();
  }

  @Override
  public void execute(Runnable work) {
    inbox.add(work);
  }

  private void run(SchedulerLoop loop) {
    try {
      List<Runnable> batch = new ArrayList<>();
      Duration pause = Duration.ZERO;
      while (open.get()) {
        Runnable first = inbox.poll(pause.toNanos(), TimeUnit.NANOSECONDS);
        long begin = System.nanoTime();
        if (first != null) {
          batch.add(first);
          inbox.drainTo(batch, BATCH);
          for (Runnable work : batch) {
            work.run();
          }
          batch.clear();
        }
        pause = loop.runOnce(clock.millis());
        steps.accept(System.nanoTime() - begin);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      // Only an embedder that stops all threads does this; the state is intact.
      LOG.info("scheduler thread interrupted");
    } catch (RuntimeException | Error e) {
      LOG.error("the scheduler thread died", e);
      onDeath.accept(e);
    }
  }

  /** Lets the current step end, then stops; work that is still in the inbox is dropped. */
  @Override
  public void close() {
    open.set(false);
    execute(() -> {});
    Thread running = thread;
    if (running == null) {
      return;
    }
    try {
      running.join(10_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
