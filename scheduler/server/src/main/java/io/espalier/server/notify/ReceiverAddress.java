package io.espalier.server.notify;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Locale;

/**
 * Decides whether a URL may be called: a configuration must not reach services that trust this host
 * or its network. A host is judged by the addresses that it resolves to, whatever form it is
 * written in.
 */
final class ReceiverAddress {
  private static final String HTTP = "http";
  private static final byte[] NAT64 = {0, 0x64, (byte) 0xff, (byte) 0x9b, 0, 0, 0, 0, 0, 0, 0, 0};

  /** The prefix of NAT64 within one network, and that of Teredo (RFC 8215, RFC 4380). */
  private static final byte[] LOCAL_NAT64 = {0, 0x64, (byte) 0xff, (byte) 0x9b, 0, 1};

  private static final byte[] TEREDO = {0x20, 0x01, 0, 0};
  private static final byte[] MAPPED = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, (byte) 0xff, (byte) 0xff};
  private static final byte[] COMPATIBLE = new byte[12];

  private final URI uri;
  private final String host;

  private ReceiverAddress(URI uri, String host) {
    this.uri = uri;
    this.host = host;
  }

  /**
   * Resolves the host of a URL, once, and judges it.
   *
   * @param allowPrivate whether this host and private networks are allowed
   * @throws IOException with a message for people, when the URL must not be called
   */
  static ReceiverAddress of(URI uri, boolean allowPrivate) throws IOException {
    String host = uri.getHost();
    if (host == null) {
      throw new IOException("the URL names no host");
    }
    InetAddress[] found;
    try {
      found = InetAddress.getAllByName(host);
    } catch (UnknownHostException e) {
      throw new IOException("there is no host " + host, e);
    }
    for (InetAddress each : found) {
      String objection = objection(each, allowPrivate);
      if (!objection.isEmpty()) {
        throw new IOException(
            "host " + host + " is " + each.getHostAddress() + ", which is " + objection);
      }
    }
    // Over HTTPS the certificate proves that the host is the one that is named, wherever the name
    // leads by then. Without it, only the address that was judged is.
    boolean isProven = !HTTP.equals(uri.getScheme().toLowerCase(Locale.ROOT));
    return isProven ? new ReceiverAddress(uri, "") : at(uri, found[0]);
  }

  private static ReceiverAddress at(URI uri, InetAddress address) throws IOException {
    String literal =
        address instanceof Inet6Address
            ? "[" + address.getHostAddress() + "]"
            : address.getHostAddress();
    if (literal.equals(uri.getHost())) {
      return new ReceiverAddress(uri, "");
    }
    String port = uri.getPort() < 0 ? "" : ":" + uri.getPort();
    String rest = uri.getRawPath() + (uri.getRawQuery() == null ? "" : "?" + uri.getRawQuery());
    try {
      return new ReceiverAddress(
          new URI(uri.getScheme() + "://" + literal + port + rest), uri.getHost() + port);
    } catch (URISyntaxException e) {
      throw new IOException("host " + uri.getHost() + " has an address that cannot be used", e);
    }
  }

  /** Returns the URL to call: over HTTP with the address that was judged instead of its host. */
  URI uri() {
    return uri;
  }

  /** Returns the header {@code Host} that belongs to it; empty: the usual one. */
  String host() {
    return host;
  }

  /** Returns why an address must not be called; empty: it may be. */
  static String objection(InetAddress given, boolean allowPrivate) {
    InetAddress address = plain(given);
    if (address.isLinkLocalAddress() || address.isMulticastAddress()) {
      return "link-local or multicast: no receiver is there";
    }
    if (allowPrivate) {
      return "";
    }
    String hint = ": set \"allow_private\" if the receiver is there";
    if (address.isLoopbackAddress() || address.isAnyLocalAddress()) {
      return "this host" + hint;
    }
    return isPrivate(address) ? "in a private or reserved network" + hint : "";
  }

  private static boolean isPrivate(InetAddress address) {
    byte[] bytes = address.getAddress();
    int first = bytes[0] & 0xff;
    int second = bytes[1] & 0xff;
    if (address instanceof Inet6Address) {
      // Unique local addresses, and the site-local ones before them; tunnels that end anywhere.
      return (first & 0xfe) == 0xfc
          || address.isSiteLocalAddress()
          || startsWith(bytes, TEREDO)
          || startsWith(bytes, LOCAL_NAT64);
    }
    return address.isSiteLocalAddress()
        || first == 0
        || first >= 240
        || first == 127
        || (first == 100 && (second & 0xc0) == 64)
        || (first == 198 && (second & 0xfe) == 18)
        || (first == 192 && second == 0 && bytes[2] == 0);
  }

  private static boolean startsWith(byte[] bytes, byte[] prefix) {
    return Arrays.equals(bytes, 0, prefix.length, prefix, 0, prefix.length);
  }

  /** Returns the IPv4 address that an IPv6 address stands for, or the address itself. */
  private static InetAddress plain(InetAddress address) {
    byte[] bytes = address.getAddress();
    if (address instanceof Inet4Address) {
      return address;
    }
    byte[] prefix = Arrays.copyOf(bytes, 12);
    boolean isLow = Arrays.equals(prefix, COMPATIBLE) && (bytes[12] | bytes[13]) != 0;
    if (isLow || Arrays.equals(prefix, NAT64) || Arrays.equals(prefix, MAPPED)) {
      return ofBytes(Arrays.copyOfRange(bytes, 12, 16));
    }
    boolean isSixToFour = bytes[0] == 0x20 && bytes[1] == 0x02;
    return isSixToFour ? ofBytes(Arrays.copyOfRange(bytes, 2, 6)) : address;
  }

  private static InetAddress ofBytes(byte[] bytes) {
    try {
      return InetAddress.getByAddress(bytes);
    } catch (UnknownHostException e) {
      throw new IllegalStateException("an address has 4 bytes", e);
    }
  }
}
