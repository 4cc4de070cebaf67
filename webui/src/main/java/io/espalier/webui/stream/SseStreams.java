package io.espalier.webui.stream;

import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.webui.http.AddressCounts;
import io.espalier.webui.http.AsyncResponder;
import io.espalier.webui.http.AuthHandler;
import io.espalier.webui.http.HttpMetrics;
import io.espalier.webui.http.HttpReply;
import io.espalier.webui.v1.ApiException;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Context;
import io.vertx.core.Handler;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.RoutingContext;
import java.time.Duration;
import java.util.Locale;

/**
 * Serves server-sent events to a limited number of clients, in all and per address: keeps their
 * connections alive, and disconnects a client that has stopped reading. It buffers nothing beyond
 * the socket's write queue.
 */
abstract class SseStreams implements Handler<RoutingContext> {
  private static final String EVENT_STREAM = "text/event-stream";
  private static final String PAGE = "application/json";
  private static final int WRITE_QUEUE_BYTES = 256 * 1024;

  /** The number of ticks with a full write queue after which a client counts as gone. */
  private static final int STUCK_TICKS = 3;

  private final int maxClients;
  private final Duration heartbeat;
  private final String tooMany;
  private final AddressCounts clients = new AddressCounts();
  private final Counter dropped;

  /**
   * @param tooMany what a client is told that is one too many
   * @param meter name of the metric that counts the clients; {@code METER.dropped} counts those
   *     that were disconnected
   * @param about description of the first metric
   * @param aboutDropped description of the second one
   */
  SseStreams(
      int maxClients,
      Duration heartbeat,
      String tooMany,
      MeterRegistry metrics,
      String meter,
      String about,
      String aboutDropped) {
    this.maxClients = maxClients;
    this.heartbeat = heartbeat;
    this.tooMany = tooMany;
    this.dropped = Counter.builder(meter + ".dropped").description(aboutDropped).register(metrics);
    Gauge.builder(meter, clients, AddressCounts::all).description(about).register(metrics);
  }

  /**
   * Creates a client, which sends nothing before it is opened.
   *
   * @throws ApiException when it wants what there is not
   */
  abstract Client client(RoutingContext ctx);

  @Override
  public final void handle(RoutingContext ctx) {
    if (!wantsStream(ctx.request())) {
      // Clients that do not name a type get a page, because it ends.
      ctx.next();
      return;
    }
    Client client;
    try {
      client = client(ctx);
    } catch (ApiException e) {
      AsyncResponder.send(ctx, HttpReply.problem(e));
      return;
    }
    clients.enter(client.address);
    // One address gets half of them, so that it cannot keep all others out.
    boolean isGreedy = clients.of(client.address) > (maxClients + 1) / 2;
    if (isGreedy || clients.all() > maxClients) {
      clients.leave(client.address);
      AsyncResponder.refuseStream(ctx, isGreedy ? tooMany + " from this address" : tooMany);
      return;
    }
    HttpMetrics.untimed(ctx);
    client.open();
  }

  /** Whether it asks for a stream, or resumes one without saying that it wants a page. */
  private static boolean wantsStream(HttpServerRequest request) {
    String accept = request.getHeader("Accept");
    String types = accept == null ? "" : accept.toLowerCase(Locale.ROOT);
    String last = request.getHeader("Last-Event-ID");
    boolean resumes = last != null && !last.isEmpty();
    return types.contains(EVENT_STREAM) || (resumes && !types.contains(PAGE));
  }

  /** One client; everything runs on its event loop. */
  abstract class Client {
    final RoutingContext ctx;
    final HttpServerResponse response;
    final Context loop;
    private final String address;
    private long timer;
    private int fullTicks;
    private boolean closed;

    Client(RoutingContext ctx) {
      this.ctx = ctx;
      this.response = ctx.response();
      this.address = AuthHandler.address(ctx);
      this.loop = ctx.vertx().getOrCreateContext();
    }

    /** Begins to send events. */
    abstract void begin();

    /** The client is gone. */
    void gone() {}

    /** Returns what keeps the connection alive while nothing is sent: no event. */
    String alive() {
      return ": alive\n\n";
    }

    final boolean isClosed() {
      return closed;
    }

    private void open() {
      ctx.addEndHandler(end -> close());
      response.exceptionHandler(e -> close());
      response
          .setChunked(true)
          .setWriteQueueMaxSize(WRITE_QUEUE_BYTES)
          .putHeader("Content-Type", EVENT_STREAM + "; charset=utf-8")
          .putHeader("Vary", "Accept")
          .putHeader("X-Accel-Buffering", "no")
          .write("retry: 2000\n\n");
      timer = ctx.vertx().setPeriodic(heartbeat.toMillis(), t -> tick());
      begin();
    }

    private void tick() {
      if (!response.writeQueueFull()) {
        fullTicks = 0;
        response.write(alive());
      } else if (++fullTicks >= STUCK_TICKS) {
        drop();
      }
    }

    /** Returns the text of an event without a name, by whose id the client may continue. */
    static String event(long id, Json data) {
      return "id: " + id + "\ndata: " + JsonWriter.compact(data) + "\n\n";
    }

    /** Returns the text of an event with a name. */
    static String event(String name, Json data) {
      return "event: " + name + "\ndata: " + JsonWriter.compact(data) + "\n\n";
    }

    /** Disconnects a client that reads too slowly. */
    final void drop() {
      dropped.increment();
      close();
      ctx.request().connection().close();
    }

    final void close() {
      if (!closed) {
        closed = true;
        clients.leave(address);
        ctx.vertx().cancelTimer(timer);
        gone();
      }
    }
  }
}
