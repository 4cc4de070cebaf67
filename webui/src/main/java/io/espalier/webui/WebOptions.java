package io.espalier.webui;

import io.espalier.webui.http.IdempotencyCache;
import io.espalier.webui.http.WebSecurity;
import io.espalier.webui.v1.ServerIdentity;
import io.espalier.webui.whatif.WhatIfRunner;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Set;

/**
 * The listening address and the limits of a web server.
 *
 * @param host name or address to bind
 * @param port 0: any free one
 * @param allowedHosts names accepted in {@code Host} besides those of loopback and the bound one;
 *     {@code *} allows all. This rejects names that lead a browser here by DNS rebinding
 * @param identity describes this process
 * @param clock for ages and running times
 * @param security authentication, rate limits and the audit log
 * @param answers keeps the answers to requests with a key over restarts
 * @param whatIfs runs what-ifs; closed by the caller
 */
public record WebOptions(
    String host,
    int port,
    Set<String> allowedHosts,
    ServerIdentity identity,
    Limits limits,
    InstantSource clock,
    WebSecurity security,
    IdempotencyCache.Store answers,
    WhatIfRunner whatIfs) {
  public WebOptions {
    allowedHosts = Set.copyOf(allowedHosts);
    if (port < 0 || port > 65535) {
      throw new IllegalArgumentException("port " + port);
    }
  }

  /**
   * The limits of the server.
   *
   * @param bodyBytes a larger request body is refused with 413
   * @param requests maximum number of concurrent queries; more are refused with 429
   * @param streams maximum number of concurrent clients of the event stream; more are refused with
   *     429
   * @param idle a connection without traffic is closed after this time
   * @param answerWithin a query that takes longer is answered with 504
   * @param healthyWithin {@code /healthz} fails when the latest view is older
   */
  public record Limits(
      int bodyBytes,
      int requests,
      int streams,
      Duration idle,
      Duration answerWithin,
      Duration healthyWithin) {
    public static final Limits DEFAULT =
        new Limits(
            1 << 20,
            256,
            256,
            Duration.ofSeconds(60),
            Duration.ofSeconds(30),
            Duration.ofSeconds(30));
  }

  /** Returns the defaults with the given address. */
  public static WebOptions at(String host, int port) {
    return new WebOptions(
        host,
        port,
        Set.of(),
        ServerIdentity.UNNAMED,
        Limits.DEFAULT,
        InstantSource.system(),
        WebSecurity.open(),
        IdempotencyCache.Store.NONE,
        WhatIfRunner.NONE);
  }

  public WebOptions withAllowedHosts(Set<String> newHosts) {
    return new WebOptions(
        host, port, newHosts, identity, limits, clock, security, answers, whatIfs);
  }

  public WebOptions withIdentity(ServerIdentity newIdentity) {
    return new WebOptions(
        host, port, allowedHosts, newIdentity, limits, clock, security, answers, whatIfs);
  }

  public WebOptions withLimits(Limits newLimits) {
    return new WebOptions(
        host, port, allowedHosts, identity, newLimits, clock, security, answers, whatIfs);
  }

  public WebOptions withClock(InstantSource newClock) {
    return new WebOptions(
        host, port, allowedHosts, identity, limits, newClock, security, answers, whatIfs);
  }

  public WebOptions withSecurity(WebSecurity newSecurity) {
    return new WebOptions(
        host, port, allowedHosts, identity, limits, clock, newSecurity, answers, whatIfs);
  }

  public WebOptions withAnswers(IdempotencyCache.Store newAnswers) {
    return new WebOptions(
        host, port, allowedHosts, identity, limits, clock, security, newAnswers, whatIfs);
  }

  public WebOptions withWhatIfs(WhatIfRunner newWhatIfs) {
    return new WebOptions(
        host, port, allowedHosts, identity, limits, clock, security, answers, newWhatIfs);
  }
}
