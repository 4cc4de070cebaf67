package io.espalier.webui;

import io.espalier.core.json.Json;
import io.espalier.webui.http.AsyncResponder;
import io.espalier.webui.http.AuthHandler;
import io.espalier.webui.http.CallbackHandler;
import io.espalier.webui.http.HostOriginHandler;
import io.espalier.webui.http.HttpReply;
import io.espalier.webui.security.Role;
import io.espalier.webui.tls.TlsSetup;
import io.espalier.webui.tls.TlsSource;
import io.espalier.webui.v1.ApiException;
import io.vertx.core.Handler;
import io.vertx.core.MultiMap;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.net.URI;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Routes the requests to a standby. It answers for its own health, forwards queries to the leader,
 * streams included, and redirects changes to the leader, so that the leader sees the caller.
 */
final class StandbyRouter {
  private static final Logger LOG = LoggerFactory.getLogger(StandbyRouter.class);

  /** Marks a forwarded request, to detect two schedulers that consider each other the leader. */
  private static final String HANDED_ON = "X-Espalier-Handed-On";

  private static final int CONNECT_MILLIS = 2_000;
  private static final int MAX_CONNECTIONS = 300;

  /** Headers of one connection, not of the message (RFC 9110, section 7.6.1). */
  private static final Set<String> HOP_BY_HOP =
      Set.of(
          "connection",
          "keep-alive",
          "proxy-authenticate",
          "proxy-authorization",
          "te",
          "trailer",
          "transfer-encoding",
          "upgrade");

  /** Headers that are evaluated here; on the leader they would name the wrong host. */
  private static final Set<String> OF_THIS_HOST =
      Set.of("host", "origin", "referer", "content-length", "expect");

  private final HostOriginHandler guard;
  private final AuthHandler access;
  private final Supplier<StandbyState> state;
  private final Supplier<Long> clock;
  private final Optional<TlsSource> tls;

  StandbyRouter(
      HostOriginHandler guard,
      AuthHandler access,
      Supplier<StandbyState> state,
      Optional<TlsSource> tls,
      Supplier<Long> clock) {
    this.guard = guard;
    this.access = access;
    this.state = state;
    this.tls = tls;
    this.clock = clock;
  }

  /** Creates the handler for all requests of one event loop. */
  Handler<HttpServerRequest> handler(Vertx vertx) {
    HttpClient client =
        vertx.createHttpClient(clientOptions(), new PoolOptions().setHttp1MaxSize(MAX_CONNECTIONS));
    Mounting mounting = new Mounting(Router.router(vertx), guard, access);
    mounting.open("/healthz", ctx -> AsyncResponder.send(ctx, HttpReply.json(200, about())));
    mounting.open("/readyz", this::ready);
    mounting.get("/metrics", this::metrics);
    // The page itself makes no query; the leader authorises the queries again, by the same file.
    for (String page : List.of("/", "/ui/*", "/favicon.svg")) {
      mounting.open(page, ctx -> toLeader(ctx, client));
    }
    // The leader checks the signature.
    mounting.signed(CallbackHandler.TEMPLATE, ctx -> toLeader(ctx, client));
    mounting.otherwise(access.needing(Role.VIEWER, ctx -> toLeader(ctx, client)));
    return mounting.handler();
  }

  private HttpClientOptions clientOptions() {
    HttpClientOptions options =
        new HttpClientOptions().setConnectTimeout(CONNECT_MILLIS).setKeepAlive(true);
    return tls.isPresent() ? TlsSetup.client(options, tls.get().current()) : options;
  }

  private Json.Obj about() {
    StandbyState now = state.get();
    return Json.object()
        .put("status", "up")
        .put("role", "standby")
        .put("standby_of", now.leaderName())
        .put("leader_url", now.leader().map(URI::toString).orElse(""))
        .put("problem", now.problem())
        .put("time_ms", clock.get())
        .build();
  }

  /** Reports ready as long as there is a leader to answer queries. */
  private void ready(RoutingContext ctx) {
    AsyncResponder.send(ctx, HttpReply.json(state.get().leader().isPresent() ? 200 : 503, about()));
  }

