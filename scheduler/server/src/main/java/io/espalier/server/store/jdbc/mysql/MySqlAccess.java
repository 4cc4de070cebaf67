package io.espalier.server.store.jdbc.mysql;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.Map;
import java.util.Properties;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Opens connections and reads the password again for each of them. Its exceptions and its text form
 * never contain a password. Thread-safe.
 */
public final class MySqlAccess implements DataSource {
  private static final int CONNECT_SECONDS = 5;
  private static final int MAX_PASSWORD_BYTES = 4096;
  private static final String STORE_PASSWORD = "certificates";

  /** The session settings that the schema relies on, independent of the server's own settings. */
  private static final String SESSION =
      "sql_mode='STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO'";

  private final MySqlAddress address;
  private final Properties properties;

  private MySqlAccess(MySqlAddress address, Properties properties) {
    this.address = address;
    this.properties = properties;
  }

  /**
   * @param session additional settings of each session, as in SET
   * @throws SQLException when the trusted certificates cannot be read
   */
  public static MySqlAccess of(MySqlAddress address, Map<String, Integer> session, int socketMillis)
      throws SQLException {
    StringBuilder variables = new StringBuilder(SESSION);
    session.forEach((name, value) -> variables.append(',').append(name).append('=').append(value));
    Properties properties = new Properties();
    properties.setProperty("user", address.user());
    properties.setProperty("sslMode", address.tls().name());
    properties.setProperty("sessionVariables", variables.toString());
    // Sends one statement of many rows instead of many statements: ten times as fast.
    properties.setProperty("rewriteBatchedStatements", "true");
    properties.setProperty("characterEncoding", "UTF-8");
    properties.setProperty("connectionTimeZone", "UTC");
    properties.setProperty("connectTimeout", Integer.toString(CONNECT_SECONDS * 1000));
    properties.setProperty("socketTimeout", Integer.toString(socketMillis));
    properties.setProperty("cacheServerConfiguration", "false");
    if (address.tlsCa().isPresent()) {
      Path store = trustStore(address.tlsCa().get());
      properties.setProperty("trustCertificateKeyStoreUrl", store.toUri().toString());
      properties.setProperty("trustCertificateKeyStoreType", "PKCS12");
      properties.setProperty("trustCertificateKeyStorePassword", STORE_PASSWORD);
      properties.setProperty("fallbackToSystemTrustStore", "false");
    }
    return new MySqlAccess(address, properties);
  }

  /** Connector/J does not accept PEM. The file contains nothing secret. */
  private static Path trustStore(Path pem) throws SQLException {
    try (InputStream in = Files.newInputStream(pem)) {
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(null, null);
      int count = 0;
      for (Certificate each : CertificateFactory.getInstance("X.509").generateCertificates(in)) {
        store.setCertificateEntry("ca" + count++, each);
      }
      if (count == 0) {
        throw new SQLException("there is no certificate in " + pem);
      }
      Path file = Files.createTempFile("espalier-ca", ".p12");
      file.toFile().deleteOnExit();
      try (OutputStream out = Files.newOutputStream(file)) {
        store.store(out, STORE_PASSWORD.toCharArray());
      }
      return file;
    } catch (IOException e) {
      throw new SQLException("cannot read the certificates in " + pem, e);
    } catch (GeneralSecurityException e) {
      throw new SQLException("there are no certificates in PEM form in " + pem, e);
    }
  }

  MySqlAddress address() {
    return address;
  }

  @Override
  public Connection getConnection() throws SQLException {
    Properties mine = new Properties();
    mine.putAll(properties);
    String password = password();
    if (!password.isEmpty()) {
      mine.setProperty("password", password);
    }
    String schema = URLEncoder.encode(address.schema(), StandardCharsets.UTF_8).replace("+", "%20");
    return DriverManager.getConnection(
        "jdbc:mysql://" + address.hostAndPort() + "/" + schema, mine);
  }

  private String password() throws SQLException {
    if (address.passwordVariable().isPresent()) {
      String name = address.passwordVariable().get();
      String value = System.getenv(name);
      if (value == null) {
        throw new SQLException("the variable with the password is not set: " + name);
      }
      return value;
    }
    if (address.passwordFile().isEmpty()) {
      return "";
    }
    Path file = address.passwordFile().get();
    try {
      if (!Files.isRegularFile(file)) {
        throw new SQLException("there is no file with the password: " + file);
      }
      if (Files.size(file) > MAX_PASSWORD_BYTES) {
        throw new SQLException("the file with the password is too long: " + file);
      }
      return Files.readString(file, StandardCharsets.UTF_8).stripTrailing();
    } catch (IOException e) {
      throw new SQLException("cannot read the file with the password: " + file, e);
    }
  }

  @Override
  public Connection getConnection(String username, String password) throws SQLException {
    throw new SQLFeatureNotSupportedException("there is one account");
  }

  @Override
  public @Nullable PrintWriter getLogWriter() {
    return null;
  }

  @Override
  public void setLogWriter(PrintWriter out) {
    // Failures are reported as exceptions instead.
  }

  @Override
  public void setLoginTimeout(int seconds) {
    // The driver has its own log.
  }

  @Override
  public int getLoginTimeout() {
    // The time a closing pool waits for a connection attempt in progress.
    return CONNECT_SECONDS;
  }

  @Override
  public Logger getParentLogger() throws SQLFeatureNotSupportedException {
    throw new SQLFeatureNotSupportedException("not in use");
  }

  @Override
  public <T> T unwrap(Class<T> type) throws SQLException {
    throw new SQLException("wraps nothing");
  }

  @Override
  public boolean isWrapperFor(Class<?> type) {
    return false;
  }

  @Override
  public String toString() {
    return address.toString();
  }
}
