package io.espalier.testkit.api;

import io.espalier.core.api.EventFeed;
import io.espalier.core.event.Event;
import io.espalier.core.json.Json;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A bounded feed that tests write to. */
public final class FakeEventFeed implements EventFeed {
  private final int capacity;
  private final Deque<Event> held = new ArrayDeque<>();
  private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
  private long newest;

  /**
   * @param capacity events held
   */
  public FakeEventFeed(int capacity) {
    this.capacity = capacity;
  }

  /** Appends an event and tells the subscribers. */
  public Event add(long timeMillis, String kind, Json.Obj data) {
    Event event;
    synchronized (this) {
      event = new Event(++newest, timeMillis, kind, data);
      held.addLast(event);
      if (held.size() > capacity) {
        held.removeFirst();
      }
    }
    listeners.forEach(Runnable::run);
    return event;
  }

  /** How many are subscribed. */
  public int subscribers() {
    return listeners.size();
  }

  @Override
  public synchronized long newest() {
    return newest;
  }

  @Override
  public synchronized long oldest() {
    return held.isEmpty() ? newest : held.getFirst().sequence();
  }

  @Override
  public synchronized List<Event> after(long sequence, int limit) {
    List<Event> found = new ArrayList<>();
    for (Event event : held) {
      if (event.sequence() > sequence && found.size() < limit) {
        found.add(event);
      }
    }
    return found;
  }

  @Override
  public Subscription subscribe(Runnable onNews) {
    // A wrapper of its own, so that the same callback can be subscribed twice.
    Runnable listener = () -> onNews.run();
    listeners.add(listener);
    return () -> listeners.remove(listener);
  }
}