  private void metrics(RoutingContext ctx) {
    StandbyState now = state.get();
    AsyncResponder.send(
        ctx,
        new HttpReply(
            200,
            "text/plain; version=0.0.4; charset=utf-8",
            """
            # HELP espalier_leader Whether this scheduler leads
            # TYPE espalier_leader gauge
            espalier_leader{group="%1$s"} 0
            # HELP espalier_standby_leader_known Whether this standby knows a leader
            # TYPE espalier_standby_leader_known gauge
            espalier_standby_leader_known{group="%1$s"} %2$d
            """
                .formatted(
                    now.group().replace("\\", "\\\\").replace("\"", "\\\""),
                    now.leader().isPresent() ? 1 : 0),
            Map.of()));
  }

  private void toLeader(RoutingContext ctx, HttpClient client) {
    StandbyState now = state.get();
    HttpServerRequest request = ctx.request();
    boolean question =
        HttpMethod.GET.equals(request.method()) || HttpMethod.HEAD.equals(request.method());
    if (now.leader().isEmpty() || (question && request.headers().contains(HANDED_ON))) {
      nobodyLeads(ctx, now);
    } else if (question && !"/".equals(request.path()) && !AuthHandler.byCertificate(request)) {
      handOn(ctx, client, now.leader().get());
    } else {
      // A client certificate cannot be forwarded. The page is redirected like the changes, because
      // a browser allows it changes only at its own origin.
      AsyncResponder.send(
          ctx,
          HttpReply.redirect(
              now.leader().get() + request.uri(),
              "this scheduler stands by; the leader is " + now.leaderName(),
              Json.object().put("leader_url", now.leader().get().toString()).build()));
    }
  }

  private static void nobodyLeads(RoutingContext ctx, StandbyState now) {
    String why = now.problem().isEmpty() ? "" : ": " + now.problem();
    Mounting.refuse(
        ctx,
        new ApiException(
            503,
            now.leaderName().isEmpty()
                ? "no scheduler leads at the moment" + why
                : "the leader " + now.leaderName() + " cannot be asked" + why));
  }

  private static void handOn(RoutingContext ctx, HttpClient client, URI leader) {
    HttpServerRequest request = ctx.request();
    HttpServerResponse response = ctx.response();
    RequestOptions to =
        new RequestOptions()
            .setMethod(request.method())
            .setHost(leader.getHost())
            .setPort(leader.getPort())
            .setSsl("https".equals(leader.getScheme()))
            .setURI(request.uri());
    var unused =
        client
            .request(to)
            .compose(
                asking -> {
                  copy(request.headers(), asking.headers(), OF_THIS_HOST);
                  asking.putHeader(HANDED_ON, "1");
                  response.closeHandler(gone -> reset(asking));
                  return asking.send();
                })
            .compose(answer -> handBack(answer, response))
            .onFailure(
                failure -> {
                  if (response.headWritten()) {
                    // A truncated answer must not look complete.
                    request.connection().close();
                  } else if (!response.closed()) {
                    LOG.debug("the leader {} was not reached", leader, failure);
                    Mounting.refuse(
                        ctx, new ApiException(503, "the leader " + leader + " does not answer"));
                  }
                });
  }

  private static io.vertx.core.Future<Void> handBack(
      HttpClientResponse answer, HttpServerResponse response) {
    response.setStatusCode(answer.statusCode());
    copy(answer.headers(), response.headers(), Set.of());
    if (!answer.headers().contains("Content-Length")) {
      response.setChunked(true);
    }
    return answer.pipeTo(response);
  }

  private static void reset(HttpClientRequest asking) {
    var unused = asking.reset();
  }

  private static void copy(MultiMap from, MultiMap to, Set<String> not) {
    for (String name : from.names()) {
      String plain = name.toLowerCase(Locale.ROOT);
      if (!HOP_BY_HOP.contains(plain) && !not.contains(plain) && !plain.startsWith("sec-fetch-")) {
        to.remove(name);
        from.getAll(name).forEach(value -> to.add(name, value));
      }
    }
  }
}
