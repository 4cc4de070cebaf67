package io.espalier.webui.tls;

import io.vertx.core.http.ClientAuth;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.KeyCertOptions;
import io.vertx.core.net.ServerSSLOptions;
import io.vertx.core.net.TrustOptions;
import java.util.concurrent.TimeUnit;

/** Converts certificates to the TLS options of Vert.x. */
public final class TlsSetup {
  private static final long HANDSHAKE_SECONDS = 5;

  private TlsSetup() {}

  /**
   * Returns server options. Client certificates are optional; one of an unknown authority ends the
   * handshake.
   */
  public static ServerSSLOptions server(TlsSource.Material material) {
    ServerSSLOptions options = new ServerSSLOptions();
    options
        .setKeyCertOptions(KeyCertOptions.wrap(material.keys()))
        .setSslHandshakeTimeout(HANDSHAKE_SECONDS)
        .setSslHandshakeTimeoutUnit(TimeUnit.SECONDS);
    material
        .clients()
        .ifPresent(
            trust ->
                options
                    .setClientAuth(ClientAuth.REQUEST)
                    .setTrustOptions(TrustOptions.wrap(trust)));
    return options;
  }

  /** Configures a new server, which speaks HTTP/1.1 only. */
  public static void server(HttpServerOptions options, TlsSource.Material material) {
    ServerSSLOptions ssl = server(material);
    options
        .setSsl(true)
        .setUseAlpn(false)
        .setKeyCertOptions(ssl.getKeyCertOptions())
        .setTrustOptions(ssl.getTrustOptions())
        .setClientAuth(ssl.getClientAuth())
        .setSslHandshakeTimeout(HANDSHAKE_SECONDS)
        .setSslHandshakeTimeoutUnit(TimeUnit.SECONDS);
  }

  /**
   * Configures a client that calls another scheduler of the group; the certificate must contain the
   * name that is called.
   */
  public static HttpClientOptions client(HttpClientOptions options, TlsSource.Material material) {
    options.setKeyCertOptions(KeyCertOptions.wrap(material.keys()));
    material.clients().ifPresent(trust -> options.setTrustOptions(TrustOptions.wrap(trust)));
    return options.setVerifyHost(true);
  }
}
