package io.espalier.server.events;

import io.espalier.core.api.EventFeed;
import io.espalier.core.event.Event;
import io.espalier.core.json.Json;
import io.espalier.core.status.StatusStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The newest events in a ring. Two ways to feed it, of which one feed uses one:
 *
 * <ul>
 *   <li>{@link #publish(long, String, Json.Obj)} gives each event its sequence as it becomes
 *       visible. Start such a feed with {@link #ofEpoch}, so that sequences still grow over a
 *       restart although nothing is stored.
 *   <li>{@link #stamp} gives the sequence when it happens, {@link #publish(List)} makes it visible
 *       after the batch that holds it has been committed. No reader then sees an event that a crash
 *       can undo; start it with {@link #continuing} and {@code Last-Event-ID} spans restarts.
 * </ul>
 *
 * <p>Thread-safe. Readers and publishers share a lock that is held for copying only.
 */
public final class RecentEvents implements EventFeed {
  private static final Logger LOG = LoggerFactory.getLogger(RecentEvents.class);

  private final Event[] ring;
  private final AtomicLong stamped;
  private final List<Subscriber> subscribers = new CopyOnWriteArrayList<>();

  private final Object lock = new Object();
  private int first;
  private int size;
  private long newest;

  /**
   * @param capacity how many events are held
   * @param newest the sequence before the first one; 0 for a feed that has no past
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
   * A feed that goes on where the store's event log ends, so that {@code Last-Event-ID} is
   * meaningful over a restart.
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
   * A feed whose sequences are above all of earlier epochs, if none had 2^32 events; below 2^53, so
   * that browsers keep them exact.
   */
  public static RecentEvents ofEpoch(int capacity, long epoch) {
    return new RecentEvents(capacity, Math.min(epoch, (1L << 20) - 1) << 32);
  }

  /** Gives an event the next sequence and makes it visible. */
  public Event publish(long timeMillis, String kind, Json.Obj data) {
    Event event;
    synchronized (lock) {
      event = stamp(timeMillis, kind, data);
      put(event);
    }
    tellSubscribers();
    return event;
  }

  /** A new event with the next sequence, not seen by readers yet. */
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

  /** One above {@link #newest} when nothing is held. */
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

  /** Compared by identity: two subscriptions of one Runnable end one at a time. */
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
