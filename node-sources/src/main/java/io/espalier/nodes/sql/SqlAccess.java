package io.espalier.nodes.sql;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.pool.HikariPool;
import io.espalier.core.json.Json;
import io.espalier.nodes.NameFormat;
import io.espalier.nodes.Prefs;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Access to a database, or to one for each node. A single database is connected to at first use
 * with the current password, and again after the password has changed; where the address has a
 * placeholder, each question has a connection of its own. No message shows the password.
 * Thread-safe.
 */
final class SqlAccess {
  private static final int MAX_PASSWORD_BYTES = 4096;
  private static final Duration IDLE = Duration.ofMinutes(1);

  /**
   * Names that cannot change the meaning of an address: those of hosts, with or without a port, and
   * of databases.
   */
  private static final Pattern PLAIN = Pattern.compile("\\w[\\w.-]*(:[0-9]{1,5})?");

  private final String url;
  private final String placeholder;
  private final @Nullable String user;
  private final @Nullable Path passwordFile;
  private final @Nullable String passwordVariable;
  private final Duration timeout;

  private @Nullable HikariDataSource pool;
  private String poolPassword = "";

  /**
   * A connection cannot even be attempted; the message, which follows the address, gives the
   * reason.
   */
  static final class Unusable extends Exception {
    private static final long serialVersionUID = 1L;

    Unusable(String message) {
      super(message);
    }
  }

  /** A connection, which is given back or closed at the end. */
  record Session(Connection connection, @Nullable HikariDataSource own) implements AutoCloseable {
    @Override
    public void close() throws SQLException {
      try {
        connection.close();
      } finally {
        if (own != null) {
          own.close();
        }
      }
    }
  }

  private SqlAccess(
      String url,
      String placeholder,
      @Nullable String user,
      @Nullable Path passwordFile,
      @Nullable String passwordVariable,
      Duration timeout) {
    this.url = url;
    this.placeholder = placeholder;
    this.user = user;
    this.passwordFile = passwordFile;
    this.passwordVariable = passwordVariable;
    this.timeout = timeout;
  }

  /**
   * Reads {@code user}, {@code password_file} and {@code password_env}.
   *
   * @param placeholder what the name of a node replaces in the address; empty: nothing
   */
  static SqlAccess read(
      Prefs prefs, String url, String placeholder, String configDirectory, Duration timeout) {
    String user =
        prefs.get("user") == null ? null : prefs.string("user", "the name of an account", "");
    String variable =
        prefs.get("password_env") == null
            ? null
            : prefs.string("password_env", "the name of an environment variable", "");
    Json fileAt = prefs.get("password_file");
    Path file = null;
    if (fileAt != null) {
      String text = prefs.string("password_file", "the path of a file", "");
      file = path(text, configDirectory);
      if (file == null && fileAt instanceof Json.Str) {
        prefs.expected(
            "password_file", fileAt, "the path of a file, absolute or beside the configuration");
      }
      if (variable != null) {
        NameFormat.problem(
            prefs, "password_env", "there is a \"password_file\" already", "keep one of them");
      }
    }
    return new SqlAccess(url, placeholder, user, file, variable, timeout);
  }

  private static @Nullable Path path(String text, String configDirectory) {
    try {
      Path path = Path.of(text);
      boolean good = !text.isEmpty() && (path.isAbsolute() || !configDirectory.isEmpty());
      return good ? Path.of(configDirectory).resolve(path) : null;
    } catch (InvalidPathException e) {
      return null;
    }
  }

  Duration timeout() {
    return timeout;
  }

  /**
   * Returns the address without the part after a question mark, where drivers take their options.
   */
  String shown(String name) {
    String address = address(name);
    int options = address.indexOf('?');
    return options < 0 ? address : address.substring(0, options);
  }

  private String address(String name) {
    return placeholder.isEmpty() ? url : url.replace(placeholder, name);
  }

  /** Returns a message of a driver with the secrets removed. */
  synchronized String withoutSecrets(String message) {
    return poolPassword.length() < 4 ? message : message.replace(poolPassword, "…");
  }

