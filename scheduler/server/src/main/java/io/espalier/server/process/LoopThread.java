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
 * The scheduler thread, the only thread that touches the loop. Other threads submit work through
 * {@link #execute}, the inbox. The thread runs the submitted work, then one step of the loop, and
 * then sleeps until the time that the step returned or until the next submission.
 *
 * <p>An exception that escapes a step means that the state can no longer be trusted. The thread
 * passes it to {@code onDeath} and ends.
 */
final class LoopThread implements Executor, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LoopThread.class);

  /** The maximum number of inbox items that run before the next step of the loop. */
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

  /** Starts to drive the loop. Must be called once. */
  void start(SchedulerLoop loop) {
    Thread fresh = new Thread(() -> run(loop), "scheduler");
    thread = fresh;
    fresh.start();
  }

  /** Returns true once {@link #start} was called. */
  boolean isStarted() {
    return thread != null;
  }

  /**
   * Runs a query on the scheduler thread after everything submitted before, and waits for its
   * result.
   *
   * @throws CompletionException when the query failed
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

  /**
   * Sets the observer that the scheduler thread notifies of the duration of each step, in
   * nanoseconds, inbox included.
   */
  void observe(LongConsumer newSteps) {
    steps = newSteps;
  }

  /** Returns the number of inbox items that wait to run. */
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
      // Only an embedder that stops all threads interrupts this one; the state is intact.
      LOG.info("scheduler thread interrupted");
    } catch (RuntimeException | Error e) {
      LOG.error("the scheduler thread died", e);
      onDeath.accept(e);
    }
  }

  /** Finishes the current step, then stops. Drops work that is still in the inbox. */
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
