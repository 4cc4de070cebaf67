package io.espalier.webui.http;

import io.espalier.webui.security.Credentials;
import io.espalier.webui.security.Principal;
import io.espalier.webui.security.RateLimiter;
import io.espalier.webui.security.Role;
import io.espalier.webui.v1.ApiException;
import io.espalier.webui.v1.ApiRoute;
import io.vertx.core.Handler;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.SocketAddress;
import io.vertx.ext.web.RoutingContext;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.cert.X509Certificate;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.BiPredicate;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import javax.security.auth.x500.X500Principal;
import org.jspecify.annotations.Nullable;

/**
 * Authenticates and authorises callers, and limits their rates. It uses no cookies, so that a
 * browser sends credentials only when explicitly told to.
 */
public final class AuthHandler {
  private static final String CALLER = "espalier.caller";
  private static final int MOST_KNOWN = 10_000;

  private final Credentials credentials;
  private final AuditHandler trail;
  private final RateLimiter changes;
  private final RateLimiter failures;
  private final BiPredicate<RoutingContext, Principal> steers;

  /**
   * The callers that were admitted, with their addresses: wrong tokens of others from the same
   * address do not lock them out.
   */
  private final Map<String, Boolean> known =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
          return size() > MOST_KNOWN;
        }
      };

  /** Creates a handler for a server on which nobody steers the jobs of some queues only. */
  public AuthHandler(WebSecurity security, AuditHandler trail) {
    this(security, trail, (ctx, caller) -> false);
  }

  /**
   * @param steers returns whether a caller who steers the jobs of some queues is let through to an
   *     operation of operators on the job that the path names. Must not block
   */
  public AuthHandler(
      WebSecurity security, AuditHandler trail, BiPredicate<RoutingContext, Principal> steers) {
    this.steers = steers;
    this.credentials = security.credentials();
    this.trail = trail;
    WebSecurity.Rates rates = security.rates();
    this.changes =
        new RateLimiter(rates.changesAtOnce(), rates.changesPerSecond(), System::nanoTime);
    this.failures =
        new RateLimiter(rates.failuresAtOnce(), rates.failuresPerSecond(), System::nanoTime);
  }

  /** Admits callers with the role to a query. */
  public Handler<RoutingContext> needing(Role role, Handler<RoutingContext> handler) {
    return guarded(role, false, handler, (ctx, refusal) -> {});
  }

  /**
   * Admits authorised callers to an operation. A change counts against their rate, and a refused
   * one is recorded.
   */
  public Handler<RoutingContext> needing(ApiRoute route, Handler<RoutingContext> handler) {
    return guarded(
        route.role(),
        route.changes(),
        handler,
        (ctx, refusal) -> {
          if (route.changes()) {
            trail.refused(
                refusal.who(),
                address(ctx),
                AuditHandler.action(route.method(), route.template()),
                AuditHandler.target(route.template(), ctx.pathParams()),
                refusal.failure());
          }
        });
  }

  /** Admits callers that may read, with a batch that may turn out to contain changes. */
  public Handler<RoutingContext> batch(Handler<RoutingContext> handler) {
    return guarded(
        Role.VIEWER,
        false,
        handler,
        (ctx, refusal) ->
            trail.refused(refusal.who(), address(ctx), "batch", "", refusal.failure()));
  }

  private Handler<RoutingContext> guarded(
      Role role,
      boolean change,
      Handler<RoutingContext> handler,
      BiConsumer<RoutingContext, Refusal> onRefusal) {
    return ctx -> {
      Refusal refusal = refusal(ctx, role, change);
      if (refusal == null) {
        handler.handle(ctx);
        return;
      }
      onRefusal.accept(ctx, refusal);
      AsyncResponder.send(ctx, refusal.reply());
    };
  }

  /** Returns the caller of an admitted request. */
  public static Principal caller(RoutingContext ctx) {
    Principal caller = ctx.get(CALLER);
    if (caller == null) {
      throw new IllegalStateException("nobody was let in");
    }
    return caller;
  }

  /**
   * Admits a batch as a whole or not at all, once its changes are known.
   *
   * @param wanted the roles that its changes need, by handler
   * @throws ApiException when the caller lacks a role
   */
  public void admit(RoutingContext ctx, List<Map.Entry<String, Role>> wanted) {
    if (wanted.isEmpty()) {
      return;
    }
    Principal caller = caller(ctx);
    ApiException failure = null;
    for (Map.Entry<String, Role> change : wanted) {
      if (!caller.role().covers(change.getValue())) {
        failure = lacking(caller, change.getValue());
        break;
      }
    }
    if (failure == null && changes.take(key(ctx, caller), wanted.size()) > 0) {
      failure = new ApiException(429, "too many changes in a short time");
    }
    if (failure != null) {
      String handlers =
          String.join(" ", new TreeSet<>(wanted.stream().map(Map.Entry::getKey).toList()));
      trail.refused(Optional.of(caller), address(ctx), "batch", handlers, failure);
      throw failure;
    }
  }

  private @Nullable Refusal refusal(RoutingContext ctx, Role role, boolean change) {
    Object found = identified(ctx);
    if (found instanceof Refusal refusal) {
      return refusal;
    }
    Principal caller = limited((Principal) found, ctx.request());
    ctx.put(CALLER, caller);
    if (!caller.role().covers(role) && !(Role.OPERATOR.covers(role) && steers(ctx, caller))) {
      return new Refusal(Optional.of(caller), lacking(caller, role), Map.of());
    }
    long seconds = change ? changes.take(key(ctx, caller), 1) : 0;
    return seconds == 0
        ? null
        : new Refusal(
            Optional.of(caller),
            new ApiException(429, "too many changes in a short time"),
            Map.of("Retry-After", Long.toString(seconds)));
  }

  private boolean steers(RoutingContext ctx, Principal caller) {
    return !caller.queues().isEmpty()
        && ctx.pathParams().get("job") != null
        && steers.test(ctx, caller);
  }

  /**
   * Returns the caller with no more rights than the request asks for. A forwarding server, whose
   * own rights may be greater, sends those of its caller.
   */
  private static Principal limited(Principal caller, HttpServerRequest request) {
    Principal least = caller;
    for (String label : request.headers().getAll(Principal.ROLE_AT_MOST)) {
      least = least.atMost(label);
    }
    return least;
  }

  private static ApiException lacking(Principal caller, Role role) {
    return new ApiException(
        403,
        caller.name()
            + " is "
            + (caller.role() == Role.VIEWER ? "a " : "an ")
            + caller.role().label()
            + (caller.queues().isEmpty()
                ? ""
                : ", and an operator of the jobs in "
                    + String.join(", ", new TreeSet<>(caller.queues())))
            + "; this needs the role "
            + role.label());
  }

  private static String key(RoutingContext ctx, Principal caller) {
    return caller.authenticated() ? "name " + caller.name() : "address " + network(address(ctx));
  }

  /** Returns a {@link Principal} or a {@link Refusal}. */
  private Object identified(RoutingContext ctx) {
    Object found = proven(ctx);
    return found instanceof Principal peer ? speaking(peer, ctx.request()) : found;
  }

  /** Returns for whom a peer speaks: for itself or, as a trusted proxy, for who has signed on. */
  private Object speaking(Principal peer, HttpServerRequest request) {
    List<String> users = request.headers().getAll(Principal.USER);
    boolean trusted = peer.authenticated() && credentials.tokens().isProxy(peer);
    if (!trusted) {
      return users.isEmpty()
          ? peer
          : forbidden(peer.name() + " is no trusted proxy, and must not send " + Principal.USER);
    }
    if (users.size() != 1 || users.get(0).isEmpty()) {
      return forbidden("the proxy " + peer.name() + " has to say who asks, in " + Principal.USER);
    }
    Optional<Principal> person = credentials.tokens().ofSignOn(users.get(0));
    return person.isPresent()
        ? person.get()
        : forbidden("who has signed on has no role: name them in the tokens file, with sso");
  }

  private static Refusal forbidden(String detail) {
    return new Refusal(Optional.empty(), new ApiException(403, detail), Map.of());
  }

  /** Returns the {@link Principal} that the request proves, or a {@link Refusal}. */
  private Object proven(RoutingContext ctx) {
    if (!credentials.required()) {
      return Principal.ANYBODY;
    }
    HttpServerRequest request = ctx.request();
    List<String> given = request.headers().getAll("Authorization");
    if (given.isEmpty()) {
      X500Principal subject = subject(request);
      if (subject == null) {
        return unknown("a token is needed: Authorization: Bearer TOKEN", "");
      }
      Optional<Principal> owner = credentials.tokens().ofCertificate(subject);
      return owner.isPresent()
          ? owner.get()
          : forbidden(
              "the certificate of "
                  + subject.getName()
                  + " has no role: name it in the tokens file as cert:"
                  + subject.getName());
    }
    String network = network(address(ctx));
    String token = given.size() == 1 ? token(given.get(0)) : "";
    Optional<Principal> owner =
        token.isEmpty() ? Optional.empty() : credentials.tokens().ofToken(token);
    long seconds = failures.wait(network);
    if (seconds > 0 && !(owner.isPresent() && isKnown(network, owner.get()))) {
      // A correct guess must look like a wrong one.
      return new Refusal(
          Optional.empty(),
          new ApiException(429, "too many wrong tokens came from this address"),
          Map.of("Retry-After", Long.toString(seconds)));
    }
    if (owner.isEmpty()) {
      failures.take(network, 1);
      return unknown(
          token.isEmpty()
              ? "the Authorization header must be: Bearer TOKEN"
              : "the token is not known",
          ", error=\"invalid_token\"");
    }
    remember(network, owner.get());
    return owner.get();
  }

  private static Refusal unknown(String detail, String error) {
    return new Refusal(
        Optional.empty(),
        new ApiException(401, detail),
        Map.of("WWW-Authenticate", "Bearer realm=\"espalier\"" + error));
  }

  /** Returns the token; empty when the header is not a bearer token. */
  private static String token(String header) {
    String scheme = "bearer ";
    return header.toLowerCase(Locale.ROOT).startsWith(scheme)
        ? header.substring(scheme.length()).strip()
        : "";
  }

  private static @Nullable X500Principal subject(HttpServerRequest request) {
    SSLSession session = request.isSSL() ? request.sslSession() : null;
    if (session == null) {
      return null;
    }
    try {
      return session.getPeerCertificates()[0] instanceof X509Certificate certificate
          ? certificate.getSubjectX500Principal()
          : null;
    } catch (SSLPeerUnverifiedException e) {
      return null;
    }
  }

  private synchronized boolean isKnown(String network, Principal owner) {
    return known.containsKey(network + " " + owner.name());
  }

  private synchronized void remember(String network, Principal owner) {
    known.put(network + " " + owner.name(), true);
  }

  public static String address(RoutingContext ctx) {
    SocketAddress from = ctx.request().remoteAddress();
    String host = from == null ? null : from.hostAddress();
    return host == null ? "" : host;
  }

  /**
   * Returns the network of an address: a single IPv6 household has 2^64 addresses, which count as
   * one.
   */
  static String network(String address) {
    if (!address.contains(":")) {
      return address;
    }
    String plain = address.split("%", 2)[0];
    try {
      byte[] bytes = InetAddress.getByName(plain).getAddress();
      return bytes.length == 16 ? HexFormat.of().formatHex(bytes, 0, 8) + "/64" : plain;
    } catch (UnknownHostException e) {
      return plain;
    }
  }

  /** A refusal with its reason. */
  private record Refusal(
      Optional<Principal> who, ApiException failure, Map<String, String> headers) {
    HttpReply reply() {
      HttpReply plain = HttpReply.problem(failure);
      Map<String, String> all = new HashMap<>(plain.headers());
      all.putAll(headers);
      return new HttpReply(plain.status(), plain.type(), plain.text(), all);
    }
  }

  /** Returns true when the caller authenticated with a certificate instead of a token. */
  public static boolean byCertificate(HttpServerRequest request) {
    return !request.headers().contains("Authorization") && subject(request) != null;
  }
}
