package io.espalier.webui.http;

import io.espalier.webui.security.AuditLog;
import io.espalier.webui.security.Credentials;
import io.espalier.webui.security.MemoryAuditLog;
import io.espalier.webui.tls.TlsSource;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * Authentication, rate limits and the audit log of a web server. The creator closes them, after the
 * server.
 *
 * @param credentials map callers to roles; polled by the server
 * @param audit gets every change and every refused one
 * @param tls empty: plain TCP; polled by the server
 * @param connecting limits of connections
 */
public record WebSecurity(
    Credentials credentials,
    AuditLog audit,
    Rates rates,
    Optional<TlsSource> tls,
    Connecting connecting) {
  private static final int KEPT_IN_MEMORY = 10_000;

  /**
   * The rate limits of one caller: a burst, and a sustained rate per second.
   *
   * @param changesAtOnce burst of changes by one caller: a name, or an address without
   *     authentication
   * @param failuresAtOnce burst of wrong tokens from one address
   */
  public record Rates(
      int changesAtOnce, double changesPerSecond, int failuresAtOnce, double failuresPerSecond) {
    public static final Rates DEFAULT = new Rates(500, 50, 10, 0.2);
  }

  /**
   * The limits of connections.
   *
   * @param atATime maximum number; more are closed at once
   * @param perAddress maximum number per address
   * @param requestWithin time in which a new connection must send the head of a request
   */
  public record Connecting(int atATime, int perAddress, Duration requestWithin) {
    public static final Connecting DEFAULT = new Connecting(2_048, 1_024, Duration.ofSeconds(10));
  }

  /** Allows every caller everything and records in memory. */
  public static WebSecurity open() {
    return new WebSecurity(
        Credentials.none(),
        new MemoryAuditLog(KEPT_IN_MEMORY),
        Rates.DEFAULT,
        Optional.empty(),
        Connecting.DEFAULT);
  }

  public WebSecurity withCredentials(Credentials newCredentials) {
    return new WebSecurity(newCredentials, audit, rates, tls, connecting);
  }

  public WebSecurity withAudit(AuditLog newAudit) {
    return new WebSecurity(credentials, newAudit, rates, tls, connecting);
  }

  public WebSecurity withRates(Rates newRates) {
    return new WebSecurity(credentials, audit, newRates, tls, connecting);
  }

  public WebSecurity withTls(TlsSource newTls) {
    return new WebSecurity(credentials, audit, rates, Optional.of(newTls), connecting);
  }

  public WebSecurity withConnecting(Connecting newConnecting) {
    return new WebSecurity(credentials, audit, rates, tls, newConnecting);
  }

  /** Returns the current problems by subject; empty text: none. */
  public Map<String, String> problems() {
    return Map.of(
        "tokens file", credentials.problem().orElse(""),
        "TLS files", tls.flatMap(TlsSource::problem).orElse(""),
        "audit log", audit.problem().orElse(""));
  }

  /** Rereads changed files; blocks meanwhile. */
  public void poll(Runnable onNewTls) {
    credentials.poll();
    if (tls.isPresent() && tls.get().poll()) {
      onNewTls.run();
    }
  }
}
