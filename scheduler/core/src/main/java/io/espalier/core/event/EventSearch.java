package io.espalier.core.event;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Finds events in the whole log, which has no index: one search reads a limited number of events
 * and says how far it came. Sequences grow by one, so that it may skip to any of them; times grow
 * with them.
 */
public final class EventSearch {
  /** The maximum number of events that one search reads. */
  static final int MOST_READ = 200_000;

  private static final int CHUNK = 1_000;

  private final EventReader events;
  private final EventFilter filter;

  public EventSearch(EventReader events, EventFilter filter) {
    this.events = events;
    this.filter = filter;
  }

  /**
   * What a search has found.
   *
   * @param events in order
   * @param from all events after this sequence ...
   * @param to ... up to this one were looked at
   */
  public record Found(List<Event> events, long from, long to) {
    public Found {
      events = List.copyOf(events);
    }
  }

  /** Finds the first {@code limit} events after a sequence. */
  public Found after(long sequence, int limit) {
    List<Event> found = new ArrayList<>();
    long at = sequence;
    for (int read = 0; read < MOST_READ; ) {
      List<Event> chunk = events.after(at, CHUNK);
      for (Event event : chunk) {
        at = event.sequence();
        if (filter.fits(event)) {
          found.add(event);
          if (found.size() == limit) {
            return new Found(found, sequence, at);
          }
        }
      }
      if (chunk.isEmpty()) {
        break;
      }
      read += chunk.size();
    }
    return new Found(found, sequence, at);
  }

  /** Finds the last {@code limit} events up to a sequence. */
  public Found upTo(long sequence, int limit) {
    Deque<Event> found = new ArrayDeque<>();
    long first = oldest();
    long from = sequence;
    for (int read = 0; read < MOST_READ && from >= first; read += CHUNK) {
      long to = from;
      from = Math.max(first - 1, to - CHUNK);
      List<Event> chunk = events.after(from, (int) (to - from));
      for (int i = chunk.size() - 1; i >= 0; i--) {
        Event event = chunk.get(i);
        if (event.sequence() <= to && filter.fits(event)) {
          found.addFirst(event);
          if (found.size() == limit) {
            return new Found(List.copyOf(found), event.sequence() - 1, sequence);
          }
        }
      }
    }
    return new Found(List.copyOf(found), from, sequence);
  }

  /**
   * Returns the sequence after which the events since a time come.
   *
   * @param newest the newest sequence
   */
  public long before(long millis, long newest) {
    long low = oldest() - 1;
    long high = newest;
    while (low < high) {
      long middle = low + (high - low) / 2;
      List<Event> next = events.after(middle, 1);
      if (next.isEmpty() || next.get(0).timeMillis() >= millis) {
        high = middle;
      } else {
        low = next.get(0).sequence();
      }
    }
    return low;
  }

  /** Returns the oldest sequence that is kept; 1 when there are no events. */
  public long oldest() {
    List<Event> first = events.after(0, 1);
    return first.isEmpty() ? 1 : first.get(0).sequence();
  }
}
