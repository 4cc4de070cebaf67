package io.espalier.webui.stream;

import io.espalier.core.api.Query;
import io.espalier.core.api.SchedulerApi;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogQuery;
import io.espalier.core.status.TaskStatus;
import io.espalier.webui.http.AsyncResponder;
import io.espalier.webui.http.HttpMetrics;
import io.espalier.webui.http.HttpReply;
import io.espalier.webui.v1.ApiException;
import io.espalier.webui.v1.ApiRequest;
import io.espalier.webui.v1.LogResources;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Context;
import io.vertx.core.Handler;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.RoutingContext;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Sends task output as server-sent events, as it is written. It fetches the next page of a client
 * when the socket has accepted the last one, so a slow client only falls behind; one that accepts
 * nothing any more is disconnected. A client may reconnect with {@code Last-Event-ID}, the id of
 * its last line, and misses nothing that is still stored.
 */
public final class LogStreams implements Handler<RoutingContext> {
  private static final String EVENT_STREAM = "text/event-stream";
  private static final int PAGE = 256;
  private static final int WRITE_QUEUE_BYTES = 256 * 1024;

  /** The time between two polls without new lines. */
  private static final long LOOK_MILLIS = 250;

  /** The same when each poll calls every worker. */
  private static final long LOOK_ELSEWHERE_MILLIS = 1_000;

  /** The number of polls without new lines between two checks whether the task has ended. */
  private static final int LOOKS_PER_QUESTION = 4;

  /** The number of ticks with a full write queue after which a client counts as gone. */
  private static final int STUCK_TICKS = 3;

  private final SchedulerApi api;
  private final int maxClients;
  private final Duration heartbeat;
  private final AtomicInteger clients = new AtomicInteger();
  private final Counter dropped;

  /**
   * @param api answers on threads that may do work
   */
  public LogStreams(SchedulerApi api, int maxClients, Duration heartbeat, MeterRegistry metrics) {
    this.api = api;
    this.maxClients = maxClients;
    this.heartbeat = heartbeat;
    this.dropped =
        Counter.builder("espalier.http.log.streams.dropped")
            .description("clients that followed logs, disconnected because they read nothing")
            .register(metrics);
    Gauge.builder("espalier.http.log.streams", clients, AtomicInteger::get)
        .description("clients that follow logs")
        .register(metrics);
  }

  @Override
  public void handle(RoutingContext ctx) {
    String accept = ctx.request().getHeader("Accept");
    if (accept == null || !accept.contains(EVENT_STREAM)) {
      ctx.next();
      return;
    }
    Follow follow;
    try {
      follow = follow(ctx);
    } catch (ApiException e) {
      AsyncResponder.send(ctx, HttpReply.problem(e));
      return;
    }
    if (clients.incrementAndGet() > maxClients) {
      clients.decrementAndGet();
      AsyncResponder.refuseStream(ctx, "too many clients follow logs");
      return;
    }
    HttpMetrics.untimed(ctx);
    new Stream(ctx, follow).open();
  }

  /**
   * @param query begins at its start; -1: after the current lines
   * @param job the job of the task whose end ends the stream; empty: the stream does not end
   */
  private record Follow(LogQuery query, String job, String node) {}

  private static Follow follow(RoutingContext ctx) {
    Map<String, List<String>> parameters = new HashMap<>();
    for (String name : ctx.queryParams().names()) {
      parameters.put(name, ctx.queryParams().getAll(name));
    }
    ApiRequest request = new ApiRequest(Map.of(), parameters, Json.Obj.EMPTY);
    List<String> known =
        List.of("stream", "job", "node", "invocation", "regex", "from", "until_done");
    for (String name : parameters.keySet()) {
      if (!known.contains(name)) {
        throw ApiException.badRequest(
            "unknown parameter \"" + name + "\"; there are " + String.join(", ", known));
      }
    }
    LogQuery query = LogResources.chosen(request).withOrder(true).withLimit(PAGE);
    String from = first(parameters, "from");
    String last = ctx.request().getHeader("Last-Event-ID");
    boolean resumes = last != null && !last.isEmpty();
    // A browser that reconnects repeats its original URL, so the header takes precedence.
    String name = resumes ? "Last-Event-ID" : "parameter \"from\"";
    String given = resumes && last != null ? last : from;
    if (!given.isEmpty()) {
      query = query.withFrom(id(name, given) + (resumes ? 1 : 0));
    }
    String untilDone = first(parameters, "until_done");
    if (untilDone.isEmpty() || untilDone.equals("false")) {
      return new Follow(query, "", "");
    }
    if (!untilDone.equals("true") || query.jobs().size() != 1 || query.nodes().size() != 1) {
      throw ApiException.badRequest("until_done=true is about one job and one node");
    }
    return new Follow(query, query.jobs().get(0), query.nodes().get(0));
  }

