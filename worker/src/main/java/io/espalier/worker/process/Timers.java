package io.espalier.worker.process;

import java.util.PriorityQueue;
import java.util.function.Consumer;

/** What is to be done later; belongs to one thread. */
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

  /** Gives what is due to {@code runner}. */
  void run(Consumer<Runnable> runner) {
    long now = System.nanoTime();
    for (Timer next = timers.peek();
        next != null && next.atNanos() - now <= 0;
        next = timers.peek()) {
      timers.poll();
      runner.accept(next.action());
    }
  }

  /** Nanoseconds until something is due; -1: nothing is. */
  long waitNanos() {
    Timer next = timers.peek();
    return next == null ? -1 : Math.max(0, next.atNanos() - System.nanoTime());
  }
}
