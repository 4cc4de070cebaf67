package io.espalier.server.store.jdbc.mysql;

import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;

/**
 * The address of a MySQL schema and how to log in. It contains no password, only where to read it.
 *
 * @param passwordFile read again for each connection, so that the password can be changed
 * @param passwordVariable name of an environment variable; not together with a file
 * @param tls how the connection is protected
 * @param tlsCa trusted certificates in PEM form, instead of those of the JDK
 */
public record MySqlAddress(
    String host,
    int port,
    String schema,
    String user,
    Optional<Path> passwordFile,
    Optional<String> passwordVariable,
    Tls tls,
    Optional<Path> tlsCa) {
  /** The default port of MySQL. */
  public static final int DEFAULT_PORT = 3306;

  /** How a connection is protected; the names are those of Connector/J. */
  public enum Tls {
    /** Unencrypted. */
    DISABLED,
    /** Encrypted if the server supports it; the server is not verified. */
    PREFERRED,
    /** Encrypted; the server is not verified. */
    REQUIRED,
    /** Encrypted, with a certificate signed by a trusted authority. */
    VERIFY_CA,
    /** Encrypted, with a certificate signed by a trusted authority for this host name. */
    VERIFY_IDENTITY;

    /** Returns the value as in {@code --store-tls}. */
    public String label() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  /**
   * Parses {@code mysql://user@host:port/schema}. The connection is encrypted unless the host is
   * this one.
   *
   * @throws IllegalArgumentException with the error in the URI, never with a password
   */
  public static MySqlAddress parse(String text) {
    URI uri;
    try {
      uri = new URI(text);
    } catch (URISyntaxException e) {
      // The message of the cause contains the text, and the text may contain a password.
      throw new IllegalArgumentException(expected());
    }
    String user = uri.getUserInfo();
    String host = uri.getHost();
    String schema = uri.getPath() == null ? "" : uri.getPath().replaceFirst("^/", "");
    if (user != null && user.contains(":")) {
      throw new IllegalArgumentException(
          "contains a password, which every user of this machine can read in the list of processes:"
              + " give it by --store-password-file or --store-password-env, and change it");
    }
    if (uri.getQuery() != null || uri.getFragment() != null) {
      throw new IllegalArgumentException("has parameters: there are flags for them (--store-...)");
    }
    if (!"mysql".equals(uri.getScheme())
        || user == null
        || user.isEmpty()
        || host == null
        || schema.isEmpty()
        || schema.contains("/")) {
      throw new IllegalArgumentException(expected());
    }
    String bare = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    return new MySqlAddress(
        bare,
        uri.getPort() < 0 ? DEFAULT_PORT : uri.getPort(),
        schema,
        user,
        Optional.empty(),
        Optional.empty(),
        isLoopback(bare) ? Tls.PREFERRED : Tls.REQUIRED,
        Optional.empty());
  }

  private static String expected() {
    return "is not of the form mysql://user@host:port/schema";
  }

  private static boolean isLoopback(String host) {
    try {
      return InetAddress.getByName(host).isLoopbackAddress();
    } catch (UnknownHostException e) {
      // Reported when the connection is opened.
      return false;
    }
  }

  /** Returns the same address with its password in a file. */
  public MySqlAddress withPasswordFile(Path file) {
    return new MySqlAddress(
        host, port, schema, user, Optional.of(file), Optional.empty(), tls, tlsCa);
  }

  /** Returns the same address with its password in an environment variable. */
  public MySqlAddress withPasswordVariable(String name) {
    return new MySqlAddress(
        host, port, schema, user, Optional.empty(), Optional.of(name), tls, tlsCa);
  }

  /**
   * Returns the same address with this protection.
   *
   * @param authority trusted certificates in PEM form; empty: those of the JDK
   */
  public MySqlAddress withTls(Tls mode, Optional<Path> authority) {
    return new MySqlAddress(
        host, port, schema, user, passwordFile, passwordVariable, mode, authority);
  }

  /** Returns a readable form: {@code mysql://user@host:port/schema}. */
  @Override
  public String toString() {
    return "mysql://" + user + "@" + hostAndPort() + "/" + schema;
  }

  String hostAndPort() {
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
  }
}
