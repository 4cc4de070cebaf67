package io.espalier.webui.http;

import io.espalier.webui.security.AuditLog;
import io.espalier.webui.security.Credentials;
import io.espalier.webui.security.MemoryAuditLog;
import io.espalier.webui.tls.TlsSource;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * Who is let in, how much they may change, and where that is recorded. Whoever makes these closes
 * them, after the server.
 *
 * @param credentials who may do what; polled by the server
 * @param audit gets every change and every refused one
 * @param tls empty: plain TCP; polled by the server
 * @param connecting what connections may cost
 */
public record WebSecurity(
    Credentials credentials,
    AuditLog audit,
    Rates rates,
    Optional<TlsSource> tls,
    Connecting connecting) {
  private static final int KEPT_IN_MEMORY = 10_000;

  /**
   * How often one caller may do something: so many at once, then so many a second.
   *
   * @param changesAtOnce by one caller: a name, or an address without authentication
   * @param failuresAtOnce wrong tokens from one address
   */
  public record Rates(
      int changesAtOnce, double changesPerSecond, int failuresAtOnce, double failuresPerSecond) {
    public static final Rates DEFAULT = new Rates(500, 50, 10, 0.2);
  }

  /**
   * What connections may cost.
   *
   * @param atATime more are closed at once
   * @param perAddress of those
   * @param requestWithin a new connection must have sent the head of a request by then
   */
  public record Connecting(int atATime, int perAddress, Duration requestWithin) {
    public static final Connecting DEFAULT = new Connecting(2_048, 1_024, Duration.ofSeconds(10));
  }

  /** Everybody may do everything, recorded in memory. */
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

  /** What is wrong at the moment, by what it is about; empty text: nothing. */
  public Map<String, String> problems() {
    return Map.of(
        "tokens file", credentials.problem().orElse(""),
        "TLS files", tls.flatMap(TlsSource::problem).orElse(""),
        "audit log", audit.problem().orElse(""));
  }

  /** Reads again what has changed; blocks for as long as that takes. */
  public void poll(Runnable onNewTls) {
    credentials.poll();
    if (tls.isPresent() && tls.get().poll()) {
      onNewTls.run();
    }
  }
}
