package io.espalier.nodes;

import io.espalier.nodes.cron.CronSchedule;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.OptionalLong;

/**
 * Caches the recent events of a schedule, so that each is computed only once as time advances.
 * Thread-safe.
 */
final class EventWindow {
  private final CronSchedule schedule;
  private final long lifetime;

  /** All events in the lifetime up to {@code until}, in ascending order. */
  private final Deque<Long> events = new ArrayDeque<>();

  private long until = Long.MIN_VALUE;

  /** Thrown when there are more events than nodes are allowed. */
  static final class TooMany extends Exception {
    private static final long serialVersionUID = 1L;
  }

  EventWindow(CronSchedule schedule, long lifetime) {
    this.schedule = schedule;
    this.lifetime = lifetime;
  }

  /**
   * Returns the events e with {@code now - lifetime < e <= now}, in ascending order.
   *
   * @param most maximum number of events; more are refused
   */
  synchronized long[] at(long now, int most) throws TooMany, InterruptedException {
    long first = now - lifetime + 1;
    if (now < until || first > until) {
      events.clear();
      until = first - 1;
    }
    while (!events.isEmpty() && events.getFirst() < first) {
      events.removeFirst();
    }
    while (until < now) {
      OptionalLong next = schedule.next(until + 1);
      if (next.isEmpty() || next.getAsLong() > now) {
        until = now;
      } else {
        until = next.getAsLong();
        events.addLast(until);
        if (events.size() > most) {
          throw new TooMany();
        }
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
      }
    }
    return events.stream().mapToLong(Long::longValue).toArray();
  }

  /** Returns the first event after {@code now}. */
  OptionalLong after(long now) {
    return schedule.next(now + 1);
  }
}
