package io.espalier.worker.process;

import io.espalier.worker.process.spawn.ProcessBackend;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The loop of the supervisor's thread: delivers process events, messages of other threads and due
 * timers, and sleeps until one of them arrives.
 */
final class SupervisorLoop {
  private static final Logger log = LoggerFactory.getLogger(SupervisorLoop.class);

  /** The maximum number of messages between two checks for process events. */
  private static final int MESSAGES_PER_TURN = 32;

  private final ProcessBackend processes;
  private final BooleanSupplier over;
  private final Queue<Runnable> messages = new ConcurrentLinkedQueue<>();
  private final Timers timers = new Timers();
  private final Thread thread;

  /**
   * @param over returns, when there are no messages, whether the loop ends
   */
  SupervisorLoop(ProcessBackend processes, BooleanSupplier over) {
    this.processes = processes;
    this.over = over;
    this.thread = new Thread(this::run, "task-supervisor");
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  /** Posts a message; safe from any thread. */
  void tell(Runnable message) {
    messages.add(message);
    processes.wakeUp();
  }

  /** Withdraws a message; returns false when it was already taken. Safe from any thread. */
  boolean takeBack(Runnable message) {
    return messages.remove(message);
  }

  /** Schedules an action; supervisor's thread only. */
  void after(long nanos, Runnable action) {
    timers.after(nanos, action);
  }

  void join(Duration bound) {
    try {
      thread.join(bound.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    while (true) {
      readMessages();
      timers.run(SupervisorLoop::guarded);
      if (messages.isEmpty() && over.getAsBoolean()) {
        return;
      }
      try {
        processes.await(messages.isEmpty() ? timers.waitNanos() : 0);
      } catch (RuntimeException e) {
        log.error("while watching tasks", e);
      }
    }
  }

  private void readMessages() {
    for (int i = 0; i < MESSAGES_PER_TURN; i++) {
      Runnable message = messages.poll();
      if (message == null) {
        return;
      }
      guarded(message);
    }
  }

  /**
   * Runs an action and logs its failure: a bug in the handling of one task must not stop the
   * supervision of all others.
   */
  private static void guarded(Runnable action) {
    try {
      action.run();
    } catch (RuntimeException e) {
      log.error("while supervising a task", e);
    }
  }
}
