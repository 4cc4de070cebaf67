package io.espalier.testkit.api;

import io.espalier.core.api.EventFeed;
import io.espalier.core.event.Event;
import io.espalier.core.event.EventReader;
import io.espalier.core.json.Json;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;

/** A bounded event feed that tests write to. */
public final class FakeEventFeed implements EventFeed {
  private final int capacity;
  private final Deque<Event> held = new ArrayDeque<>();
  private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
  private final List<Event> stored = new ArrayList<>();
  private boolean storesAll;
  private long newest;

  /**
   * @param capacity maximum number of events in memory
   */
  public FakeEventFeed(int capacity) {
    this.capacity = capacity;
  }

  /** Makes events that were dropped from memory readable by {@link #past} from now on. */
  public synchronized FakeEventFeed storingAll() {
    storesAll = true;
    return this;
  }

  @Override
  public synchronized CompletionStage<List<Event>> past(long sequence, int limit) {
    if (!storesAll) {
      return CompletableFuture.completedFuture(after(sequence, limit));
    }
    return CompletableFuture.supplyAsync(() -> kept(sequence, limit));
  }

  @Override
  public <T> CompletionStage<T> ask(Function<EventReader, T> question) {
    return CompletableFuture.supplyAsync(() -> question.apply(this::kept));
  }

  private synchronized List<Event> kept(long sequence, int limit) {
    return storesAll
        ? stored.stream().filter(event -> event.sequence() > sequence).limit(limit).toList()
        : after(sequence, limit);
  }

  /** Appends an event and notifies the subscribers. */
  public Event add(long timeMillis, String kind, Json.Obj data) {
    Event event;
    synchronized (this) {
      event = new Event(++newest, timeMillis, kind, data);
      held.addLast(event);
      if (storesAll) {
        stored.add(event);
      }
      if (held.size() > capacity) {
        held.removeFirst();
      }
    }
    listeners.forEach(Runnable::run);
    return event;
  }

  /** Returns the number of subscribers. */
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
    // Wrapped, so that the same callback can be subscribed twice.
    Runnable listener = () -> onNews.run();
    listeners.add(listener);
    return () -> listeners.remove(listener);
  }
}
