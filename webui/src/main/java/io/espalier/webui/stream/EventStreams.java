package io.espalier.webui.stream;

import io.espalier.core.api.EventFeed;
import io.espalier.core.api.SchedulerApi;
import io.espalier.core.event.Event;
import io.espalier.core.event.EventFilter;
import io.espalier.core.event.EventSearch;
import io.espalier.core.json.Json;
import io.espalier.webui.v1.ApiException;
import io.espalier.webui.v1.ApiRequest;
import io.espalier.webui.v1.EventResources;
import io.espalier.webui.v1.json.ApiJson;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.ext.web.RoutingContext;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Sends the event feed: a slow client reads later from the feed's own bounded buffer. A client that
 * falls out of the buffer with a full queue, or stops reading, is disconnected. It may reconnect
 * with {@code Last-Event-ID} and gets the stored events since then; if they are no longer stored,
 * it is first notified of the gap. One with a filter also gets the ids of events that do not fit,
 * from time to time.
 */
public final class EventStreams extends SseStreams {
  private static final int BATCH = 64;

  /** The number of events that a client with a filter reads from the store at a time. */
  private static final int STORED_BATCH = 1_000;

  private static final List<String> PARAMETERS =
      List.of("after", "job", "set", "node", "kind", "since_ms");

  private final SchedulerApi api;
  private final EventFeed feed;

  public EventStreams(SchedulerApi api, int maxClients, Duration heartbeat, MeterRegistry metrics) {
    super(
        maxClients,
        heartbeat,
        "too many event streams at a time",
        metrics,
        "espalier.http.streams",
        "event stream clients",
        "event stream clients, disconnected because they were too slow");
    this.api = api;
    this.feed = api.events();
  }

  @Override
  Client client(RoutingContext ctx) {
    Map<String, List<String>> parameters = new HashMap<>();
    for (String name : ctx.queryParams().names()) {
      // A stream has no pages; clients that ask for either give the size of one anyway.
      if (!PARAMETERS.contains(name) && !name.equals("limit")) {
        throw ApiException.badRequest(
            "unknown parameter \"" + name + "\"; there are " + String.join(", ", PARAMETERS));
      }
      parameters.put(name, ctx.queryParams().getAll(name));
    }
    ApiRequest request = new ApiRequest(Map.of(), parameters, Json.Obj.EMPTY);
    return new Stream(ctx, start(ctx), EventResources.filter(request, api));
  }

  /** Returns the sequence after which the client wants events; -1: it does not say. */
  private static long start(RoutingContext ctx) {
    String given = ctx.request().getHeader("Last-Event-ID");
    String name = "Last-Event-ID";
    // A browser that reconnects repeats its original URL, so the header takes precedence.
    if (given == null || given.isEmpty()) {
      given = ctx.queryParams().get("after");
      name = "after";
    }
    if (given == null || given.isEmpty()) {
      return -1;
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
    private final EventFilter filter;

    /** All events up to this one were read. */
    private long sequence;

    /** The last id that the client was sent. */
    private long sent;

    private boolean reading;
    private boolean hasBegun;
    private EventFeed.@Nullable Subscription subscription;

    /**
     * @param from the sequence after which it wants events; -1: those since the time of its filter,
     *     or from now on
     */
    Stream(RoutingContext ctx, long from, EventFilter filter) {
      super(ctx);
      this.filter = filter;
      this.sequence = from;
      this.sent = from;
    }

    @Override
    void begin() {
      if (sequence < 0 && filter.sinceMillis() > 0) {
        reading = true;
        long newest = feed.newest();
        feed.ask(events -> new EventSearch(events, filter).before(filter.sinceMillis(), newest))
            .whenComplete((found, failure) -> loop.runOnContext(v -> beginAfter(found)));
      } else {
        beginAfter(sequence < 0 ? feed.newest() : sequence);
      }
    }

    private void beginAfter(@Nullable Long from) {
      if (isClosed()) {
        return;
      }
      if (from == null) {
        // The client reconnects by itself.
        drop();
        return;
      }
      reading = false;
      sequence = from;
      tellIfForeign();
      sent = Math.min(sent, sequence);
      subscription = feed.subscribe(this::wake);
      wake();
    }

    /** Tells the client how far it is, so that it does not resume at its last event. */
    @Override
    String alive() {
      if (sequence <= sent || reading) {
        return super.alive();
      }
      sent = sequence;
      return "id: " + sequence + "\n\n";
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
      feed.past(sequence, filter.isNarrow() ? STORED_BATCH : BATCH)
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
        sequence = event.sequence();
        if (filter.fits(event)) {
          text.append(event(sequence, ApiJson.event(event)));
          sent = sequence;
        }
      }
      if (text.length() > 0) {
        response.write(text.toString());
      }
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
