package io.espalier.webui;

import io.espalier.core.api.SchedulerApi;
import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Result;
import io.espalier.json.JsonReader;
import io.espalier.webui.bistro.BistroBatches;
import io.espalier.webui.contract.OpenApiContract;
import io.espalier.webui.contract.RequestData;
import io.espalier.webui.http.AsyncResponder;
import io.espalier.webui.http.AuditHandler;
import io.espalier.webui.http.AuthHandler;
import io.espalier.webui.http.BodyReader;
import io.espalier.webui.http.CallbackHandler;
import io.espalier.webui.http.HostOriginHandler;
import io.espalier.webui.http.HttpMetrics;
import io.espalier.webui.http.HttpReply;
import io.espalier.webui.http.IdempotencyCache;
import io.espalier.webui.http.OpenApiValidator;
import io.espalier.webui.page.StaticPage;
import io.espalier.webui.page.Webroot;
import io.espalier.webui.security.Role;
import io.espalier.webui.stream.EventStreams;
import io.espalier.webui.stream.LogStreams;
import io.espalier.webui.v1.ApiRequest;
import io.espalier.webui.v1.ApiRoute;
import io.espalier.webui.v1.ApiV1;
import io.espalier.webui.whatif.WhatIfHandler;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Routes the requests to a scheduler. The event loops share it; each creates a router from it. */
public final class SchedulerRouter {
  public static final String OPENAPI = "/api/v1/openapi.yaml";

  /** The path of the contract on the class path. */
  static final String CONTRACT = "/openapi.yaml";

  /** Bistro's server accepts any method; these are the ones with a body. */
  private static final Set<HttpMethod> BISTRO_METHODS =
      Set.of(HttpMethod.POST, HttpMethod.PUT, HttpMethod.PATCH);

  private final WebOptions options;
  private final SchedulerApi api;
  private final ApiV1 v1;
  private final BistroBatches bistro;
  private final AsyncResponder answers;
  private final BodyReader bodies;
  private final HttpMetrics meters;
  private final HostOriginHandler guard;
  private final AuditHandler trail;
  private final AuthHandler access;
  private final EventStreams streams;
  private final LogStreams logStreams;
  private final OpenApiValidator contract;
  private final IdempotencyCache replays;
  private final CallbackHandler callbacks;
  private final WhatIfHandler whatIfs;
  private final JsonReader reader = JsonReader.strict();
  private final Map<String, StaticPage> pages = new LinkedHashMap<>();
  private final StaticPage openapi = new StaticPage(CONTRACT, "application/yaml; charset=utf-8");

  SchedulerRouter(
      WebOptions options,
      SchedulerApi api,
      ApiV1 v1,
      BistroBatches bistro,
      AsyncResponder answers,
      HttpMetrics meters,
      HostOriginHandler guard,
      EventStreams streams,
      LogStreams logStreams,
      OpenApiValidator contract) {
    this.options = options;
    this.api = api;
    this.v1 = v1;
    this.bistro = bistro;
    this.answers = answers;
    this.bodies = new BodyReader(options.limits().bodyBytes());
    this.meters = meters;
    this.guard = guard;
    this.trail = new AuditHandler(options.security().audit(), options.clock());
    this.access =
        new AuthHandler(
            options.security(),
            trail,
            (ctx, caller) ->
                caller.may(
                    Role.OPERATOR, queue(Objects.requireNonNull(ctx.pathParams().get("job")))));
    this.streams = streams;
    this.logStreams = logStreams;
    this.contract = contract;
    this.replays = new IdempotencyCache(options.clock(), options.answers());
    this.callbacks = new CallbackHandler(api, answers, contract, options.security().rates());
    this.whatIfs =
        new WhatIfHandler(api, options.whatIfs(), answers, contract, options.limits().bodyBytes());
    pages.putAll(Webroot.pages());
    pages.remove(FleetRouter.FLEET_PAGE);
  }

