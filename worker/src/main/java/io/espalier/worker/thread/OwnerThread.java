package io.espalier.worker.thread;

import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread that alone touches some state, and the inbox by which all others reach it. It takes
 * turns: each handles messages, does what is due, and says for how long nothing will be due. All
 * methods are safe from any thread.
 *
 * <p>A message that fails is for the turn to handle. What escapes a turn means that the state can
 * no longer be trusted: the thread logs it, passes it to {@link Turn#died} and ends.
 *
 * @param <M> a message
 */
public final class OwnerThread<M> {
  /** The result of a turn that is followed by another one only when there is a message. */
  public static final long UNTIL_TOLD = Long.MAX_VALUE;

  private static final Logger LOG = LoggerFactory.getLogger(OwnerThread.class);

  private final String name;
  private final Bell bell;
  private final BlockingQueue<M> inbox = new LinkedBlockingQueue<>();
  private volatile @Nullable Thread thread;
  private volatile boolean asleep;
  private volatile boolean closing;

  /** Whether the thread knows that it is being closed; only it reads and writes this. */
  private boolean closingSeen;

  /** What the thread does; called on it. */
  public interface Turn {
    /**
     * Handles messages, not necessarily all, and does what is due.
     *
     * @return nanoseconds until the next turn is due; a message makes it due at once
     */
    long take();

    /** Returns, after a turn, whether a thread that is being closed ends now. */
    default boolean isOver() {
      return true;
    }

    /**
     * The thread ends, because this has escaped a turn. By default the process does what {@link
     * #haltOnDeath} has agreed on.
     */
    default void died(Throwable failure) {
      Thread thread = Thread.currentThread();
      thread.getUncaughtExceptionHandler().uncaughtException(thread, failure);
    }
  }

  /** How the thread waits for its next turn. */
  public interface Bell {
    /** Waits, at most that long, until the bell rings, or has rung since the last wait. */
    void await(long nanos) throws InterruptedException;

    /** Ends the wait; called by any thread. */
    void ring();
  }

  /** Creates a thread that waits for messages and for time. */
  public OwnerThread(String name) {
    this.name = name;
    this.bell = new Sleep();
  }

  /** Creates a thread that waits for something else, too. */
  public OwnerThread(String name, Bell bell) {
    this.name = name;
    this.bell = bell;
  }

  /**
   * Lets the process end, as after a kill, when one of its owner threads dies: what the thread was
   * for would not be done any more, while the process looked alive. All else that no thread has
   * caught is logged.
   *
   * @param exitCode of the process
   */
  public static void haltOnDeath(int exitCode) {
    Thread.setDefaultUncaughtExceptionHandler(
        (thread, failure) -> {
          if (thread instanceof Owner) {
            Runtime.getRuntime().halt(exitCode);
          }
          LOG.error("the thread {} ended", thread.getName(), failure);
        });
  }

  private static final class Owner extends Thread {
    Owner(Runnable turns, String name) {
      super(turns, name);
    }
  }

  /** Starts to take turns. Must be called once. */
  public void start(Turn turn, boolean daemon) {
    Thread fresh = new Owner(() -> run(turn), name);
    fresh.setDaemon(daemon);
    thread = fresh;
    fresh.start();
  }

  /** Returns whether {@link #start} was called. */
  public boolean isStarted() {
    return thread != null;
  }

  /** Returns whether the caller is this thread. */
  public boolean isCurrent() {
    return Thread.currentThread() == thread;
  }

  /** Posts a message. */
  public void post(M message) {
    inbox.add(message);
    bell.ring();
  }

  /** Returns the messages that no turn has taken; a poster may withdraw its own. */
  public BlockingQueue<M> inbox() {
    return inbox;
  }

  private void run(Turn turn) {
    try {
      long wait = turn.take();
      closingSeen = closing;
      while (!closingSeen || !turn.isOver()) {
        bell.await(inbox.isEmpty() ? wait : 0);
        wait = turn.take();
        closingSeen = closing;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      // Only an embedder that stops all threads interrupts this one; the state is intact.
      LOG.info("the thread {} was interrupted", name);
    } catch (RuntimeException | Error e) {
      LOG.error("the thread {} died", name, e);
      turn.died(e);
    }
  }

  /**
   * Ends the thread after at most one more turn, or, as long as {@link Turn#isOver} returns false,
   * after later ones; what is then in the inbox is not handled. Waits for that as long as the
   * bound.
   */
  public void close(Duration bound) {
    closing = true;
    bell.ring();
    Thread running = thread;
    if (running == null) {
      return;
    }
    try {
      running.join(bound.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private final class Sleep implements Bell {
    @Override
    public void await(long nanos) throws InterruptedException {
      long end = System.nanoTime() + nanos;
      // A thread that posts a message after we have looked into the inbox sees that we sleep.
      asleep = nanos > 0;
      for (long left = nanos;
          left > 0
              && inbox.isEmpty()
              && closing == closingSeen
              && !Thread.currentThread().isInterrupted();
          left = end - System.nanoTime()) {
        LockSupport.parkNanos(this, left);
      }
      asleep = false;
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }

    @Override
    public void ring() {
      if (asleep) {
        LockSupport.unpark(thread);
      }
    }
  }
}
