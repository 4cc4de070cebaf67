package io.espalier.testkit.cluster;

import java.util.PriorityQueue;

/**
 * True time and what is to happen in it; what falls on one instant happens in order of planning.
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

  /** Lets the next thing happen, if there is one until then. */
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
