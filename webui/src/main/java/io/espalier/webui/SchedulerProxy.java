package io.espalier.webui;

import io.espalier.core.json.Json;
import io.espalier.webui.fleet.Fleet;
import io.espalier.webui.fleet.poll.FleetClient;
import io.espalier.webui.fleet.poll.FleetSchedulerView;
import io.espalier.webui.fleet.poll.SchedulerAddress;
import io.espalier.webui.http.AsyncResponder;
import io.espalier.webui.http.AuthHandler;
import io.espalier.webui.http.HttpReply;
import io.espalier.webui.security.Principal;
import io.espalier.webui.v1.ApiException;
import io.espalier.webui.whatif.WhatIfHandler;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import io.vertx.ext.web.RoutingContext;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Forwards requests below {@code /s/ID/} to that scheduler of the list, streams included. A
 * scheduler's answer never becomes a page or a script here: the page is this process's own, and the
 * proxy passes on only data, with only the headers that the data needs.
 */
final class SchedulerProxy {
  static final String PREFIX = "/s/";

  private static final Logger LOG = LoggerFactory.getLogger(SchedulerProxy.class);
  private static final int CONNECTIONS_EACH = 64;
  private static final int MOST_AT_A_TIME = 1_024;

  /**
   * Longer than a scheduler itself takes for its slowest answer, which may say that it was late.
   */
  private static final Duration LONGEST = WhatIfHandler.WITHIN.plusSeconds(2);

  /** The request headers that schedulers evaluate; none names this host or the browser's page. */
  private static final Set<String> ASKED_WITH =
      Set.of(
          "accept",
          "accept-encoding",
          "content-type",
          "content-length",
          "idempotency-key",
          "if-match",
          "if-none-match",
          "last-event-id");

  private static final Set<String> ANSWERED_WITH =
      Set.of(
          "allow",
          "cache-control",
          "content-encoding",
          "content-length",
          "content-type",
          "etag",
          "retry-after",
          "vary",
          "www-authenticate");

  /** Content types that a browser treats as data. */
  private static final Set<String> DATA =
      Set.of(
          "application/json",
          "application/problem+json",
          "application/yaml",
          "text/event-stream",
          "text/plain");

  private final Fleet fleet;
  private final HttpClient client;
  private final boolean passTokens;
  private final AtomicInteger open;

  /**
   * Creates the proxy of one event loop.
   *
   * @param passTokens whether to pass the tokens of callers on to the schedulers; not when this
   *     process has its own
   * @param open the number of requests that all loops are forwarding
   */
  SchedulerProxy(Vertx vertx, Fleet fleet, boolean passTokens, AtomicInteger open) {
    this.fleet = fleet;
    this.client =
        vertx.createHttpClient(
            FleetClient.http(fleet.options()), new PoolOptions().setHttp1MaxSize(CONNECTIONS_EACH));
    this.passTokens = passTokens && fleet.options().access().token().isEmpty();
    this.open = open;
  }

  /** Returns true when the list contains such a scheduler. */
  boolean knows(String id) {
    return fleet.view().host(id) != null;
  }

  /**
   * Forwards a request. Must be called before the handler of the request returns.
   *
   * @param path of an operation of the scheduler, for which the caller is authorised
   */
  void handOn(RoutingContext ctx, String id, String path) {
    FleetSchedulerView host = fleet.view().host(id);
    if (host == null) {
      AsyncResponder.send(
          ctx, HttpReply.problem(ApiException.notFound("no such scheduler is in the list")));
      return;
    }
    if (open.incrementAndGet() > MOST_AT_A_TIME) {
      open.decrementAndGet();
      AsyncResponder.send(
          ctx, HttpReply.problem(new ApiException(429, "too many requests at a time")));
      return;
    }
    ctx.addEndHandler(end -> open.decrementAndGet());
    send(ctx, host.address(), path);
  }

  private void send(RoutingContext ctx, SchedulerAddress to, String path) {
    HttpServerRequest request = ctx.request();
    HttpServerResponse response = ctx.response();
    String query = request.query();
    request.pause();
    RequestOptions asked =
        new RequestOptions()
            .setMethod(request.method())
            .setHost(to.host())
            .setPort(to.port())
            .setSsl(to.isTls())
            .setConnectTimeout(fleet.options().connect().toMillis())
            .setURI(query == null ? path : path + "?" + query);
    Future<Void> done =
        client
            .request(asked)
            .compose(
                asking -> {
                  headers(request, asking);
                  asking.putHeader(Principal.ROLE_AT_MOST, AuthHandler.caller(ctx).label());
                  response.closeHandler(gone -> reset(asking));
                  return answer(request, asking, to);
                })
            .compose(answer -> handBack(ctx, answer));
    Future<Void> failed =
        done.onFailure(
            failure -> {
              if (response.headWritten()) {
                // A truncated answer must not look complete.
                request.connection().close();
              } else if (!response.closed()) {
                LOG.debug("scheduler {} was not reached", to.id(), failure);
                AsyncResponder.send(
                    ctx,
                    HttpReply.problem(
                        failure instanceof ApiException known
                            ? known
                            : new ApiException(
                                502, "scheduler " + to.name() + " does not answer")));
              }
            });
    LOG.trace("{} to {}: {}", path, to.id(), failed);
  }