  /**
   * Opens a read-only connection.
   *
   * @param name of the node that is asked about, for the address
   */
  Session open(String name) throws SQLException, IOException, Unusable {
    if (placeholder.isEmpty()) {
      return new Session(pool().getConnection(), null);
    }
    if (!PLAIN.matcher(name).matches()) {
      throw new Unusable(
          "cannot be the address for this node: such names have letters, digits and \"_.-\" only,"
              + " with or without a port");
    }
    HikariDataSource own = opened(address(name), password());
    try {
      return new Session(own.getConnection(), own);
    } catch (SQLException e) {
      own.close();
      throw e;
    }
  }

  private synchronized HikariDataSource pool() throws IOException, Unusable {
    String password = password();
    HikariDataSource open = pool;
    if (open != null && !open.isClosed() && password.equals(poolPassword)) {
      return open;
    }
    close();
    open = opened(url, password);
    pool = open;
    return open;
  }

  private HikariDataSource opened(String address, String password) throws Unusable {
    checkDriver(address);
    HikariConfig config = new HikariConfig();
    config.setPoolName("node-source");
    config.setJdbcUrl(address);
    config.setUsername(user);
    config.setPassword(password.isEmpty() ? null : password);
    config.setMaximumPoolSize(1);
    config.setMinimumIdle(0);
    config.setIdleTimeout(IDLE.toMillis());
    config.setConnectionTimeout(Math.max(250, timeout.toMillis()));
    config.setValidationTimeout(Math.max(250, Math.min(5000, timeout.toMillis())));
    if (isFor("sqlite")) {
      // Otherwise it would create a missing file.
      config.addDataSourceProperty("open_mode", "1");
    }
    config.setReadOnly(true);
    // One attempt: a wrong password must not be retried until the time is up.
    config.setInitializationFailTimeout(1);
    synchronized (this) {
      poolPassword = password;
    }
    try {
      return new HikariDataSource(config);
    } catch (HikariPool.PoolInitializationException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      throw new Unusable(whyNot(cause));
    }
  }

  private String whyNot(Throwable cause) {
    boolean refused =
        cause instanceof SQLException wrong
            && wrong.getSQLState() != null
            && wrong.getSQLState().startsWith("28");
    Throwable reason = cause;
    // The driver for MySQL says "Communications link failure" and hides the reason in a cause.
    for (Throwable at = cause; at != null && !refused; at = at.getCause()) {
      reason = at instanceof IOException ? at : reason;
    }
    String text = withoutSecrets(String.valueOf(reason.getMessage())).strip();
    return (refused ? "refuses the account: " : "cannot be reached: ")
        + text.lines().findFirst().orElse("");
  }

  private static void checkDriver(String address) throws Unusable {
    try {
      // Only looks up a driver, without connecting.
      String name = DriverManager.getDriver(address).getClass().getName();
      assert !name.isEmpty();
    } catch (SQLException e) {
      throw new Unusable("has no driver here: put its jar into plugins/ beside espalier");
    }
  }

  private String password() throws IOException, Unusable {
    if (passwordVariable != null) {
      String value = System.getenv(passwordVariable);
      if (value == null) {
        throw new Unusable("has its password in a variable that is not set: " + passwordVariable);
      }
      return value;
    }
    if (passwordFile == null) {
      return "";
    }
    if (!Files.isRegularFile(passwordFile)) {
      throw new Unusable("has no file with its password: " + passwordFile);
    }
    if (Files.size(passwordFile) > MAX_PASSWORD_BYTES) {
      throw new Unusable("has a file with its password that is too long: " + passwordFile);
    }
    return Files.readString(passwordFile, StandardCharsets.UTF_8).stripTrailing();
  }

  /** Limits the time of a query and the number of rows fetched at once. */
  void prepare(Statement statement, int fetchSize) throws SQLException {
    statement.setQueryTimeout((int) Math.max(1, Math.ceil(timeout.toMillis() / 1000.0)));
    // Connector/J fetches either all rows at once or one after the other.
    statement.setFetchSize(isFor("mysql") ? Integer.MIN_VALUE : fetchSize);
  }

  private boolean isFor(String database) {
    return url.toLowerCase(Locale.ROOT).startsWith("jdbc:" + database + ":");
  }

  /** Gives up a connection that does not return. */
  synchronized void forget() {
    HikariDataSource stuck = pool;
    pool = null;
    if (stuck != null) {
      Thread closer = new Thread(stuck::close, "node-sql-close");
      closer.setDaemon(true);
      closer.start();
    }
  }

  synchronized void close() {
    HikariDataSource open = pool;
    pool = null;
    if (open != null) {
      open.close();
    }
  }
}
