package io.espalier.webui.stream;

import io.espalier.core.api.Query;
import io.espalier.core.api.SchedulerApi;
import io.espalier.core.json.Json;
import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogQuery;
import io.espalier.core.status.TaskStatus;
import io.espalier.webui.v1.ApiException;
import io.espalier.webui.v1.ApiRequest;
import io.espalier.webui.v1.LogResources;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Handler;
import io.vertx.ext.web.RoutingContext;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Sends task output as server-sent events, as it is written. It fetches the next page of a client
 * when the socket has accepted the last one, so a slow client only falls behind; one that accepts
 * nothing any more is disconnected. A client may reconnect with {@code Last-Event-ID}, the id of
 * its last line, and misses nothing that is still stored.
 */
public final class LogStreams extends SseStreams {
  private static final int PAGE = 256;

  /** The time between two polls without new lines. */
  private static final long LOOK_MILLIS = 250;

  /** The same when each poll calls every worker. */
  private static final long LOOK_ELSEWHERE_MILLIS = 1_000;

  /** The number of polls without new lines between two checks whether the task has ended. */
  private static final int LOOKS_PER_QUESTION = 4;

  private final SchedulerApi api;

  /**
   * @param api answers on threads that may do work
   */
  public LogStreams(SchedulerApi api, int maxClients, Duration heartbeat, MeterRegistry metrics) {
    super(
        maxClients,
        heartbeat,
        "too many clients follow logs",
        metrics,
        "espalier.http.log.streams",
        "clients that follow logs",
        "clients that follow logs, disconnected because they read nothing");
    this.api = api;
  }

  @Override
  Client client(RoutingContext ctx) {
    return new Stream(ctx, follow(ctx));
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
    LogQuery query = LogResources.chosen(request).withAscending(true).withLimit(PAGE);
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

  private final class Stream extends Client {
    private final Follow follow;
    private Map<String, Long> positions = Map.of();
    private int looks;
    private List<String> missing = List.of();
    private boolean ending;

    Stream(RoutingContext ctx, Follow follow) {
      super(ctx);
      this.follow = follow;
    }

    @Override
    void begin() {
      look();
    }

    /** Continues on the event loop with an answer, unless the client is gone. */
    private <T> void then(CompletionStage<T> answer, Handler<T> handler) {
      var unused =
          answer.whenComplete(
              (value, failure) ->
                  loop.runOnContext(
                      v -> {
                        if (isClosed()) {
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
      if (isClosed()) {
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
        text.append(event("missing", Json.object().put("missing", Json.strings(missing)).build()));
      }
      for (LogLine line : page.lines()) {
        text.append(event(line.id(), LogResources.line(line)));
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
              int over =
                  TaskStatus.Main.DONE.bit()
                      | TaskStatus.Main.FAILED.bit()
                      | TaskStatus.Main.CANCELLED.bit();
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

    private void end(String event, String member, @Nullable String why) {
      Json.Obj data = Json.object().put(member, String.valueOf(why)).build();
      response.write(event(event, data));
      close();
      response.end();
    }
  }
}
