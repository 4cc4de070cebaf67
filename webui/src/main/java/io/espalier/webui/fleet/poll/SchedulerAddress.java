package io.espalier.webui.fleet.poll;

import java.net.URI;

/**
 * One scheduler of the list.
 *
 * @param id stable and safe in paths: letters, digits, dots, dashes, underscores
 * @param name for people
 * @param uri scheme, host and port; nothing else
 */
public record SchedulerAddress(String id, String name, URI uri) {
  /** Returns the host for connections: without the brackets of IPv6. */
  public String host() {
    String host = uri.getHost();
    return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
  }

  public boolean isTls() {
    return "https".equals(uri.getScheme());
  }

  public int port() {
    int standard = isTls() ? 443 : 80;
    return uri.getPort() < 0 ? standard : uri.getPort();
  }
}
