package io.espalier.core.api;

import io.espalier.core.event.Event;
import io.espalier.core.event.EventReader;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/** The most recent events in a bounded buffer. Thread-safe. */
public interface EventFeed {
  /** The sequence of the newest event, 0 before the first. */
  long newest();

  /** The sequence of the oldest event in the buffer. */
  long oldest();

  /** Up to {@code limit} events after {@code sequence}, in order; never blocks. */
  List<Event> after(long sequence, int limit);

  /**
   * Like {@link #after}, but also returns events that are only stored and no longer in the buffer.
   *
   * @return a stage that completes on any thread; with an exception when the store cannot be read
   */
  default CompletionStage<List<Event>> past(long sequence, int limit) {
    return CompletableFuture.completedFuture(after(sequence, limit));
  }

  /**
   * Answers a question about all events that are kept, stored ones included.
   *
   * @param question runs on any thread, which may wait for the store
   * @return a stage that completes on any thread; with a {@link RefusedException} when the store
   *     cannot be read
   */
  default <T> CompletionStage<T> ask(Function<EventReader, T> question) {
    return CompletableFuture.completedFuture(question.apply(this::after));
  }

  /**
   * Calls {@code onNews}, on any thread, whenever there are newer events; it must only note the
   * fact and return. Several events may cause a single call.
   *
   * @return subscription that ends when closed
   */
  Subscription subscribe(Runnable onNews);

  /** An active subscription. */
  interface Subscription extends AutoCloseable {
    @Override
    void close();
  }
}