  private static String first(Map<String, List<String>> parameters, String name) {
    List<String> values = parameters.getOrDefault(name, List.of());
    return values.isEmpty() ? "" : values.get(0);
  }

  private static long id(String name, String given) {
    try {
      long id = Long.parseLong(given);
      if (id >= 0 && id < Long.MAX_VALUE) {
        return id;
      }
    } catch (NumberFormatException e) {
      // Reported below.
    }
    throw ApiException.badRequest(name + " must be the id of a line, not \"" + given + "\"");
  }

  /** One client; everything runs on its event loop. */
  private final class Stream {
    private final HttpServerResponse response;
    private final Context loop;
    private final RoutingContext ctx;
    private final Follow follow;
    private Map<String, Long> positions = Map.of();
    private long timer;
    private int fullTicks;
    private int looks;
    private List<String> missing = List.of();
    private boolean ending;
    private boolean closed;

    Stream(RoutingContext ctx, Follow follow) {
      this.ctx = ctx;
      this.response = ctx.response();
      this.loop = ctx.vertx().getOrCreateContext();
      this.follow = follow;
    }

    void open() {
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
      look();
    }

    /** Continues on the event loop with an answer, unless the client is gone. */
    private <T> void then(CompletionStage<T> answer, Handler<T> handler) {
      var unused =
          answer.whenComplete(
              (value, failure) ->
                  loop.runOnContext(
                      v -> {
                        if (closed) {
                          return;
                        }
                        if (failure != null) {
                          end("problem", "problem", ApiException.of(failure).getMessage());
                        } else {
                          handler.handle(value);
                        }
                      }));
    }

    private void look() {
      if (closed) {
        return;
      }
      if (response.writeQueueFull()) {
        response.drainHandler(v -> look());
        return;
      }
      then(api.logs().follow(follow.query(), positions), this::send);
    }

    private void send(LogPage page) {
      StringBuilder text = new StringBuilder();
      if (!page.missing().equals(missing)) {
        missing = page.missing();
        text.append("event: missing\ndata: ")
            .append(JsonWriter.compact(Json.object().put("missing", Json.strings(missing)).build()))
            .append("\n\n");
      }
      for (LogLine line : page.lines()) {
        text.append("id: ").append(line.id());
        text.append("\ndata: ").append(JsonWriter.compact(LogResources.line(line))).append("\n\n");
      }
      positions = page.positions();
      if (text.length() > 0) {
        response.write(text.toString());
      }
      if (page.nextId() != LogPage.END) {
        // After a turn of all other clients.
        loop.runOnContext(v -> look());
        return;
      }
      if (ending) {
        end("end", "end", "the task is done");
        return;
      }
      looks = page.lines().isEmpty() ? looks + 1 : 0;
      if (!follow.job().isEmpty() && looks % LOOKS_PER_QUESTION == 1) {
        then(
            api.ask(new Query.Task(follow.job(), follow.node())),
            task -> {
              int over = TaskStatus.Main.DONE.bit() | TaskStatus.Main.FAILED.bit();
              // The task may have written its last lines after this page was read.
              ending = (task.bits() & over) != 0;
              later();
            });
      } else {
        later();
      }
    }

    private void later() {
      long pause = positions.size() > 1 ? LOOK_ELSEWHERE_MILLIS : LOOK_MILLIS;
      long unused = ctx.vertx().setTimer(pause, t -> look());
    }

    private void tick() {
      if (!response.writeQueueFull()) {
        fullTicks = 0;
        response.write(": alive\n\n");
      } else if (++fullTicks >= STUCK_TICKS) {
        dropped.increment();
        close();
        ctx.request().connection().close();
      }
    }

    private void end(String event, String member, @Nullable String why) {
      Json.Obj data = Json.object().put(member, String.valueOf(why)).build();
      response.write("event: " + event + "\ndata: " + JsonWriter.compact(data) + "\n\n");
      close();
      response.end();
    }

    private void close() {
      if (!closed) {
        closed = true;
        clients.decrementAndGet();
        ctx.vertx().cancelTimer(timer);
      }
    }
  }
}
