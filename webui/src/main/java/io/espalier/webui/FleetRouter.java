package io.espalier.webui;

import io.espalier.core.json.Json;
import io.espalier.webui.contract.RequestData;
import io.espalier.webui.fleet.Fleet;
import io.espalier.webui.fleet.FleetResources;
import io.espalier.webui.fleet.poll.FleetSchedulerState;
import io.espalier.webui.fleet.poll.FleetView;
import io.espalier.webui.http.AsyncResponder;
import io.espalier.webui.http.AuditHandler;
import io.espalier.webui.http.AuthHandler;
import io.espalier.webui.http.BodyReader;
import io.espalier.webui.http.HostOriginHandler;
import io.espalier.webui.http.HttpReply;
import io.espalier.webui.http.OpenApiValidator;
import io.espalier.webui.page.StaticPage;
import io.espalier.webui.page.Webroot;
import io.espalier.webui.v1.ApiException;
import io.espalier.webui.v1.ApiRequest;
import io.espalier.webui.v1.ApiRoute;
import io.espalier.webui.v1.ApiV1;
import io.espalier.webui.whatif.WhatIfHandler;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Routes the requests of {@code espalier ui}: to the page and the API over all schedulers, and
 * below {@code /s/ID/} to the page of one of them, whose API requests are forwarded.
 */
final class FleetRouter {
  static final String OPENAPI = "/api/v1/openapi.yaml";

  /** One of the page's files, but used only here. */
  static final String FLEET_PAGE = "/fleet.html";

  private static final String SCHEDULER = "scheduler";
  private static final String OF_ONE = SchedulerProxy.PREFIX + "{" + SCHEDULER + "}";

  private final Fleet fleet;
  private final HostOriginHandler guard;
  private final AuthHandler access;
  private final AuditHandler trail;
  private final boolean passTokens;
  private final AsyncResponder answers;
  private final BodyReader bodies;
  private final List<ApiRoute> routes;
  private final AtomicInteger proxied = new AtomicInteger();
  private final Map<String, StaticPage> pages = new LinkedHashMap<>();

  /** The page of one scheduler by path, without the prefix. */
  private final Map<String, StaticPage> pagesOfOne = new LinkedHashMap<>();

  FleetRouter(WebOptions options, Fleet fleet, HostOriginHandler guard, AsyncResponder answers) {
    this.fleet = fleet;
    this.guard = guard;
    this.trail = new AuditHandler(options.security().audit(), options.clock());
    // A scheduler knows the queues of its jobs, and is told whose jobs the caller may steer.
    this.access =
        new AuthHandler(
            options.security(), trail, (ctx, caller) -> ctx.pathParams().containsKey(SCHEDULER));
    this.passTokens = !options.security().credentials().required();
    this.answers = answers;
    this.bodies = new BodyReader(options.limits().bodyBytes());
    this.routes = new FleetResources(fleet).routes();
    routes.addAll(ApiV1.ofSecurity(options.security().audit()));
    pagesOfOne.putAll(Webroot.pages());
    StaticPage all = pagesOfOne.remove(FLEET_PAGE);
    pages.putAll(pagesOfOne);
    pages.put("/", Objects.requireNonNull(all, FLEET_PAGE));
  }

  /** Creates the handler for all requests of one event loop. */
  Handler<HttpServerRequest> handler(Vertx vertx) {
    SchedulerProxy proxy = new SchedulerProxy(vertx, fleet, passTokens, proxied);
    Mounting mounting = new Mounting(Router.router(vertx), guard, access);
    pages.forEach(mounting::open);
    mounting.open("/healthz", ctx -> AsyncResponder.send(ctx, HttpReply.json(200, up())));
    mounting.open("/readyz", this::ready);
    mounting.get(OPENAPI, new StaticPage("/openapi-fleet.yaml", "application/yaml; charset=utf-8"));
    mounting.get("/metrics", this::metrics);
    for (ApiRoute route : routes) {
      mounting.on(route, ctx -> answer(ctx, route));
    }
    mountThose(mounting, proxy);
    mounting.open(SchedulerProxy.PREFIX + "*", ctx -> pageOfOne(ctx, proxy));
    mounting.otherwise(Mounting::nothingHere);
    return mounting.handler();
  }

