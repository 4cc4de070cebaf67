package io.espalier.server.app.options;

/** The address to which a listener binds. */
public record HostPort(String host, int port) {
  /**
   * Parses an address.
   *
   * @throws IllegalArgumentException for anything but {@code HOST:PORT} or {@code [IPv6]:PORT}
   */
  public static HostPort parse(String text) {
    int colon = text.lastIndexOf(':');
    try {
      int port = Integer.parseInt(text.substring(colon + 1));
      String host = colon < 0 ? "" : text.substring(0, colon);
      if (host.startsWith("[") && host.endsWith("]")) {
        host = host.substring(1, host.length() - 1);
      }
      if (!host.isEmpty() && port >= 0 && port <= 65535) {
        return new HostPort(host, port);
      }
    } catch (NumberFormatException e) {
      // Reported below, together with the other invalid forms.
    }
    throw new IllegalArgumentException("expected HOST:PORT, such as 127.0.0.1:8080");
  }

  @Override
  public String toString() {
    return host.contains(":") ? "[" + host + "]:" + port : host + ":" + port;
  }
}
