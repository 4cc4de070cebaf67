package io.espalier.server.app.loop;

import io.espalier.core.api.EventFeed;
import io.espalier.core.api.RefusedException;
import io.espalier.core.event.Event;
import io.espalier.core.event.EventReader;
import io.espalier.core.json.Json;
import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A ring of the newest events. There are two ways to publish; each feed uses one of them:
 *
 * <ul>
 *   <li>{@link #publish(long, String, Json.Obj)} assigns each event its sequence when it becomes
 *       visible. Begin such a feed above the sequences of earlier ones, so that they grow across a
 *       restart although nothing is stored.
 *   <li>{@link #stamp} assigns the sequence when the event happens, and {@link #publish(List)}
 *       makes it visible after its batch has been committed. Readers then never see an event that a
 *       crash can revert. Create such a feed with {@link #continuing}; {@code Last-Event-ID} then
 *       stays valid across restarts.
 * </ul>
 *
 * <p>Thread-safe. Readers and publishers share a lock that is locked for copying only.
 */
public final class RecentEvents implements EventFeed {
  private static final Logger LOG = LoggerFactory.getLogger(RecentEvents.class);

  private final Event[] ring;
  private final AtomicLong stamped;
  private final List<Subscriber> subscribers = new CopyOnWriteArrayList<>();

  private volatile @Nullable Archive archive;

  private final Object lock = new Object();
  private int first;
  private int size;
  private long newest;

  /** The store of older events, and the executor on which they are read. */
  private record Archive(StatusStore store, Executor blocking) {}

  /**
   * @param capacity maximum number of events in the ring
   * @param newest the sequence before the first one; 0 for a feed without a past
   */
  public RecentEvents(int capacity, long newest) {
    if (capacity < 1 || newest < 0) {
      throw new IllegalArgumentException("capacity " + capacity + ", newest " + newest);
    }
    this.ring = new Event[capacity];
    this.stamped = new AtomicLong(newest);
    this.newest = newest;
  }

  /**
   * Creates a feed that continues at the end of the store's event log, so that {@code
   * Last-Event-ID} stays valid across a restart.
   */
  public static RecentEvents continuing(StatusStore store, int capacity) {
    long newest = store.newestEvent();
    RecentEvents feed = new RecentEvents(capacity, newest);
    for (Event event : store.events(Math.max(0, newest - capacity), capacity)) {
      feed.put(event);
    }
    return feed;
  }

  /**
   * Sets the store from which older events are read.
   *
   * @param blocking runs reads, which may wait for the store
   */
  public void readOlderFrom(StatusStore store, Executor blocking) {
    archive = new Archive(store, blocking);
  }

  @Override
  public CompletionStage<List<Event>> past(long sequence, int limit) {
    Archive older = archive;
    if (older == null || sequence + 1 >= oldest()) {
      return CompletableFuture.completedFuture(after(sequence, limit));
    }
    return CompletableFuture.supplyAsync(
        () -> older.store().events(sequence, limit), older.blocking());
  }

  @Override
  public <T> CompletionStage<T> ask(Function<EventReader, T> question) {
    Archive older = archive;
    if (older == null) {
      return CompletableFuture.completedFuture(question.apply(this::after));
    }
    EventReader all =
        (sequence, limit) ->
            sequence + 1 >= oldest()
                ? after(sequence, limit)
                : older.store().events(sequence, limit);
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return question.apply(all);
          } catch (StoreException e) {
            throw new RefusedException(
                RefusedException.Reason.UNAVAILABLE, String.valueOf(e.getMessage()));
          }
        },
        older.blocking());
  }

  /** Assigns an event the next sequence and makes it visible. */
  public Event publish(long timeMillis, String kind, Json.Obj data) {
    Event event;
    synchronized (lock) {
      event = stamp(timeMillis, kind, data);
      put(event);
    }
    tellSubscribers();
    return event;
  }

  /** Creates an event with the next sequence, which readers do not see yet. */
  public Event stamp(long timeMillis, String kind, Json.Obj data) {
    return new Event(stamped.incrementAndGet(), timeMillis, kind, data);
  }

  /**
   * Makes stamped events visible.
   *
   * @param events in order, each newer than all that were published before
   */
  public void publish(List<Event> events) {
    if (events.isEmpty()) {
      return;
    }
    synchronized (lock) {
      long last = newest;
      for (Event event : events) {
        if (event.sequence() <= last) {
          throw new IllegalArgumentException(
              "event " + event.sequence() + " comes after event " + last);
        }
        last = event.sequence();
      }
      events.forEach(this::put);
    }
    tellSubscribers();
  }

  private void tellSubscribers() {
    for (Subscriber subscriber : subscribers) {
      try {
        subscriber.onNews.run();
      } catch (RuntimeException e) {
        LOG.warn("a subscriber of the event feed failed", e);
      }
    }
  }

  private void put(Event event) {
    if (size == ring.length) {
      ring[first] = event;
      first = (first + 1) % ring.length;
    } else {
      ring[(first + size) % ring.length] = event;
      size++;
    }
    newest = event.sequence();
  }

  private Event at(int index) {
    return ring[(first + index) % ring.length];
  }

  @Override
  public long newest() {
    synchronized (lock) {
      return newest;
    }
  }

  /**
   * Returns the oldest sequence in the ring, or {@link #newest} plus one when the ring is empty.
   */
  @Override
  public long oldest() {
    synchronized (lock) {
      return size == 0 ? newest + 1 : at(0).sequence();
    }
  }

  @Override
  public List<Event> after(long sequence, int limit) {
    synchronized (lock) {
      int low = 0;
      int high = size;
      while (low < high) {
        int middle = (low + high) >>> 1;
        if (at(middle).sequence() > sequence) {
          high = middle;
        } else {
          low = middle + 1;
        }
      }
      int count = Math.min(Math.max(limit, 0), size - low);
      List<Event> found = new ArrayList<>(count);
      for (int i = 0; i < count; i++) {
        found.add(at(low + i));
      }
      return found;
    }
  }

  @Override
  public Subscription subscribe(Runnable onNews) {
    Subscriber subscriber = new Subscriber(onNews);
    subscribers.add(subscriber);
    return subscriber;
  }

  /** Compared by identity: two subscriptions with the same Runnable end separately. */
  private final class Subscriber implements Subscription {
    private final Runnable onNews;

    private Subscriber(Runnable onNews) {
      this.onNews = onNews;
    }

    @Override
    public void close() {
      subscribers.remove(this);
    }
  }
}
