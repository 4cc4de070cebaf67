package io.espalier.server.app.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.api.EventFeed.Subscription;
import io.espalier.core.event.Event;
import io.espalier.core.json.Json;
import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.StatusStore.TakeOver;
import io.espalier.core.status.store.StoreTransaction;
import io.espalier.server.store.MemoryStatusStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class RecentEventsTest {
  @Test
  void an_empty_feed_has_nothing() {
    RecentEvents feed = new RecentEvents(3, 0);
    assertThat(feed.newest()).isZero();
    assertThat(feed.oldest()).isEqualTo(1);
    assertThat(feed.after(0, 10)).isEmpty();
  }

  @Test
  void events_are_numbered_from_one_and_read_from_any_point() {
    RecentEvents feed = filled(3, 3);
    assertThat(sequences(feed.after(0, 10))).containsExactly(1L, 2L, 3L);
    assertThat(sequences(feed.after(1, 1))).containsExactly(2L);
    assertThat(feed.after(3, 10)).isEmpty();
    assertThat(feed.after(99, 10)).isEmpty();
    assertThat(feed.after(0, 0)).isEmpty();
    assertThat(sequences(feed.after(-5, 10))).containsExactly(1L, 2L, 3L);
  }

  @Test
  void the_oldest_make_room() {
    RecentEvents feed = filled(3, 10);
    assertThat(feed.oldest()).isEqualTo(8);
    assertThat(feed.newest()).isEqualTo(10);
    assertThat(sequences(feed.after(0, 10))).containsExactly(8L, 9L, 10L);
    assertThat(sequences(feed.after(8, 10))).containsExactly(9L, 10L);
  }

  @Test
  void what_made_room_is_read_from_the_store() {
    MemoryStatusStore store = new MemoryStatusStore();
    RecentEvents feed = filled(3, 10);
    assertThat(sequences(feed.past(2, 2).toCompletableFuture().join())).containsExactly(8L, 9L);
    StoreTransaction.Builder batch = StoreTransaction.builder();
    for (int i = 1; i <= 10; i++) {
      batch.append(new Event(i, i, "e", Json.Obj.EMPTY));
    }
    store.commit(store.openEpoch(TakeOver.PLAIN).epoch(), batch.build());
    feed.readOlderFrom(store, Runnable::run);
    assertThat(sequences(feed.past(2, 2).toCompletableFuture().join())).containsExactly(3L, 4L);
    assertThat(sequences(feed.past(7, 2).toCompletableFuture().join())).containsExactly(8L, 9L);
    assertThat(feed.past(10, 2).toCompletableFuture().join()).isEmpty();
    // A question sees both as one log.
    List<Event> all = feed.ask(log -> log.after(2, 100)).toCompletableFuture().join();
    List<Event> later = feed.ask(log -> log.after(8, 100)).toCompletableFuture().join();
    assertThat(sequences(all)).startsWith(3L, 4L);
    assertThat(sequences(later)).startsWith(9L);
  }

  @Test
  void stamped_events_are_seen_once_they_are_published_and_in_order_only() {
    RecentEvents feed = new RecentEvents(10, 0);
    Event first = feed.stamp(1, "a", Json.Obj.EMPTY);
    Event lost = feed.stamp(2, "b", Json.Obj.EMPTY);
    Event third = feed.stamp(3, "c", Json.Obj.EMPTY);
    assertThat(feed.newest()).isZero();
    feed.publish(List.of(first, third));
    assertThat(feed.after(0, 10)).containsExactly(first, third);
    assertThat(feed.after(2, 10)).containsExactly(third);
    assertThatThrownBy(() -> feed.publish(List.of(lost)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("event 2 comes after event 3");
    assertThat(feed.after(0, 10)).containsExactly(first, third);
  }

  @Test
  void a_feed_goes_on_where_the_store_s_log_ends() {
    StatusStore store = new MemoryStatusStore();
    long epoch = store.openEpoch(TakeOver.PLAIN).epoch();
    RecentEvents before = RecentEvents.continuing(store, 5);
    for (int i = 0; i < 8; i++) {
      Event event = before.stamp(i, "e", Json.Obj.EMPTY);
      store.commit(epoch, StoreTransaction.builder().append(event).build());
      before.publish(List.of(event));
    }
    before.stamp(9, "never committed", Json.Obj.EMPTY);

    RecentEvents after = RecentEvents.continuing(store, 5);
    assertThat(after.after(0, 100)).isEqualTo(before.after(0, 100)).hasSize(5);
    assertThat(after.publish(10, "next", Json.Obj.EMPTY).sequence()).isEqualTo(9);
  }

  @Test
  void subscribers_are_told_until_they_leave() {
    RecentEvents feed = new RecentEvents(10, 0);
    AtomicInteger told = new AtomicInteger();
    Runnable count = told::incrementAndGet;
    Subscription one = feed.subscribe(count);
    Subscription same = feed.subscribe(count);
    feed.publish(0, "e", Json.Obj.EMPTY);
    assertThat(told).hasValue(2);
    one.close();
    one.close();
    feed.publish(0, "e", Json.Obj.EMPTY);
    assertThat(told).hasValue(3);
    same.close();
    feed.publish(0, "e", Json.Obj.EMPTY);
    feed.publish(List.of());
    assertThat(told).hasValue(3);
  }

  @Test
  void a_failing_subscriber_harms_nobody() {
    RecentEvents feed = new RecentEvents(10, 0);
    AtomicInteger told = new AtomicInteger();
    Runnable failing =
        () -> {
          throw new IllegalStateException("subscriber");
        };
    try (Subscription bad = feed.subscribe(failing);
        Subscription good = feed.subscribe(told::incrementAndGet)) {
      feed.publish(0, "e", Json.Obj.EMPTY);
      assertThat(told).hasValue(1);
      assertThat(bad).isNotSameAs(good);
    }
  }

  @Test
  void many_publishers_and_readers_agree_on_one_order() throws Exception {
    int publishers = 3;
    int each = 5_000;
    RecentEvents feed = new RecentEvents(publishers * each, 0);
    ExecutorService threads = Executors.newFixedThreadPool(publishers + 2);
    try {
      List<Future<List<Event>>> readers = new ArrayList<>();
      for (int r = 0; r < 2; r++) {
        readers.add(threads.submit(() -> follow(feed, publishers * each)));
      }
      for (int p = 0; p < publishers; p++) {
        int mine = p;
        threads.execute(
            () -> {
              for (int i = 0; i < each; i++) {
                feed.publish(i, "p" + mine, Json.Obj.EMPTY);
              }
            });
      }
      List<Event> first = readers.get(0).get(60, TimeUnit.SECONDS);
      assertThat(sequences(first)).isSorted().doesNotHaveDuplicates().hasSize(publishers * each);
      assertThat(readers.get(1).get(60, TimeUnit.SECONDS)).isEqualTo(first);
      for (int p = 0; p < publishers; p++) {
        String kind = "p" + p;
        assertThat(
                first.stream().filter(e -> e.kind().equals(kind)).map(Event::timeMillis).toList())
            .isSorted()
            .hasSize(each);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  /** Reads as a monitor does: waits for news, then takes all there is. */
  private static List<Event> follow(RecentEvents feed, int total) throws InterruptedException {
    Semaphore news = new Semaphore(1);
    List<Event> seen = new ArrayList<>();
    try (Subscription subscription = feed.subscribe(news::release)) {
      long last = 0;
      while (seen.size() < total) {
        news.acquire();
        news.drainPermits();
        List<Event> more = feed.after(last, 100);
        while (!more.isEmpty()) {
          seen.addAll(more);
          last = more.get(more.size() - 1).sequence();
          more = feed.after(last, 100);
        }
      }
      assertThat(subscription).isNotNull();
    }
    return seen;
  }

  private static RecentEvents filled(int capacity, int count) {
    RecentEvents feed = new RecentEvents(capacity, 0);
    for (int i = 0; i < count; i++) {
      feed.publish(i, "e", Json.Obj.EMPTY);
    }
    return feed;
  }

  private static List<Long> sequences(List<Event> events) {
    return events.stream().map(Event::sequence).toList();
  }
}
