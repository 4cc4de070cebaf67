package io.espalier.webui;

import io.espalier.core.api.SchedulerApi;
import io.espalier.core.api.SchedulerView;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.problem.Result;
import io.espalier.json.JsonReader;
import io.espalier.webui.bistro.BistroBatches;
import io.espalier.webui.v1.ApiFailure;
import io.espalier.webui.v1.ApiRequest;
import io.espalier.webui.v1.ApiRoute;
import io.espalier.webui.v1.ApiV1;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Which path is answered by what. Shared by the event loops; each makes a router from it. */
final class Routes {
  /** Metadata of the router: what is mounted, as {@code "GET /path/{parameter}"}. */
  static final String OPERATIONS = "operations";

  static final String OPENAPI = "/api/v1/openapi.yaml";

  private static final Logger CHANGES = LoggerFactory.getLogger("io.espalier.changes");

  /** Nothing from elsewhere, nothing inline: a job's name cannot become script. */
  private static final String CONTENT_POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
          + " base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

  /** Bistro's server takes any method; these are the ones that carry a body. */
  private static final Set<HttpMethod> BISTRO_METHODS =
      Set.of(HttpMethod.POST, HttpMethod.PUT, HttpMethod.PATCH);

  private final WebOptions options;
  private final SchedulerApi api;
  private final ApiV1 v1;
  private final BistroBatches bistro;
  private final Answers answers;
  private final Bodies bodies;
  private final Meters meters;
  private final Guard guard;
  private final EventStreams streams;
  private final LogStreams logStreams;
  private final JsonReader reader = JsonReader.strict();
  private final Map<String, Page> pages = new LinkedHashMap<>();

  Routes(
      WebOptions options,
      SchedulerApi api,
      ApiV1 v1,
      BistroBatches bistro,
      Answers answers,
      Meters meters,
      Guard guard,
      EventStreams streams,
      LogStreams logStreams) {
    this.options = options;
    this.api = api;
    this.v1 = v1;
    this.bistro = bistro;
    this.answers = answers;
    this.bodies = new Bodies(options.limits().bodyBytes());
    this.meters = meters;
    this.guard = guard;
    this.streams = streams;
    this.logStreams = logStreams;
    pages.putAll(Webroot.pages());
    pages.put(OPENAPI, new Page("/openapi.yaml", "application/yaml; charset=utf-8"));
  }

  /** Answers all requests of one event loop. */
  Handler<HttpServerRequest> handler(Vertx vertx) {
    Router router = router(vertx);
    return request -> {
      if (isReadable(request)) {
        router.handle(request);
      } else {
        secure(request.response());
        Answers.send(
            request.response(), Reply.problem(ApiFailure.badRequest("the URL cannot be read")));
      }
    };
  }

