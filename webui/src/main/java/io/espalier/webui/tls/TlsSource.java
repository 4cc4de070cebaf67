package io.espalier.webui.tls;

import java.util.Optional;
import javax.net.ssl.X509KeyManager;
import javax.net.ssl.X509TrustManager;

/** Certificates that may be replaced while they are in use. For any thread. */
public interface TlsSource {
  /**
   * What a server shows and believes.
   *
   * @param keys its certificate, with its key
   * @param clients who may vouch for clients; empty: clients show nothing
   */
  record Material(X509KeyManager keys, Optional<X509TrustManager> clients) {}

  /** What is in force. */
  Material current();

  /**
   * Looks for replacements; may block for as long as reading files takes.
   *
   * @return whether {@link #current} is another one now
   */
  boolean poll();

  /** Why the newest files are not in force. */
  Optional<String> problem();
}
