package io.espalier.server.app.loop;

import io.espalier.core.loop.LoopInput;
import io.espalier.core.loop.SchedulerLoop;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The scheduler thread, the only thread that touches the loop. Other threads put inputs into its
 * inbox by {@link #accept}. The thread hands them to a step of the loop, and then sleeps until the
 * time that the step returned or until the next input.
 *
 * <p>An exception that escapes a step means that the state can no longer be trusted. The thread
 * passes it to {@code onDeath} and ends.
 */
public final class LoopThread implements Consumer<LoopInput>, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LoopThread.class);

  /** The maximum number of inputs that are taken out of the inbox and not yet in effect. */
  private static final int BATCH = 4096;

  private final LinkedBlockingQueue<LoopInput> inbox = new LinkedBlockingQueue<>();

  /** The inputs that are taken out of the inbox and not yet in effect. */
  private final AtomicInteger waiting = new AtomicInteger();

  private final AtomicBoolean open = new AtomicBoolean(true);
  private final SteadyClock clock;
  private final Consumer<Throwable> onDeath;
  private volatile LongConsumer steps = nanos -> {};
  private volatile @Nullable Thread thread;

  public LoopThread(InstantSource clock, Consumer<Throwable> onDeath) {
    this.clock = new SteadyClock(clock, System::nanoTime);
    this.onDeath = onDeath;
  }

  /** Starts to drive the loop. Must be called once. */
  public void start(SchedulerLoop loop) {
    Thread fresh = new Thread(() -> run(loop), "scheduler");
    thread = fresh;
    fresh.start();
  }

  /** Returns true once {@link #start} was called. */
  public boolean isStarted() {
    return thread != null;
  }

  /**
   * Reads the state of the loop after the step in which everything put in before takes effect, and
   * waits for the result.
   *
   * @throws CompletionException when the query failed
   * @throws TimeoutException when the thread does not answer within a minute
   */
  public <T> T call(Supplier<T> question) throws InterruptedException, TimeoutException {
    CompletableFuture<T> answer = new CompletableFuture<>();
    accept(
        new LoopInput.Inspect(
            () -> {
              try {
                answer.complete(question.get());
              } catch (RuntimeException e) {
                answer.completeExceptionally(e);
              }
            }));
    try {
      return answer.get(1, TimeUnit.MINUTES);
    } catch (ExecutionException e) {
      throw new CompletionException(e.getCause());
    }
  }

  /**
   * Sets the observer that the scheduler thread notifies of the duration of each step, in
   * nanoseconds.
   */
  public void observe(LongConsumer newSteps) {
    steps = newSteps;
  }

  /** Returns the number of inputs that are not in effect yet. */
  public int backlog() {
    return inbox.size() + waiting.get();
  }

  @Override
  public void accept(LoopInput input) {
    inbox.add(input);
  }

  private void run(SchedulerLoop loop) {
    try {
      ArrayDeque<LoopInput> taken = new ArrayDeque<>();
      Duration pause = Duration.ZERO;
      while (open.get()) {
        LoopInput first = inbox.poll(pause.toNanos(), TimeUnit.NANOSECONDS);
        long begin = System.nanoTime();
        if (first != null) {
          taken.add(first);
          inbox.drainTo(taken, Math.max(0, BATCH - taken.size()));
        }
        pause = loop.runOnce(clock.millis(), taken);
        waiting.set(taken.size());
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

  /** Finishes the current step, then stops. Drops inputs that no step has taken. */
  @Override
  public void close() {
    open.set(false);
    accept(new LoopInput.Deferred(now -> {}));
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
