package io.espalier.worker.process;

import io.espalier.worker.process.spawn.ProcessBackend;
import io.espalier.worker.thread.OwnerThread;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The supervisor's thread: delivers process events, messages of other threads and due timers, and
 * sleeps until one of them arrives.
 */
final class SupervisorLoop implements OwnerThread.Turn, OwnerThread.Bell {
  private static final Logger log = LoggerFactory.getLogger(SupervisorLoop.class);

  /** The maximum number of messages between two checks for process events. */
  private static final int MESSAGES_PER_TURN = 32;

  private final ProcessBackend processes;
  private final BooleanSupplier over;
  private final Timers timers = new Timers();
  private final OwnerThread<Runnable> thread = new OwnerThread<>("task-supervisor", this);

  /**
   * @param over returns, when there are no messages, whether a loop that is being closed ends
   */
  SupervisorLoop(ProcessBackend processes, BooleanSupplier over) {
    this.processes = processes;
    this.over = over;
  }

  void start() {
    thread.start(this, true);
  }

  /** Posts a message; safe from any thread. */
  void tell(Runnable message) {
    thread.post(message);
  }

  /** Withdraws a message; returns false when it was already taken. Safe from any thread. */
  boolean takeBack(Runnable message) {
    return thread.inbox().remove(message);
  }

  /** Schedules an action; supervisor's thread only. */
  void after(long nanos, Runnable action) {
    timers.after(nanos, action);
  }

  /** Ends the loop once it is over, and waits for that as long as the bound. */
  void close(Duration bound) {
    thread.close(bound);
  }

  @Override
  public long take() {
    Runnable message = thread.inbox().poll();
    for (int i = 1; message != null; i++) {
      guarded(message);
      message = i < MESSAGES_PER_TURN ? thread.inbox().poll() : null;
    }
    timers.run(SupervisorLoop::guarded);
    return timers.waitNanos();
  }

  @Override
  public boolean isOver() {
    return thread.inbox().isEmpty() && over.getAsBoolean();
  }

  @Override
  public void await(long nanos) {
    try {
      processes.await(nanos == OwnerThread.UNTIL_TOLD ? -1 : nanos);
    } catch (RuntimeException e) {
      log.error("while watching tasks", e);
    }
  }

  @Override
  public void ring() {
    processes.wakeUp();
  }

  /**
   * Runs an action and logs its failure: a bug in the handling of one task must not stop the
   * supervision of all others.
   */
  private static void guarded(Runnable action) {
    try {
      action.run();
    } catch (RuntimeException | OutOfMemoryError e) {
      // The virtual machine reports out of memory when it gets no thread.
      log.error("while supervising a task", e);
    }
  }
}
