package io.espalier.worker.thread;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A daemon thread for work that is done again and again. Work that fails is logged and done again
 * at its next time: neither a mistake, nor a machine without threads, nor a plug-in that misses a
 * class ends it. Thread-safe.
 */
public final class PeriodicThread implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PeriodicThread.class);

  private final ScheduledExecutorService thread;

  /** What the thread does. */
  public interface Work {
    void run() throws IOException;
  }

  public PeriodicThread(String name) {
    thread =
        Executors.newSingleThreadScheduledExecutor(
            work -> {
              Thread made = new Thread(work, name);
              made.setDaemon(true);
              return made;
            });
  }

  /**
   * Starts to do the work again and again.
   *
   * @param first time until it is done for the first time
   * @param pause time from the end of one run to the begin of the next
   */
  public void every(Duration first, Duration pause, Work work) {
    var unused =
        thread.scheduleWithFixedDelay(
            () -> run(work), first.toNanos(), pause.toNanos(), TimeUnit.NANOSECONDS);
  }

  /** Does the work once after this time; never when the thread is closed before. */
  public void once(Duration after, Work work) {
    try {
      var unused = thread.schedule(() -> run(work), after.toNanos(), TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      LOG.trace("closed", e);
    }
  }

  private static void run(Work work) {
    try {
      work.run();
    } catch (IOException | RuntimeException | Error e) {
      // The executor would end the work for good, and say nothing.
      LOG.error("failed", e);
    }
  }

  /** Interrupts work in progress, does not wait for its end, and does nothing more. */
  @Override
  public void close() {
    var unused = thread.shutdownNow();
  }
}
