package io.espalier.webui.stream;

import io.espalier.core.api.EventFeed;
import io.espalier.core.event.Event;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.webui.http.AsyncResponder;
import io.espalier.webui.http.HttpMetrics;
import io.espalier.webui.http.HttpReply;
import io.espalier.webui.v1.ApiException;
import io.espalier.webui.v1.ApiJson;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Context;
import io.vertx.core.Handler;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.RoutingContext;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Sends the event feed as server-sent events. It buffers nothing per client beyond the socket's
 * write queue: a slow client reads later from the feed's own bounded buffer. A client that falls
 * out of the buffer with a full queue, or stops reading, is disconnected. It may reconnect with
 * {@code Last-Event-ID} and gets the stored events since then; if they are no longer stored, it is
 * first notified of the gap.
 */
public final class EventStreams implements Handler<RoutingContext> {
  private static final int BATCH = 64;
  private static final int WRITE_QUEUE_BYTES = 256 * 1024;

  /** The number of ticks with a full write queue after which a client counts as gone. */
  private static final int STUCK_TICKS = 3;

  private final EventFeed feed;
  private final int maxClients;
  private final Duration heartbeat;
  private final AtomicInteger clients = new AtomicInteger();
  private final Counter dropped;

  public EventStreams(EventFeed feed, int maxClients, Duration heartbeat, MeterRegistry metrics) {
    this.feed = feed;
    this.maxClients = maxClients;
    this.heartbeat = heartbeat;
    this.dropped =
        Counter.builder("espalier.http.streams.dropped")
            .description("event stream clients disconnected because they were too slow")
            .register(metrics);
    Gauge.builder("espalier.http.streams", clients, AtomicInteger::get)
        .description("event stream clients")
        .register(metrics);
  }

  @Override
  public void handle(RoutingContext ctx) {
    String accept = ctx.request().getHeader("Accept");
    if (accept == null || !accept.toLowerCase(Locale.ROOT).contains("text/event-stream")) {
      // Clients that do not name a type get a page, because it ends.
      ctx.next();
      return;
    }
    long from;
    try {
      from = start(ctx);
    } catch (ApiException e) {
      AsyncResponder.send(ctx, HttpReply.problem(e));
      return;
    }
    if (clients.incrementAndGet() > maxClients) {
      clients.decrementAndGet();
      AsyncResponder.refuseStream(ctx, "too many event streams at a time");
      return;
    }
    HttpMetrics.untimed(ctx);
    new Stream(ctx, from).open();
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
  private final class Stream {
    private final HttpServerResponse response;
    private final Context loop;
    private final RoutingContext ctx;
    private final AtomicBoolean scheduled = new AtomicBoolean();
    private long sequence;
    private long timer;
    private int fullTicks;
    private boolean closed;
    private boolean reading;
    private boolean hasBegun;
    private EventFeed.@Nullable Subscription subscription;

    Stream(RoutingContext ctx, long from) {
      this.ctx = ctx;
      this.response = ctx.response();
      this.loop = ctx.vertx().getOrCreateContext();
      this.sequence = from;
    }

    void open() {
      ctx.addEndHandler(end -> close());
      response.exceptionHandler(e -> close());
      response
          .setChunked(true)
          .setWriteQueueMaxSize(WRITE_QUEUE_BYTES)
          .putHeader("Content-Type", "text/event-stream; charset=utf-8")
          .putHeader("Vary", "Accept")
          .putHeader("X-Accel-Buffering", "no")
          .write("retry: 2000\n\n");
      tellIfForeign();
      subscription = feed.subscribe(this::wake);
      timer = ctx.vertx().setPeriodic(heartbeat.toMillis(), t -> tick());
      wake();
    }

    /** May be called by any thread. */
    private void wake() {
      if (scheduled.compareAndSet(false, true)) {
        loop.runOnContext(v -> pump());
      }
    }

    private void pump() {
      scheduled.set(false);
      if (closed || reading) {
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
                        if (!closed) {
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
        text.append("id: ").append(event.sequence());
        text.append("\ndata: ").append(JsonWriter.compact(ApiJson.event(event))).append("\n\n");
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
      response.write("event: gap\ndata: " + JsonWriter.compact(gap) + "\n\n");
    }

    private void tick() {
      if (!response.writeQueueFull()) {
        fullTicks = 0;
        response.write(": alive\n\n");
      } else if (++fullTicks >= STUCK_TICKS) {
        drop();
      }
    }

    private void drop() {
      dropped.increment();
      close();
      ctx.request().connection().close();
    }

    private void close() {
      if (!closed) {
        closed = true;
        clients.decrementAndGet();
        ctx.vertx().cancelTimer(timer);
        EventFeed.Subscription open = subscription;
        if (open != null) {
          open.close();
        }
      }
    }
  }
}
