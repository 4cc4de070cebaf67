package io.espalier.server.store.mysql;

import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;

/**
 * Where a MySQL schema is and how one gets in. Holds no password, only where it is to be had.
 *
 * @param passwordFile read anew for each connection, so that a password can be changed
 * @param passwordVariable name of an environment variable; not together with a file
 * @param tls how the connection is protected
 * @param tlsCa certificates in PEM form that are trusted, instead of those of the JDK
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
  /** Where MySQL listens if nobody says otherwise. */
  public static final int DEFAULT_PORT = 3306;

  /** How a connection is protected; the names of Connector/J. */
  public enum Tls {
    /** In the clear. */
    DISABLED,
    /** Encrypted if the server can; the server is not checked. */
    PREFERRED,
    /** Encrypted; the server is not checked. */
    REQUIRED,
    /** Encrypted, with a certificate that a trusted authority has signed. */
    VERIFY_CA,
    /** The same, and it is that of the host. */
    VERIFY_IDENTITY;

    /** As in {@code --store-tls}. */
    public String label() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  /**
   * Reads {@code mysql://user@host:port/schema}. Encrypted, unless the host is this one.
   *
   * @throws IllegalArgumentException saying what is wrong with it, never with a password
   */
  public static MySqlAddress parse(String text) {
    URI uri;
    try {
      uri = new URI(text);
    } catch (URISyntaxException e) {
      // Not its message: it holds the text, and the text may hold a password.
      throw new IllegalArgumentException(expected());
    }
    String user = uri.getUserInfo();
    String host = uri.getHost();
    String schema = uri.getPath() == null ? "" : uri.getPath().replaceFirst("^/", "");
    if (user != null && user.contains(":")) {
      throw new IllegalArgumentException(
          "holds a password, which every user of this machine can read in the list of processes:"
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
      // To be said when it is connected to.
      return false;
    }
  }

  /** The same place with its password from a file. */
  public MySqlAddress withPasswordFile(Path file) {
    return new MySqlAddress(
        host, port, schema, user, Optional.of(file), Optional.empty(), tls, tlsCa);
  }

  /** The same place with its password from an environment variable. */
  public MySqlAddress withPasswordVariable(String name) {
    return new MySqlAddress(
        host, port, schema, user, Optional.empty(), Optional.of(name), tls, tlsCa);
  }

  /**
   * The same place, protected so.
   *
   * @param authority trusted certificates in PEM form; empty: those of the JDK
   */
  public MySqlAddress withTls(Tls mode, Optional<Path> authority) {
    return new MySqlAddress(
        host, port, schema, user, passwordFile, passwordVariable, mode, authority);
  }

  /** For people: {@code mysql://user@host:port/schema}. */
  @Override
  public String toString() {
    return "mysql://" + user + "@" + hostAndPort() + "/" + schema;
  }

  String hostAndPort() {
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
  }
}