  /** Creates the handler for all requests of one event loop. */
  Handler<HttpServerRequest> handler(Vertx vertx) {
    Router router = Router.router(vertx);
    // The order matters: a request that is refused early costs little and is still counted. The
    // contract is checked last, when the operation is known and the body is read; unauthorised
    // callers learn nothing from it.
    router.route().handler(meters);
    return mounted(router).handler();
  }

  Mounting mounted(Router router) {
    Mounting mounting = new Mounting(router, guard, access);
    pages.forEach(mounting::open);
    mounting.get(OPENAPI, contract.before(OPENAPI, openapi));
    mounting.open("/healthz", this::health);
    mounting.open("/readyz", this::ready);
    mounting.get("/metrics", this::metrics);
    mounting.get(ApiV1.EVENTS, contract.before(ApiV1.EVENTS, streams));
    mounting.get(ApiV1.LOGS, contract.before(ApiV1.LOGS, logStreams));
    mounting.signed(CallbackHandler.TEMPLATE, callbacks);
    mounting.on(WhatIfHandler.ROUTE, whatIfs);
    for (ApiRoute route : v1.routes()) {
      mounting.on(route, ctx -> answer(ctx, route));
    }
    mounting.refuseOtherMethods();
    mounting.otherwise(this::elsewhere);
    return mounting;
  }

  private void answer(RoutingContext ctx, ApiRoute route) {
    RequestData asked = OpenApiValidator.asked(ctx);
    if (route.method().equals("GET")) {
      answers.answer(
          ctx,
          () ->
              contract
                  .contract()
                  .thenCompose(
                      known -> {
                        OpenApiValidator.demand(known, route.method(), route.template(), asked);
                        return reply(route, request(ctx, asked, Json.Obj.EMPTY));
                      }));
      return;
    }
    bodies.answer(
        ctx,
        answers,
        contract,
        answers.within(),
        (known, bytes) -> act(ctx, route, known, asked, bytes));
  }

  /** Carries out a request with a body if it is valid and was not carried out before. */
  private CompletionStage<HttpReply> act(
      RoutingContext ctx, ApiRoute route, OpenApiContract known, RequestData asked, byte[] bytes) {
    Json body = BodyReader.json(bytes);
    boolean says =
        !body.equals(Json.Obj.EMPTY) || known.takesBody(route.method(), route.template());
    OpenApiValidator.demand(
        known, route.method(), route.template(), asked.withBody(says ? body : null));
    ApiRequest request =
        request(ctx, asked, body instanceof Json.Obj object ? object : Json.Obj.EMPTY);
    if (!route.changes()) {
      return reply(route, request);
    }
    String who = AuthHandler.address(ctx);
    Supplier<CompletionStage<HttpReply>> action =
        () -> trail.recorded(who, route, request, () -> reply(route, request));
    String key = asked.headers().get("idempotency-key");
    return key == null
        ? action.get()
        : replays.once(request.caller().name(), key, fingerprint(route, asked, bytes), action);
  }

  /** Returns a hash that is the same for requests with the same content. */
  private static String fingerprint(ApiRoute route, RequestData asked, byte[] body) {
    String rest =
        String.join(
            "\n",
            route.method(),
            route.template(),
            new TreeMap<>(asked.path()).toString(),
            new TreeMap<>(asked.query()).toString(),
            asked.headers().getOrDefault("if-match", ""),
            asked.headers().getOrDefault("if-none-match", ""));
    return IdempotencyCache.hash(rest.getBytes(StandardCharsets.UTF_8), body);
  }

  private static ApiRequest request(RoutingContext ctx, RequestData asked, Json.Obj body) {
    return new ApiRequest(
        asked.path(), asked.query(), body, asked.headers(), AuthHandler.caller(ctx));
  }

  private static CompletionStage<HttpReply> reply(ApiRoute route, ApiRequest request) {
    return route.handler().answer(request).thenApply(body -> tagged(route, request, body));
  }

