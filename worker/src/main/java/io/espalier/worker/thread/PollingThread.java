package io.espalier.worker.thread;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A daemon thread that does its work whenever that is due. The work, or anybody else, says when it
 * is due the next time: at an instant of the clock, which may be set, or after a time, which passes
 * however the clock is set. Work that fails is due again after a pause. Thread-safe.
 */
public final class PollingThread {
  private static final Logger LOG = LoggerFactory.getLogger(PollingThread.class);

  /** The longest wait without a look at the clock, because the clock may be set. */
  private static final long LONGEST_NAP_MILLIS = 1_000;

  private final String name;
  private final String activity;
  private final InstantSource clock;
  private final Duration retry;
  private final Work work;
  private @Nullable Instant due;

  /** A value of {@link System#nanoTime} at which the work is due, too; null: there is none. */
  private @Nullable Long deadline;

  private boolean closed;
  private @Nullable Thread thread;

  /** What the thread does. */
  public interface Work {
    /**
     * Does what is due; after that nothing is due, unless somebody says so.
     *
     * @throws InterruptedException to end the thread
     */
    void run(Instant now) throws InterruptedException;
  }

  /**
   * Creates a thread for which nothing is due.
   *
   * @param name of the thread
   * @param activity what the work does, for the log, such as "polling the nodes"
   * @param retry after failed work it is due again after this time, or earlier if it has said so
   */
  public PollingThread(
      String name, String activity, InstantSource clock, Duration retry, Work work) {
    this.name = name;
    this.activity = activity;
    this.clock = clock;
    this.retry = retry;
    this.work = work;
  }

  /** Returns when the work is due, as the clock is set now; null: not, or being done. */
  public synchronized @Nullable Instant due() {
    return earliest(clock.instant());
  }

  private synchronized @Nullable Instant earliest(Instant now) {
    if (deadline == null) {
      return due;
    }
    Instant after = now.plusNanos(deadline - System.nanoTime());
    return due == null || after.isBefore(due) ? after : due;
  }

  /** Sets when the work is due; null: not until somebody says so. */
  public synchronized void due(@Nullable Instant at) {
    due = at;
    deadline = null;
    notifyAll();
  }

  /** Sets that the work is due after this time, however the clock is set meanwhile. */
  public synchronized void dueIn(Duration time) {
    due = null;
    dueAlsoIn(time);
  }

  private synchronized void dueAlsoIn(Duration time) {
    deadline = System.nanoTime() + time.toNanos();
    notifyAll();
  }

  /** Starts to do what is due. Must be called once. */
  public synchronized void start() {
    Thread fresh = new Thread(this::run, name);
    fresh.setDaemon(true);
    thread = fresh;
    fresh.start();
  }

  private void run() {
    try {
      while (awaitDue()) {
        try {
          work.run(clock.instant());
        } catch (RuntimeException | Error e) {
          // Neither a mistake, nor a machine without threads, nor a plug-in that misses a class
          // must end the polling, or make it spin.
          LOG.error("{} failed; it is tried again in {}", activity, retry, e);
          dueAlsoIn(retry);
        }
      }
    } catch (InterruptedException e) {
      LOG.debug("the thread {} ends", name);
    }
  }

  /** Waits until the work is due; false when closed. */
  private synchronized boolean awaitDue() throws InterruptedException {
    while (!closed) {
      Instant now = clock.instant();
      Instant next = earliest(now);
      if (next == null) {
        wait();
      } else if (!next.isAfter(now)) {
        due = null;
        deadline = null;
        return true;
      } else if (next.isAfter(now.plusMillis(LONGEST_NAP_MILLIS))) {
        wait(LONGEST_NAP_MILLIS);
      } else {
        wait(Duration.between(now, next).toMillis() + 1);
      }
    }
    return false;
  }

  /**
   * Ends the thread and waits for that as long as the bound.
   *
   * @param interrupts whether work in progress is interrupted
   */
  public void close(Duration bound, boolean interrupts) {
    Thread running;
    synchronized (this) {
      closed = true;
      running = thread;
      notifyAll();
    }
    if (running == null) {
      return;
    }
    if (interrupts) {
      running.interrupt();
    }
    try {
      running.join(bound.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
