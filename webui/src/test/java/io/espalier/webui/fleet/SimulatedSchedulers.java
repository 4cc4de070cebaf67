package io.espalier.webui.fleet;

import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.webui.fleet.poll.SchedulerAddress;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Many schedulers in one process, each on a port of its own. Of fifty, one is slow, one dead, one
 * talks rubbish, one without end, one wants a token and one fails; the others answer.
 */
public final class SimulatedSchedulers implements AutoCloseable {
  private static final int KINDS = 50;
  static final int JOBS = 20;

  /** Says nothing until it is released. */
  static final int SLOW = 0;

  static final int DEAD = 1;
  static final int RUBBISH = 2;
  static final int ENDLESS = 3;
  static final int CLOSED = 4;
  static final int FAILING = 5;

  private final Vertx vertx;
  private final List<SchedulerAddress> addresses = new ArrayList<>();
  private final Queue<HttpServerResponse> held = new ConcurrentLinkedQueue<>();
  private final Map<Integer, List<String>> told = new ConcurrentHashMap<>();
  final AtomicInteger slowAsked = new AtomicInteger();
  final AtomicLong endlessBytes = new AtomicLong();

  public SimulatedSchedulers(int count) {
    vertx =
        Vertx.vertx(
            new VertxOptions()
                .setEventLoopPoolSize(1)
                .setWorkerPoolSize(1)
                .setInternalBlockingPoolSize(1));
    List<Future<HttpServer>> servers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int number = i;
      servers.add(
          vertx
              .createHttpServer(new HttpServerOptions().setIdleTimeout(0))
              .requestHandler(request -> answer(number, request))
              .listen(0, "127.0.0.1"));
    }
    StringBuilder list = new StringBuilder();
    for (int i = 0; i < count; i++) {
      HttpServer server = servers.get(i).toCompletionStage().toCompletableFuture().join();
      list.append("h").append(i).append("=127.0.0.1:").append(server.actualPort()).append('\n');
      if (i % KINDS == DEAD) {
        server.close().toCompletionStage().toCompletableFuture().join();
      }
    }
    List<SchedulerAddress> parsed = SchedulerLists.parse(list.toString()).value();
    addresses.addAll(parsed == null ? List.of() : parsed);
  }

  public List<SchedulerAddress> addresses() {
    return List.copyOf(addresses);
  }

  /** How many of so many are of a kind. */
  static int of(int count, int kind) {
    return (count - kind + KINDS - 1) / KINDS;
  }

  /** What was posted to one of them. */
  List<String> told(int number) {
    return told.getOrDefault(number, List.of());
  }

  /** The slow ones answer what they were asked. */
  void release() {
    for (HttpServerResponse response = held.poll(); response != null; response = held.poll()) {
      HttpServerResponse one = response;
      vertx.runOnContext(v -> one.setStatusCode(503).end("{\"detail\":\"too late\"}"));
    }
  }

  private void answer(int number, HttpServerRequest request) {
    HttpServerResponse response = request.response();
    switch (number % KINDS) {
      case SLOW -> {
        slowAsked.incrementAndGet();
        held.add(response);
      }
      case RUBBISH -> response.end("<html>It works!</html>");
      case ENDLESS -> pour(response.setChunked(true));
      case CLOSED -> response.setStatusCode(401).end();
      case FAILING -> response.setStatusCode(500).end("{\"detail\":\"out of order\"}");
      default -> {
        if (request.method().equals(HttpMethod.POST)) {
          request
              .body()
              .onSuccess(
                  body -> {
                    told.computeIfAbsent(number, n -> new ArrayList<>())
                        .add(request.path() + " " + body);
                    response.end(
                        number % 2 == 0 ? "{\"changed\":2}" : "{\"changed\":1,\"matched\":3}");
                  });
        } else {
          response
              .putHeader("Content-Type", "application/json")
              .end(JsonWriter.compact(page(number, request)));
        }
      }
    }
  }

  private void pour(HttpServerResponse response) {
    while (!response.writeQueueFull() && !response.closed() && !response.ended()) {
      endlessBytes.addAndGet(8192);
      Future<Void> written = response.write(Buffer.buffer(new byte[8192]));
      if (written.failed()) {
        return;
      }
    }
    response.drainHandler(v -> pour(response));
  }

  private static Json.Builder group(String key, String value, int number) {
    return Json.object()
        .put(key, value)
        .put("message", "broken")
        .put("count", 2)
        .put("samples", Json.strings(List.of("n" + number)));
  }

  private static Json groups(String name, Json... groups) {
    return Json.object().put(name, new Json.Arr(List.of(groups))).build();
  }

  private static Json page(int number, HttpServerRequest request) {
    String path = request.path();
    if (path.equals("/api/v1/nodes")) {
      return Json.object()
          .put(
              "nodes",
              new Json.Arr(
                  List.of(node("h" + number, List.of()), node("n" + number / 2, List.of("h")))))
          .put("next", "")
          .build();
    }
    if (path.equals("/api/v1/logs")) {
      String until = request.getParam("until_ms");
      if (until != null && Long.parseLong(until) <= 1_000 + number) {
        return Json.object().put("lines", Json.Arr.EMPTY).put("next", "").build();
      }
      return Json.object()
          .put(
              "lines",
              new Json.Arr(
                  List.of(
                      Json.object()
                          .put("id", "1")
                          .put("stream", "stdout")
                          .put("job", "job1")
                          .put("node", "n")
                          .put("time_ms", 1_000 + number)
                          .put("text", "line of " + number)
                          .build())))
          .put("next", "")
          .build();
    }
    if (path.endsWith("/failures")) {
      return groups("groups", group("fingerprint", "f1", number).put("failed", 1).build());
    }
    if (path.endsWith("/waiting")) {
      Json here =
          group("kind", "resource", number)
              .put("node", "h" + number)
              .put("message", "too few slots on h" + number)
              .build();
      return groups("reasons", here, Json.of("no group"));
    }
    if (path.startsWith("/api/v1/jobs/")) {
      return Json.object()
          .put("name", "job3")
          .put("effective", Json.object().put("priority", number % 100 == 7 ? 2 : 1).build())
          .build();
    }
    return summary(number);
  }

  private static Json node(String name, List<String> parents) {
    return Json.object()
        .put("name", name)
        .put("level", "db")
        .put("parents", Json.strings(parents))
        .build();
  }

  /** Of every hundred one has other settings of job 3. */
  private static Json summary(int number) {
    List<Json> jobs = new ArrayList<>();
    for (int job = 0; job < JOBS; job++) {
      jobs.add(
          Json.object()
              .put("name", "job" + job)
              .put("owner", "ops")
              .put("enabled", true)
              .put("valid", true)
              .put("paused", false)
              .put("level", "db")
              .put("priority", 1)
              .put("config_hash", job == 3 && number % 100 == 7 ? "other" : "same" + job)
              .put("state", job == 5 && number % 100 == 8 ? "stuck" : "running")
              .put("state_reason", "made up")
              .put("tasks_never", job == 6 && number % 100 == 9 ? number : 0)
              .put("never_reason", "the limit of h" + number + " is 0")
              .put("rate_per_second", 0.5)
              .put(
                  "progress",
                  Json.object()
                      .put("total", 1_000)
                      .put("done", 900)
                      .put("running", 3)
                      .put("ready", 97)
                      .put("failed", 0)
                      .build())
              .build());
    }
    List<Json> running = new ArrayList<>();
    for (int task = 0; task < 20; task++) {
      running.add(
          Json.object()
              .put("job", "job" + task)
              .put("node", "n" + number + "-" + task)
              .put("started_at_ms", 1)
              .build());
    }
    long now = System.currentTimeMillis();
    return Json.object()
        .put("process", "p" + number)
        .put("version", "1")
        .put("runner", "local")
        .put("at_ms", now)
        .put("published_at_ms", now)
        .put("config_in_force", true)
        .put("nodes", 1_000)
        .put("nodes_at_ms", now)
        .put("jobs", new Json.Arr(jobs))
        .put("problems", Json.Arr.EMPTY)
        .put("errors", Json.Arr.EMPTY)
        .put("running_total", 60)
        .put("running", new Json.Arr(running))
        .build();
  }

  @Override
  public void close() {
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  /** Only listens: prints the list, for {@code espalier ui --schedulers FILE}. */
  public static void main(String[] arguments) {
    SimulatedSchedulers many = new SimulatedSchedulers(Integer.parseInt(arguments[0]));
    many.addresses().forEach(a -> System.out.println(a.name() + "=" + a.uri().getAuthority()));
    System.out.flush();
  }
}
