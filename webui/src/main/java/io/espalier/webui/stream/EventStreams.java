package io.espalier.webui.stream;

import io.espalier.core.api.EventFeed;
import io.espalier.core.event.Event;
import io.espalier.core.json.Json;
import io.espalier.webui.v1.ApiException;
import io.espalier.webui.v1.ApiJson;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.ext.web.RoutingContext;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Sends the event feed: a slow client reads later from the feed's own bounded buffer. A client that
 * falls out of the buffer with a full queue, or stops reading, is disconnected. It may reconnect
 * with {@code Last-Event-ID} and gets the stored events since then; if they are no longer stored,
 * it is first notified of the gap.
 */
public final class EventStreams extends SseStreams {
  private static final int BATCH = 64;

  private final EventFeed feed;

  public EventStreams(EventFeed feed, int maxClients, Duration heartbeat, MeterRegistry metrics) {
    super(
        maxClients,
        heartbeat,
        "too many event streams at a time",
        metrics,
        "espalier.http.streams",
        "event stream clients",
        "event stream clients, disconnected because they were too slow");
    this.feed = feed;
  }

  @Override
  Client client(RoutingContext ctx) {
    return new Stream(ctx, start(ctx));
  }

  /** Returns the sequence after which the client wants events; by default the current one. */
  private long start(RoutingContext ctx) {
    String given = ctx.request().getHeader("Last-Event-ID");
    String name = "Last-Event-ID";
    for (String parameter : ctx.queryParams().names()) {
      if (!parameter.equals("after") && !parameter.equals("limit")) {
        throw ApiException.badRequest("unknown parameter \"" + parameter + "\"; there is after");
      }
    }
    // A browser that reconnects repeats its original URL, so the header takes precedence.
    if (given == null || given.isEmpty()) {
      given = ctx.queryParams().get("after");
      name = "after";
    }
    if (given == null || given.isEmpty()) {
      return feed.newest();
    }
    try {
      long from = Long.parseLong(given);
      if (from >= 0) {
        return from;
      }
    } catch (NumberFormatException e) {
      // Reported below.
    }
    throw ApiException.badRequest(name + " must be the number of an event, not \"" + given + "\"");
  }

  /** One client; everything runs on its event loop, except notifications. */
  private final class Stream extends Client {
    private final AtomicBoolean scheduled = new AtomicBoolean();
    private long sequence;
    private boolean reading;
    private boolean hasBegun;
    private EventFeed.@Nullable Subscription subscription;

    Stream(RoutingContext ctx, long from) {
      super(ctx);
      this.sequence = from;
    }

    @Override
    void begin() {
      tellIfForeign();
      subscription = feed.subscribe(this::wake);
      wake();
    }

    @Override
    void gone() {
      if (subscription != null) {
        subscription.close();
      }
    }

    /** May be called by any thread. */
    private void wake() {
      if (scheduled.compareAndSet(false, true)) {
        loop.runOnContext(v -> pump());
      }
    }

    private void pump() {
      scheduled.set(false);
      if (isClosed() || reading) {
        return;
      }
      boolean full = response.writeQueueFull();
      List<Event> events = feed.after(sequence, full ? 1 : BATCH);
      if (events.isEmpty()) {
        hasBegun = true;
        return;
      }
      boolean fellBehind = events.get(0).sequence() > sequence + 1;
      if (full && fellBehind) {
        // The client reads too slowly; it may reconnect and read from the store.
        drop();
      } else if (full) {
        response.drainHandler(v -> wake());
      } else if (fellBehind) {
        readPast();
      } else {
        write(events);
      }
    }

    /** Reads from the store, because the feed's buffer no longer has the client's next events. */
    private void readPast() {
      reading = true;
      feed.past(sequence, BATCH)
          .whenComplete(
              (older, failure) ->
                  loop.runOnContext(
                      v -> {
                        reading = false;
                        if (!isClosed()) {
                          past(older, failure);
                        }
                      }));
    }

    private void past(@Nullable List<Event> older, @Nullable Throwable failure) {
      if (failure != null || older == null || older.isEmpty()) {
        // The client reconnects by itself.
        drop();
        return;
      }
      long first = older.get(0).sequence();
      if (first > sequence + 1) {
        if (hasBegun) {
          drop();
          return;
        }
        tellOfGap(first);
        sequence = first - 1;
      }
      write(older);
    }

    private void write(List<Event> events) {
      hasBegun = true;
      StringBuilder text = new StringBuilder();
      for (Event event : events) {
        text.append(event(event.sequence(), ApiJson.event(event)));
        sequence = event.sequence();
      }
      response.write(text.toString());
      // One batch per turn, so that other clients of this loop get theirs.
      wake();
    }

    /**
     * Handles a sequence from the future, which belongs to another life of the scheduler: sends
     * everything.
     */
    private void tellIfForeign() {
      if (sequence > feed.newest()) {
        tellOfGap(feed.oldest());
        List<Event> first = feed.after(0, 1);
        sequence = first.isEmpty() ? feed.newest() : first.get(0).sequence() - 1;
      }
    }

    private void tellOfGap(long oldest) {
      Json.Obj gap = Json.object().put("after", sequence).put("oldest", oldest).build();
      response.write(event("gap", gap));
    }
  }
}