  /** The router would log an error for what is only a client's. */
  static boolean isReadable(HttpServerRequest request) {
    try {
      return request.path() != null
          && request.path().startsWith("/")
          && URLDecoder.decode(request.uri(), StandardCharsets.UTF_8) != null;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  Router router(Vertx vertx) {
    Router router = Router.router(vertx);
    router.route().handler(meters);
    router.route().handler((RoutingContext ctx) -> secure(ctx));
    router.route().handler(guard);
    Mounting mounting = new Mounting(router);
    pages.forEach((path, page) -> mounting.get(path, page));
    mounting.get("/healthz", this::health);
    mounting.get("/readyz", this::ready);
    mounting.get("/metrics", this::metrics);
    mounting.get(ApiV1.EVENTS, streams);
    mounting.get(ApiV1.LOGS, logStreams);
    for (ApiRoute route : v1.routes()) {
      mounting.on(HttpMethod.valueOf(route.method()), route.template(), ctx -> answer(ctx, route));
    }
    mounting.refuseOtherMethods();
    router.route().handler(this::elsewhere);
    router.putMetadata(OPERATIONS, mounting.operations());
    router
        .route()
        .failureHandler(
            ctx -> {
              if (!ctx.response().ended()) {
                Throwable failure = ctx.failure();
                ApiFailure known =
                    failure != null && ctx.statusCode() == 500
                        ? ApiFailure.of(failure)
                        : new ApiFailure(ctx.statusCode(), "the request cannot be read");
                Answers.send(ctx, Reply.problem(known));
              }
            });
    return router;
  }

  static void secure(RoutingContext ctx) {
    secure(ctx.response());
    ctx.next();
  }

  static void secure(HttpServerResponse response) {
    response
        .putHeader("Content-Security-Policy", CONTENT_POLICY)
        .putHeader("X-Content-Type-Options", "nosniff")
        .putHeader("X-Frame-Options", "DENY")
        .putHeader("Referrer-Policy", "no-referrer")
        .putHeader("Cross-Origin-Opener-Policy", "same-origin")
        .putHeader("Cross-Origin-Resource-Policy", "same-origin")
        .putHeader("Cache-Control", "no-store");
  }

  private void answer(RoutingContext ctx, ApiRoute route) {
    Map<String, List<String>> query = new HashMap<>();
    for (String name : ctx.queryParams().names()) {
      query.put(name, ctx.queryParams().getAll(name));
    }
    Map<String, String> path = Map.copyOf(ctx.pathParams());
    if (!route.changes()) {
      answers.answer(ctx, () -> reply(route, new ApiRequest(path, query, Json.Obj.EMPTY)));
      return;
    }
    String who = String.valueOf(ctx.request().remoteAddress());
    bodies.read(
        ctx,
        body ->
            answers.answer(
                ctx,
                () -> {
                  ApiRequest request = new ApiRequest(path, query, object(body.getBytes()));
                  CHANGES.info(
                      "{} from {}: {} {}",
                      route.template(),
                      who,
                      JsonWriter.compact(Json.strings(path.values())),
                      request.body());
                  return reply(route, request);
                }));
  }

  private static CompletionStage<Reply> reply(ApiRoute route, ApiRequest request) {
    return route.handler().answer(request).thenApply(body -> Reply.json(200, body));
  }

  private Json.Obj object(byte[] body) {
    if (body.length == 0) {
      return Json.Obj.EMPTY;
    }
    Result<Json> read = reader.read(body);
    if (read.value() == null || read.hasErrors()) {
      throw ApiFailure.badRequest(
          "the body is not valid JSON: "
              + (read.problems().isEmpty() ? "" : read.problems().get(0).toString()));
    }
    if (read.value() instanceof Json.Obj object) {
      return object;
    }
    throw ApiFailure.badRequest("the body must be an object, not " + read.value().kind());
  }

  private void health(RoutingContext ctx) {
    long age = options.clock().millis() - api.view().publishedAtMillis();
    Duration within = options.limits().healthyWithin();
    probe(
        ctx,
        age <= within.toMillis(),
        api.view().publishedAtMillis() == 0
            ? "the scheduler has not published anything yet"
            : "the scheduler published its latest view "
                + age / 1000
                + " s ago, more than "
                + within.toSeconds()
                + " s");
  }

  private void ready(RoutingContext ctx) {
    SchedulerView view = api.view();
    probe(
        ctx,
        view.config() != null && view.topology() != null,
        view.config() == null ? "no configuration is in force" : "the nodes were not fetched yet");
  }

  private static void probe(RoutingContext ctx, boolean up, String reason) {
    Json body =
        up
            ? Json.object().put("status", "up").build()
            : Json.object().put("status", "down").put("reason", reason).build();
    Answers.send(ctx, Reply.json(up ? 200 : 503, body));
  }

  private void metrics(RoutingContext ctx) {
    answers.answer(
        ctx,
        () ->
            CompletableFuture.completedFuture(
                new Reply(
                    200, "text/plain; version=0.0.4; charset=utf-8", meters.scrape(), Map.of())));
  }

  /** Bistro's clients may post to any path that is not one of ours. */
  private void elsewhere(RoutingContext ctx) {
    boolean ours = ctx.normalizedPath().startsWith("/api/");
    if (ours || !BISTRO_METHODS.contains(ctx.request().method())) {
      Answers.send(ctx, Reply.problem(ApiFailure.notFound("there is nothing at this path")));
      return;
    }
    Meters.operation(ctx, "bistro");
    // A batch keeps its own deadline and says in place what was not answered by it.
    Duration patience = options.limits().answerWithin().plusSeconds(10);
    bodies.read(
        ctx,
        body ->
            answers.answer(
                ctx,
                () ->
                    bistro
                        .answer(reader.read(body.getBytes()))
                        .thenApply(text -> new Reply(200, Reply.JSON, text, Map.of())),
                patience));
  }

  /** Mounts handlers and remembers which methods each path has. */
  private static final class Mounting {
    private final Router router;
    private final Map<String, Set<String>> methods = new LinkedHashMap<>();
    private final Set<String> operations = new TreeSet<>(Set.of("POST /"));

    Mounting(Router router) {
      this.router = router;
    }

    void get(String template, Handler<RoutingContext> handler) {
      on(HttpMethod.GET, template, handler);
    }

    void on(HttpMethod method, String template, Handler<RoutingContext> handler) {
      operations.add(method + " " + template);
      String path = template.replace('{', ':').replace("}", "");
      Set<String> known = methods.computeIfAbsent(path, p -> new TreeSet<>());
      Handler<RoutingContext> named =
          ctx -> {
            Meters.operation(ctx, template);
            handler.handle(ctx);
          };
      known.add(method.name());
      router.route(method, path).handler(named);
      if (method.equals(HttpMethod.GET)) {
        known.add("HEAD");
        router.route(HttpMethod.HEAD, path).handler(named);
      }
    }

    Set<String> operations() {
      return operations;
    }

    void refuseOtherMethods() {
      methods.forEach(
          (path, known) -> {
            if (!path.equals("/")) {
              router
                  .route(path)
                  .handler(
                      ctx -> {
                        Meters.operation(ctx, path);
                        ctx.response().putHeader("Allow", String.join(", ", known));
                        Answers.send(
                            ctx,
                            Reply.problem(
                                new ApiFailure(
                                    405, "this path takes " + String.join(", ", known))));
                      });
            }
          });
    }
  }
}
