package io.espalier.webui;

import io.espalier.core.json.Json;
import io.espalier.webui.http.AsyncResponder;
import io.espalier.webui.http.AuthHandler;
import io.espalier.webui.http.HostOriginHandler;
import io.espalier.webui.http.HttpReply;
import io.espalier.webui.v1.ApiException;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.Router;
import java.util.Map;
import java.util.function.Supplier;

/** Routes the requests to a worker, which serves its health and its metrics and nothing else. */
final class WorkerRouter {
  private final HostOriginHandler guard;
  private final AuthHandler access;
  private final Supplier<String> problem;
  private final PrometheusMeterRegistry metrics;

  WorkerRouter(
      HostOriginHandler guard,
      AuthHandler access,
      Supplier<String> problem,
      PrometheusMeterRegistry metrics) {
    this.guard = guard;
    this.access = access;
    this.problem = problem;
    this.metrics = metrics;
  }

  /** Creates the handler for all requests of one event loop. */
  Handler<HttpServerRequest> handler(Vertx vertx) {
    Mounting mounting = new Mounting(Router.router(vertx), guard, access);
    mounting.open("/healthz", ctx -> AsyncResponder.send(ctx, HttpReply.json(200, about())));
    mounting.open(
        "/readyz",
        ctx ->
            AsyncResponder.send(ctx, HttpReply.json(problem.get().isEmpty() ? 200 : 503, about())));
    mounting.get(
        "/metrics",
        ctx ->
            AsyncResponder.send(
                ctx,
                new HttpReply(
                    200, "text/plain; version=0.0.4; charset=utf-8", metrics.scrape(), Map.of())));
    mounting.refuseOtherMethods();
    mounting.otherwise(
        ctx ->
            Mounting.refuse(
                ctx, new ApiException(404, "a worker serves /healthz, /readyz and /metrics")));
    return mounting.handler();
  }

  private Json.Obj about() {
    return Json.object()
        .put("status", "up")
        .put("role", "worker")
        .put("problem", problem.get())
        .build();
  }
}
