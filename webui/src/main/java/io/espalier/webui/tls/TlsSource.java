package io.espalier.webui.tls;

import java.util.Optional;
import javax.net.ssl.X509KeyManager;
import javax.net.ssl.X509TrustManager;

/** Provides certificates that may be replaced while they are in use. Thread-safe. */
public interface TlsSource {
  /**
   * The certificates of a server and the authorities it trusts.
   *
   * @param keys its certificate, with its key
   * @param clients authorities of client certificates; empty: clients have none
   */
  record Material(X509KeyManager keys, Optional<X509TrustManager> clients) {}

  /** Returns the certificates in force. */
  Material current();

  /**
   * Checks for replacements; may block while it reads files.
   *
   * @return true when {@link #current} has changed
   */
  boolean poll();

  /** Describes why the newest files are not in force. */
  Optional<String> problem();
}