  private void headers(HttpServerRequest request, HttpClientRequest asking) {
    for (String name : request.headers().names()) {
      if (ASKED_WITH.contains(name.toLowerCase(Locale.ROOT))) {
        asking.putHeader(name, request.headers().getAll(name));
      }
    }
    Optional<String> token = fleet.options().access().token();
    String given = request.getHeader("Authorization");
    if (token.isPresent()) {
      asking.putHeader("Authorization", "Bearer " + token.get());
    } else if (passTokens && given != null) {
      asking.putHeader("Authorization", given);
    }
  }

  /**
   * Sends a request and returns the head of the answer. The caller may send a body slowly, so the
   * time begins with its end.
   */
  private Future<HttpClientResponse> answer(
      HttpServerRequest request, HttpClientRequest asking, SchedulerAddress to) {
    boolean hasBody = hasBody(request);
    Future<Void> received = hasBody ? request.end() : Future.succeededFuture();
    Future<HttpClientResponse> head = hasBody ? asking.send(request) : asking.send();
    long millis = patience(request.method()).toMillis();
    Promise<HttpClientResponse> answer = Promise.promise();
    Future<HttpClientResponse> awaited = head.onComplete(answer::tryComplete, answer::tryFail);
    Future<HttpClientResponse> inTime =
        received
            .compose(end -> awaited.timeout(millis, TimeUnit.MILLISECONDS))
            .onFailure(
                failure -> {
                  if (failure instanceof TimeoutException
                      && answer.tryFail(
                          new ApiException(
                              504,
                              "scheduler "
                                  + to.name()
                                  + " did not answer within "
                                  + millis
                                  + " ms"))) {
                    reset(asking);
                  }
                });
    LOG.trace("{}", inTime);
    return answer.future();
  }

  /** What only reads is waited for as in the polls; other work may take a scheduler longer. */
  private Duration patience(HttpMethod method) {
    Duration receive = fleet.options().receive();
    boolean reads = HttpMethod.GET.equals(method) || HttpMethod.HEAD.equals(method);
    return reads && receive.compareTo(LONGEST) < 0 ? receive : LONGEST;
  }

  private static boolean hasBody(HttpServerRequest request) {
    return request.headers().contains("Content-Length")
        || request.headers().contains("Transfer-Encoding");
  }

  private Future<Void> handBack(RoutingContext ctx, HttpClientResponse answer) {
    HttpServerResponse response = ctx.response();
    int status = answer.statusCode();
    if (status >= 300 && status < 400 && status != 304) {
      redirect(ctx, answer);
      abandon(answer);
      return Future.succeededFuture();
    }
    String type = answer.getHeader("Content-Type");
    if (type != null && !DATA.contains(plain(type))) {
      abandon(answer);
      return Future.failedFuture(
          new ApiException(502, "the scheduler answered with something that is no data"));
    }
    response.setStatusCode(status);
    for (String name : answer.headers().names()) {
      String lower = name.toLowerCase(Locale.ROOT);
      if (ANSWERED_WITH.contains(lower) && (passTokens || !lower.equals("www-authenticate"))) {
        response.putHeader(name, answer.headers().getAll(name));
      }
    }
    if (HttpMethod.HEAD.equals(ctx.request().method()) || status == 304 || status == 204) {
      return response.end();
    }
    if (!answer.headers().contains("Content-Length")) {
      response.setChunked(true);
    }
    return answer.pipeTo(response);
  }

  /**
   * Rewrites the redirection of a standby to its leader so that it leads here, if the list contains
   * the leader.
   */
  private void redirect(RoutingContext ctx, HttpClientResponse answer) {
    String location = String.valueOf(answer.getHeader("Location"));
    SchedulerAddress leader = listed(location);
    if (leader == null) {
      AsyncResponder.send(
          ctx,
          HttpReply.problem(
              new ApiException(
                  503,
                  "this scheduler stands by, and its leader is not in the list of schedulers")));
      return;
    }
    AsyncResponder.send(
        ctx,
        HttpReply.redirect(
            PREFIX + leader.id() + pathOf(location),
            "this scheduler stands by; the leader is " + leader.name(),
            Json.Obj.EMPTY));
  }

  private @Nullable SchedulerAddress listed(String location) {
    try {
      URI uri = new URI(location);
      for (FleetSchedulerView host : fleet.view().hosts()) {
        URI known = host.address().uri();
        if (known.getScheme().equalsIgnoreCase(uri.getScheme())
            && known.getAuthority().equalsIgnoreCase(uri.getAuthority())) {
          return host.address();
        }
      }
    } catch (URISyntaxException e) {
      LOG.debug("a scheduler redirects to something that is no URI", e);
    }
    return null;
  }

  private static String pathOf(String location) {
    URI uri = URI.create(location);
    String path = uri.getRawPath().isEmpty() ? "/" : uri.getRawPath();
    return uri.getRawQuery() == null ? path : path + "?" + uri.getRawQuery();
  }

  private static String plain(String type) {
    int semicolon = type.indexOf(';');
    return (semicolon < 0 ? type : type.substring(0, semicolon)).trim().toLowerCase(Locale.ROOT);
  }

  private static void abandon(HttpClientResponse answer) {
    answer.exceptionHandler(gone -> LOG.trace("abandoned", gone));
    reset(answer.request());
  }

  private static void reset(HttpClientRequest asking) {
    Future<Void> done = asking.reset();
    LOG.trace("{}", done);
  }
}
