package io.espalier.server.app.loop;

import io.espalier.core.loop.LoopInput;
import io.espalier.core.loop.SchedulerLoop;
import io.espalier.worker.thread.OwnerThread;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The scheduler thread, the only thread that touches the loop. Other threads put inputs into its
 * inbox by {@link #accept}. The thread hands them to a step of the loop, and then sleeps until the
 * time that the step returned or until the next input.
 *
 * <p>An exception that escapes a step means that the state can no longer be trusted. The thread
 * passes it to {@code onDeath} and ends.
 */
public final class LoopThread implements Consumer<LoopInput>, AutoCloseable {
  /** The maximum number of inputs that are taken out of the inbox and not yet in effect. */
  private static final int BATCH = 4096;

  private static final Duration CLOSE_BOUND = Duration.ofSeconds(10);

  private final OwnerThread<LoopInput> thread = new OwnerThread<>("scheduler");

  /** The inputs that are taken out of the inbox and not yet in effect. */
  private volatile int waiting;

  private final SteadyClock clock;
  private final Consumer<Throwable> onDeath;
  private volatile @Nullable SchedulerLoop driven;
  private volatile LongConsumer steps = nanos -> {};

  public LoopThread(InstantSource clock, Consumer<Throwable> onDeath) {
    this.clock = new SteadyClock(clock, System::nanoTime);
    this.onDeath = onDeath;
  }

  /** Starts to drive the loop. Must be called once. */
  public void start(SchedulerLoop loop) {
    driven = loop;
    thread.start(new Step(loop), false);
  }

  /** Returns true once {@link #start} was called. */
  public boolean isStarted() {
    return thread.isStarted();
  }

  /**
   * Reads the state of the loop after the step in which everything put in before takes effect, and
   * waits for the result.
   *
   * @throws CompletionException when the query failed
   * @throws IllegalStateException before {@link #start}
   * @throws TimeoutException when the thread does not answer within a minute
   */
  public <T> T call(Function<SchedulerLoop, T> question)
      throws InterruptedException, TimeoutException {
    SchedulerLoop loop = driven;
    if (loop == null) {
      throw new IllegalStateException("not started");
    }
    CompletableFuture<T> answer = new CompletableFuture<>();
    accept(
        new LoopInput.Inspect(
            () -> {
              try {
                answer.complete(question.apply(loop));
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
    return thread.inbox().size() + waiting;
  }

  @Override
  public void accept(LoopInput input) {
    thread.post(input);
  }

  /** A turn of the thread: one step of the loop. */
  private final class Step implements OwnerThread.Turn {
    private final SchedulerLoop loop;
    private final ArrayDeque<LoopInput> taken = new ArrayDeque<>();

    Step(SchedulerLoop loop) {
      this.loop = loop;
    }

    @Override
    public long take() {
      long begin = System.nanoTime();
      thread.inbox().drainTo(taken, Math.max(0, BATCH - taken.size()));
      long pause = loop.runOnce(clock.millis(), taken).toNanos();
      waiting = taken.size();
      steps.accept(System.nanoTime() - begin);
      return pause;
    }

    @Override
    public void died(Throwable failure) {
      onDeath.accept(failure);
    }
  }

  /** Finishes the current step, then stops. Drops inputs that no step has taken. */
  @Override
  public void close() {
    thread.close(CLOSE_BOUND);
  }
}
