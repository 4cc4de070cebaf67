package io.espalier.core.api;

import io.espalier.core.event.Event;
import java.util.List;

/** The most recent events, in a bounded buffer. Thread-safe. */
public interface EventFeed {
  /** The sequence of the newest event, 0 before the first. */
  long newest();

  /** The sequence of the oldest event that is still held. */
  long oldest();

  /** Up to {@code limit} events after {@code sequence}, in order; never blocks. */
  List<Event> after(long sequence, int limit);

  /**
   * Calls {@code onNews} whenever there are newer events, on any thread; it must only note the fact
   * and return. Calls may be merged.
   *
   * @return unsubscribes when closed
   */
  Subscription subscribe(Runnable onNews);

  /** A running subscription. */
  interface Subscription extends AutoCloseable {
    @Override
    void close();
  }
}
