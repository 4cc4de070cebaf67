package io.espalier.worker.process;

import io.espalier.worker.thread.OwnerThread;
import java.util.PriorityQueue;
import java.util.function.Consumer;

/** A queue of actions to run later; confined to one thread. */
final class Timers {
  private final PriorityQueue<Timer> timers = new PriorityQueue<>();
  private long sequence;

  private record Timer(long atNanos, long sequence, Runnable action) implements Comparable<Timer> {
    @Override
    public int compareTo(Timer other) {
      int byTime = Long.compare(atNanos - other.atNanos, 0);
      return byTime != 0 ? byTime : Long.compare(sequence, other.sequence);
    }
  }

  void after(long nanos, Runnable action) {
    timers.add(new Timer(System.nanoTime() + nanos, sequence++, action));
  }

  /** Passes the due actions to {@code runner}. */
  void run(Consumer<Runnable> runner) {
    long now = System.nanoTime();
    for (Timer next = timers.peek();
        next != null && next.atNanos() - now <= 0;
        next = timers.peek()) {
      timers.poll();
      runner.accept(next.action());
    }
  }

  /** Returns the nanoseconds until the next action is due. */
  long waitNanos() {
    Timer next = timers.peek();
    return next == null ? OwnerThread.UNTIL_TOLD : Math.max(0, next.atNanos() - System.nanoTime());
  }
}