  /**
   * Returns the answer with its entity tag, or 304 if the client already has it. What is in force
   * and not durable yet is answered with 202.
   */
  private static HttpReply tagged(ApiRoute route, ApiRequest request, Json body) {
    boolean isDurable =
        !(body instanceof Json.Obj object) || !Json.Bool.FALSE.equals(object.get("durable"));
    HttpReply reply = HttpReply.json(isDurable ? 200 : 202, body);
    String tag = route.tag().of(body);
    if (tag.isEmpty()) {
      return reply;
    }
    String quoted = "\"" + tag + "\"";
    Map<String, String> etag = Map.of("ETag", quoted);
    boolean known =
        !route.changes()
            && List.of(request.headers().getOrDefault("if-none-match", "").split(",", -1)).stream()
                .map(String::trim)
                .anyMatch(given -> given.equals(quoted) || given.equals("W/" + quoted));
    return known ? new HttpReply(304, HttpReply.JSON, "", etag) : reply.with("ETag", quoted);
  }

  private String queue(String name) {
    Config config = api.view().config();
    Job job = config == null ? null : config.job(name);
    return job == null ? "" : job.scheduling().queue();
  }

  private void health(RoutingContext ctx) {
    long age = options.clock().millis() - api.view().publishedAtMillis();
    Duration within = options.limits().healthyWithin();
    boolean up = age <= within.toMillis();
    probe(
        ctx,
        up,
        up
            ? ""
            : api.view().publishedAtMillis() == 0
                ? "the scheduler has not published anything yet"
                : "the scheduler published its latest view "
                    + age / 1000
                    + " s ago, more than "
                    + within.toSeconds()
                    + " s");
  }

  /**
   * Reports not ready when something that tasks need is broken. Reports ready, with the reason,
   * when nothing starts because of the configuration or until a wait is over: workers and people
   * must reach the scheduler then.
   */
  private void ready(RoutingContext ctx) {
    SchedulerView view = api.view();
    Map<String, String> errors = view.errors();
    String store = errors.getOrDefault(SchedulerView.STORE, "");
    String waiting =
        Stream.of(SchedulerView.SETTINGS, SchedulerView.WORKERS)
            .map(source -> errors.getOrDefault(source, ""))
            .filter(text -> !text.isEmpty())
            .collect(Collectors.joining("; "));
    boolean up = view.config() != null && view.topology() != null && store.isEmpty();
    probe(
        ctx,
        up,
        up
            ? waiting
            : view.config() == null
                ? view.whyNoConfig()
                : view.topology() == null
                    ? "the nodes were not fetched yet"
                    : "status store: " + store);
  }

  private void probe(RoutingContext ctx, boolean up, String reason) {
    Json.Builder body =
        Json.object()
            .put("status", up ? "up" : "down")
            .put("role", api.leadership().view().elected() ? "leader" : "alone");
    if (!reason.isEmpty()) {
      body.put("reason", reason);
    }
    AsyncResponder.send(ctx, HttpReply.json(up ? 200 : 503, body.build()));
  }

  private void metrics(RoutingContext ctx) {
    answers.answer(
        ctx,
        () ->
            CompletableFuture.completedFuture(
                new HttpReply(
                    200, "text/plain; version=0.0.4; charset=utf-8", meters.scrape(), Map.of())));
  }

  /** Handles unknown paths: Bistro's clients may post to any of them. */
  private void elsewhere(RoutingContext ctx) {
    boolean ours = ctx.normalizedPath().startsWith("/api/");
    if (ours || !BISTRO_METHODS.contains(ctx.request().method())) {
      Mounting.nothingHere(ctx);
      return;
    }
    HttpMetrics.operation(ctx, "bistro");
    access.batch(this::bistro).handle(ctx);
  }

  private void bistro(RoutingContext ctx) {
    // A batch has its own deadline and reports unanswered queries in their place.
    Duration patience = options.limits().answerWithin().plusSeconds(10);
    bodies.read(
        ctx,
        body ->
            answers.answer(
                ctx,
                () -> {
                  Result<Json> batch = reader.read(body.getBytes());
                  access.admit(ctx, BistroBatches.changes(batch));
                  return bistro
                      .answer(batch, AuthHandler.caller(ctx), trail.ofBatch(ctx))
                      .thenApply(text -> new HttpReply(200, HttpReply.JSON, text, Map.of()));
                },
                patience));
  }
}
