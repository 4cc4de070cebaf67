package io.espalier.webui;

import io.espalier.json.Utf8;
import io.espalier.webui.http.AsyncResponder;
import io.espalier.webui.http.AuthHandler;
import io.espalier.webui.http.HostOriginHandler;
import io.espalier.webui.http.HttpMetrics;
import io.espalier.webui.http.HttpReply;
import io.espalier.webui.security.Role;
import io.espalier.webui.v1.ApiException;
import io.espalier.webui.v1.ApiRoute;
import io.vertx.core.Handler;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Mounts the handlers of one event loop, in the order in which they are tried: first what every
 * request passes, then operations, last the answer to requests that fail.
 */
final class Mounting {
  /**
   * Allows nothing from other hosts and nothing inline, so that a job's name cannot become a
   * script.
   */
  private static final String CONTENT_POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
          + " base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

  private final Router router;
  private final AuthHandler access;
  private final Map<String, Set<String>> methods = new LinkedHashMap<>();
  private final Set<String> operations = new TreeSet<>();

  /** Mounts the security headers and the check of hosts and origins. */
  Mounting(Router router, HostOriginHandler guard, AuthHandler access) {
    this.router = router;
    this.access = access;
    router
        .route()
        .handler(
            ctx -> {
              secure(ctx.response());
              ctx.next();
            });
    router.route().handler(guard);
  }

  private static void secure(HttpServerResponse response) {
    response
        .putHeader("Content-Security-Policy", CONTENT_POLICY)
        .putHeader("X-Content-Type-Options", "nosniff")
        .putHeader("X-Frame-Options", "DENY")
        .putHeader("Referrer-Policy", "no-referrer")
        .putHeader("Cross-Origin-Opener-Policy", "same-origin")
        .putHeader("Cross-Origin-Resource-Policy", "same-origin")
        .putHeader("Cache-Control", "no-store");
  }

  /** Mounts a handler without authentication, for content that does not concern jobs. */
  void open(String template, Handler<RoutingContext> handler) {
    on(HttpMethod.GET, template, handler);
  }

  /** Mounts a POST whose handler itself proves the caller's right. */
  void signed(String template, Handler<RoutingContext> handler) {
    on(HttpMethod.POST, template, handler);
  }

  void get(String template, Handler<RoutingContext> handler) {
    on(HttpMethod.GET, template, access.needing(Role.VIEWER, handler));
  }

  void on(ApiRoute route, Handler<RoutingContext> handler) {
    Handler<RoutingContext> whole =
        ctx -> {
          // The router takes a path for the same with a slash behind it. For a change, that slash
          // stands before a name that is empty, and without it the change would be of everything.
          if (!route.method().equals("GET") && ctx.normalizedPath().endsWith("/")) {
            nothingHere(ctx);
          } else {
            handler.handle(ctx);
          }
        };
    on(HttpMethod.valueOf(route.method()), route.template(), access.needing(route, whole));
  }

  private void on(HttpMethod method, String template, Handler<RoutingContext> handler) {
    operations.add(method + " " + template);
    String path = template.replace('{', ':').replace("}", "");
    Set<String> known = methods.computeIfAbsent(path, p -> new TreeSet<>());
    Handler<RoutingContext> named =
        ctx -> {
          HttpMetrics.operation(ctx, template);
          handler.handle(ctx);
        };
    known.add(method.name());
    router.route(method, path).handler(named);
    if (method.equals(HttpMethod.GET)) {
      known.add("HEAD");
      router.route(HttpMethod.HEAD, path).handler(named);
    }
  }

  /** Returns the mounted operations, as {@code "GET /path/{parameter}"}. */
  Set<String> operations() {
    return operations;
  }

  /** Answers 405 to other methods of what is mounted, except of the root. */
  void refuseOtherMethods() {
    methods.forEach(
        (path, known) -> {
          if (!path.equals("/")) {
            String list = String.join(", ", known);
            router
                .route(path)
                .handler(
                    ctx -> {
                      HttpMetrics.operation(ctx, path);
                      ctx.response().putHeader("Allow", list);
                      refuse(ctx, new ApiException(405, "this path takes " + list));
                    });
          }
        });
  }

  /**
   * Mounts what answers all requests that nothing has answered, and the answer to those that fail.
   * Must be called last.
   */
  void otherwise(Handler<RoutingContext> handler) {
    router.route().handler(handler);
    router
        .route()
        .failureHandler(
            ctx -> {
              if (!ctx.response().ended()) {
                Throwable failure = ctx.failure();
                refuse(
                    ctx,
                    failure != null && ctx.statusCode() == 500
                        ? ApiException.of(failure)
                        : new ApiException(ctx.statusCode(), "the request cannot be read"));
              }
            });
  }

  static void nothingHere(RoutingContext ctx) {
    refuse(ctx, ApiException.notFound("there is nothing at this path"));
  }

  static void refuse(RoutingContext ctx, ApiException why) {
    AsyncResponder.send(ctx, HttpReply.problem(why));
  }

  /** Returns the handler of all requests. */
  Handler<HttpServerRequest> handler() {
    return request -> {
      if (isReadable(request)) {
        router.handle(request);
      } else {
        secure(request.response());
        AsyncResponder.send(
            request.response(),
            HttpReply.problem(ApiException.badRequest("the URL cannot be read")));
      }
    };
  }

  /**
   * Returns true when the request is well-formed. The router would log an error for a client's
   * mistake, and replace what is not UTF-8.
   */
  private static boolean isReadable(HttpServerRequest request) {
    try {
      return request.path() != null
          && request.path().startsWith("/")
          && isUtf8(URLDecoder.decode(request.uri(), StandardCharsets.ISO_8859_1));
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  /** Returns true when bytes, one in each character, are UTF-8. */
  private static boolean isUtf8(String bytes) {
    byte[] utf8 = bytes.getBytes(StandardCharsets.ISO_8859_1);
    return !Utf8.decode(utf8, Integer.MAX_VALUE, "").hasErrors();
  }
}
