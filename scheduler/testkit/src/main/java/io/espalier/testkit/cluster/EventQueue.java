package io.espalier.testkit.cluster;

import java.util.PriorityQueue;

/**
 * A queue of future events in true time; events at the same instant run in the order of scheduling.
 */
final class EventQueue {
  private final PriorityQueue<Planned> planned = new PriorityQueue<>();
  private long now;
  private long orders;

  private record Planned(long at, long order, Runnable what) implements Comparable<Planned> {
    @Override
    public int compareTo(Planned other) {
      return at == other.at ? Long.compare(order, other.order) : Long.compare(at, other.at);
    }
  }

  long now() {
    return now;
  }

  void at(long time, Runnable what) {
    planned.add(new Planned(Math.max(now, time), ++orders, what));
  }

  void after(long delay, Runnable what) {
    at(now + delay, what);
  }

  /** Runs the next event if it is due by then; returns whether it did. */
  boolean step(long until) {
    Planned next = planned.peek();
    if (next == null || next.at() > until) {
      now = until;
      return false;
    }
    planned.remove();
    now = next.at();
    next.what().run();
    return true;
  }
}
