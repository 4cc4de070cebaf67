package io.espalier.testkit.cluster;

import java.util.PriorityQueue;

/**
 * A queue of future events in true time; events at the same instant run in the order of scheduling.
 */
public final class EventQueue {
  private final PriorityQueue<Planned> planned = new PriorityQueue<>();
  private long now;
  private long orders;

  private record Planned(long at, long order, Runnable what) implements Comparable<Planned> {
    @Override
    public int compareTo(Planned other) {
      return at == other.at ? Long.compare(order, other.order) : Long.compare(at, other.at);
    }
  }

  public long now() {
    return now;
  }

  public void at(long time, Runnable what) {
    planned.add(new Planned(Math.max(now, time), ++orders, what));
  }

  public void after(long delay, Runnable what) {
    at(now + delay, what);
  }

  public boolean isEmpty() {
    return planned.isEmpty();
  }

  /** Returns when the next event is due; {@link Long#MAX_VALUE}: there is none. */
  public long nextTime() {
    Planned next = planned.peek();
    return next == null ? Long.MAX_VALUE : next.at();
  }

  /** Runs the next event if it is due by then; returns whether it did. */
  public boolean step(long until) {
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