  /**
   * Mounts the forwarded routes: the schedulers' own operations with their own roles, and nothing
   * else. It sends a scheduler the path of the authorised operation, built from its template, and
   * never the received text, so that no spelling of a path can mean one operation here and another
   * one there.
   */
  private void mountThose(Mounting mounting, SchedulerProxy proxy) {
    List<ApiRoute> theirs = new ArrayList<>(ApiV1.operations());
    theirs.add(WhatIfHandler.ROUTE);
    for (String template : List.of(SchedulerRouter.OPENAPI, "/metrics", "/healthz", "/readyz")) {
      theirs.add(ApiRoute.elsewhere("GET", template));
    }
    for (ApiRoute route : theirs) {
      ApiRoute ofOne = route.below(OF_ONE);
      mounting.on(ofOne, ctx -> handOn(ctx, ofOne, route.template(), proxy));
    }
  }

  private void handOn(RoutingContext ctx, ApiRoute judged, String template, SchedulerProxy proxy) {
    Map<String, String> names = ctx.pathParams();
    String path = template;
    for (Map.Entry<String, String> name : names.entrySet()) {
      path = path.replace("{" + name.getKey() + "}", AuditHandler.encoded(name.getValue()));
    }
    String id = names.getOrDefault(SCHEDULER, "");
    if (!proxy.knows(id)) {
      Mounting.refuse(ctx, ApiException.notFound("no such scheduler is in the list"));
      return;
    }
    if (judged.changes()) {
      // The scheduler's own record names this process.
      trail.handedOn(ctx, id, path);
    }
    proxy.handOn(ctx, id, path);
  }

  /** Serves the page of one scheduler. */
  private void pageOfOne(RoutingContext ctx, SchedulerProxy proxy) {
    String path = ctx.normalizedPath().substring(SchedulerProxy.PREFIX.length());
    int slash = path.indexOf('/');
    String id = slash < 0 ? path : path.substring(0, slash);
    StaticPage page = slash < 0 ? null : pagesOfOne.get(path.substring(slash));
    // Identifiers contain only safe characters, so nothing has to be decoded.
    if (!proxy.knows(id)) {
      Mounting.refuse(ctx, ApiException.notFound("no such scheduler is in the list"));
    } else if (slash < 0) {
      // The page uses relative addresses, so it needs the trailing slash.
      ctx.response().putHeader("Location", SchedulerProxy.PREFIX + id + "/");
      AsyncResponder.send(ctx, HttpReply.json(308, Json.object().build()));
    } else if (page != null) {
      page.handle(ctx);
    } else {
      ctx.next();
    }
  }

  private void answer(RoutingContext ctx, ApiRoute route) {
    RequestData asked = OpenApiValidator.asked(ctx);
    Map<String, List<String>> query = asked.query();
    Map<String, String> path = asked.path();
    if (!route.changes()) {
      answers.answer(
          ctx,
          () ->
              route
                  .handler()
                  .answer(new ApiRequest(path, query, Json.Obj.EMPTY).by(AuthHandler.caller(ctx)))
                  .thenApply(body -> HttpReply.json(200, body)));
      return;
    }
    String who = AuthHandler.address(ctx);
    bodies.read(
        ctx,
        body ->
            answers.answer(
                ctx,
                () -> {
                  ApiRequest request =
                      new ApiRequest(path, query, object(body.getBytes()))
                          .by(AuthHandler.caller(ctx));
                  return trail.recorded(
                      who,
                      route,
                      request,
                      () ->
                          route
                              .handler()
                              .answer(request)
                              .thenApply(answer -> HttpReply.json(200, answer)));
                }));
  }

  private static Json.Obj object(byte[] body) {
    if (BodyReader.json(body) instanceof Json.Obj object) {
      return object;
    }
    throw ApiException.badRequest("the body must be an object");
  }

  private static Json up() {
    return Json.object().put("status", "up").build();
  }

  /** Reports ready once any scheduler has been queried. */
  private void ready(RoutingContext ctx) {
    FleetView view = fleet.view();
    boolean up = view.count(FleetSchedulerState.WAITING) < view.hosts().size();
    AsyncResponder.send(
        ctx,
        HttpReply.json(
            up ? 200 : 503,
            up
                ? up()
                : Json.object()
                    .put("status", "down")
                    .put("reason", "no scheduler has been asked yet")
                    .build()));
  }

  private void metrics(RoutingContext ctx) {
    answers.answer(
        ctx,
        () -> {
          StringBuilder text =
              new StringBuilder(
                  """
                  # HELP espalier_fleet_schedulers Schedulers of the list by how they answer
                  # TYPE espalier_fleet_schedulers gauge
                  """);
          fleet
              .view()
              .states()
              .forEach(
                  (state, count) ->
                      text.append("espalier_fleet_schedulers{state=\"")
                          .append(state.word())
                          .append("\"} ")
                          .append(count)
                          .append('\n'));
          return CompletableFuture.completedFuture(
              new HttpReply(
                  200, "text/plain; version=0.0.4; charset=utf-8", text.toString(), Map.of()));
        });
  }
}
