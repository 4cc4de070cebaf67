package io.espalier.server.config;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.espalier.core.config.source.JobVersion;
import io.espalier.core.config.source.WritableConfigSource;
import io.espalier.server.store.jdbc.mysql.MySqlAccess;
import io.espalier.server.store.jdbc.mysql.MySqlAddress;
import io.espalier.server.store.jdbc.mysql.MySqlAddress.Tls;
import io.espalier.server.store.jdbc.mysql.MySqlErrorTranslator;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/**
 * A configuration in MySQL or MariaDB, {@code mysql://user@host:port/schema}: the rows of the table
 * {@code espalier_config}, treated like the files of a directory. The row {@code main} must exist;
 * a job that is saved here gets a row of its own, {@code jobs/NAME}. Every writer locks {@code
 * main} first, so that of two concurrent writers the second waits and then detects the conflict.
 * Thread-safe.
 */
public final class MySqlConfigSource implements WritableConfigSource {
  private static final int SOCKET_MILLIS = 10_000;
  private static final int CONNECT_MILLIS = 6_000;
  private static final int CONNECTIONS = 3;
  private static final int NO_SUCH_TABLE = 1146;
  private static final int DEADLOCK = 1213;
  private static final int LOCK_TIMEOUT = 1205;
  private static final String MAIN = "main";
  private static final String DEFAULT_NAME = "espalier";
  private static final int LONGEST_NAME = 100;

  /** The most jobs whose history one query reads. */
  private static final int JOBS_AT_ONCE = 500;

  private static final List<String> TABLES =
      List.of(
          """
          CREATE TABLE IF NOT EXISTS espalier_config (
            config VARBINARY(100) NOT NULL,
            document VARBINARY(600) NOT NULL,
            body LONGBLOB NOT NULL,
            PRIMARY KEY (config, document)
          ) ENGINE=InnoDB
          """,
          """
          CREATE TABLE IF NOT EXISTS espalier_config_history (
            id BIGINT NOT NULL AUTO_INCREMENT,
            config VARBINARY(100) NOT NULL,
            job VARBINARY(600) NOT NULL,
            entry LONGBLOB NOT NULL,
            PRIMARY KEY (id),
            KEY (config, job, id)
          ) ENGINE=InnoDB
          """);

  private final MySqlAddress address;
  private final String config;
  private @Nullable HikariDataSource pool;

  /** The key of the content from which {@link #known} was read. */
  private String knownBy = "";

  private @Nullable Text known;

  private MySqlConfigSource(MySqlAddress address, String config) {
    this.address = address;
    this.config = config;
  }

  /**
   * Creates a source from its URI. Does not connect yet.
   *
   * @param uri {@code mysql://user@host:port/schema}, and after a {@code ?} any of {@code name},
   *     {@code password_file}, {@code password_env}, {@code tls} and {@code tls_ca}
   * @throws IllegalArgumentException with the error in the URI
   */
  public static MySqlConfigSource of(String uri) {
    int question = uri.indexOf('?');
    MySqlAddress address = MySqlAddress.parse(question < 0 ? uri : uri.substring(0, question));
    String name = DEFAULT_NAME;
    Tls tls = address.tls();
    Optional<Path> authority = Optional.empty();
    String rest = question < 0 ? "" : uri.substring(question + 1);
    for (String parameter : rest.isEmpty() ? new String[0] : rest.split("&", -1)) {
      int equals = parameter.indexOf('=');
      String key = equals < 0 ? parameter : parameter.substring(0, equals);
      String value = equals < 0 ? "" : parameter.substring(equals + 1);
      switch (key) {
        case "name" -> name = value;
        case "password_file" -> address = address.withPasswordFile(Path.of(value));
        case "password_env" -> address = address.withPasswordVariable(value);
        case "tls" -> tls = tls(value);
        case "tls_ca" -> authority = Optional.of(Path.of(value));
        default ->
            throw new IllegalArgumentException(
                "unknown parameter "
                    + key
                    + ": there are name, password_file, password_env, tls and tls_ca");
      }
    }
    if (name.isEmpty() || name.length() > LONGEST_NAME) {
      throw new IllegalArgumentException("the name of a configuration has 1 to 100 characters");
    }
    return new MySqlConfigSource(address.withTls(tls, authority), name);
  }

  private static Tls tls(String label) {
    for (Tls mode : Tls.values()) {
      if (mode.label().equals(label)) {
        return mode;
      }
    }
    throw new IllegalArgumentException("unknown tls=" + label);
  }

  @Override
  public String name() {
    return address + (config.equals(DEFAULT_NAME) ? "" : "?name=" + config);
  }

  /** Returns the working directory, because the source has no directory of its own. */
  @Override
  public String directory() {
    return Path.of("").toAbsolutePath().toString();
  }

  @Override
  public String documentFor(String job) {
    return "jobs/" + job;
  }

  // ---- reading

  @Override
  public synchronized Text fetch() throws Unavailable {
    return asked(
        connection -> {
          String by = fingerprint(connection);
          Text newest = known;
          if (newest != null && by.equals(knownBy)) {
            return newest;
          }
          Text text = read(connection, "");
          // The rows may have changed between the two queries; the next poll then notices.
          known = text;
          knownBy = by;
          return text;
        });
  }

  private String fingerprint(Connection connection) throws SQLException {
    StringBuilder all = new StringBuilder();
    try (PreparedStatement ask =
        connection.prepareStatement(
            "SELECT document, MD5(body) FROM espalier_config WHERE config = ? ORDER BY document")) {
      ask.setBytes(1, ConfigText.bytes(config));
      try (ResultSet rows = ask.executeQuery()) {
        while (rows.next()) {
          all.append(ConfigText.string(rows.getBytes(1))).append(' ').append(rows.getString(2));
          all.append('\n');
        }
      }
    }
    return all.toString();
  }

  /**
   * @param lock clause that follows the query
   */
  private Text read(Connection connection, String lock) throws SQLException, Unavailable {
    List<Document> documents = new ArrayList<>();
    boolean main = false;
    try (PreparedStatement ask =
        connection.prepareStatement(
            "SELECT document, body FROM espalier_config WHERE config = ? ORDER BY document"
                + lock)) {
      ask.setBytes(1, ConfigText.bytes(config));
      try (ResultSet rows = ask.executeQuery()) {
        while (rows.next()) {
          String document = ConfigText.string(rows.getBytes(1));
          main |= document.equals(MAIN);
          documents.add(new Document(document, rows.getBytes(2)));
        }
      }
    }
    if (!main) {
      throw unavailable(
          "there is no row '" + MAIN + "' of '" + config + "' in the table espalier_config",
          "insert the text of the configuration as its body");
    }
    return ConfigText.of(documents);
  }

  // ---- writing

  @Override
  public synchronized boolean write(Text expected, SortedMap<String, Optional<byte[]>> documents)
      throws Unavailable {
    return asked(
        connection -> {
          connection.setAutoCommit(false);
          boolean done = false;
          try {
            done = locked(connection) && change(connection, expected, documents);
            if (done) {
              connection.commit();
            }
            return done;
          } catch (SQLException e) {
            if (e.getErrorCode() == DEADLOCK || e.getErrorCode() == LOCK_TIMEOUT) {
              // The caller reads again.
              return false;
            }
            throw e;
          } finally {
            if (!done) {
              connection.rollback();
            }
            connection.setAutoCommit(true);
          }
        });
  }

  private boolean locked(Connection connection) throws SQLException {
    try (PreparedStatement lock =
        connection.prepareStatement(
            "SELECT document FROM espalier_config WHERE config = ? AND document = ? FOR UPDATE")) {
      lock.setBytes(1, ConfigText.bytes(config));
      lock.setBytes(2, ConfigText.bytes(MAIN));
      try (ResultSet row = lock.executeQuery()) {
        return row.next();
      }
    }
  }

  private boolean change(
      Connection connection, Text expected, SortedMap<String, Optional<byte[]>> documents)
      throws SQLException, Unavailable {
    if (!read(connection, " FOR UPDATE").hash().equals(expected.hash())) {
      return false;
    }
    for (Map.Entry<String, Optional<byte[]>> document : documents.entrySet()) {
      Optional<byte[]> text = document.getValue();
      try (PreparedStatement change =
          connection.prepareStatement(
              text.isEmpty()
                  ? "DELETE FROM espalier_config WHERE config = ? AND document = ?"
                  : "INSERT INTO espalier_config (config, document, body) VALUES (?, ?, ?)"
                      + " ON DUPLICATE KEY UPDATE body = VALUES(body)")) {
        change.setBytes(1, ConfigText.bytes(config));
        change.setBytes(2, ConfigText.bytes(document.getKey()));
        if (text.isPresent()) {
          change.setBytes(3, text.get());
        }
        change.executeUpdate();
      }
    }
    return true;
  }

  // ---- history

  @Override
  public synchronized void remember(List<JobVersion> versions) throws Unavailable {
    int unused =
        asked(
            connection -> {
              try (PreparedStatement insert =
                  connection.prepareStatement(
                      "INSERT INTO espalier_config_history (config, job, entry) VALUES (?, ?, ?)")) {
                for (JobVersion version : versions) {
                  insert.setBytes(1, ConfigText.bytes(config));
                  insert.setBytes(2, ConfigText.bytes(version.name()));
                  insert.setBytes(3, JobVersionText.write(version));
                  insert.addBatch();
                }
                return insert.executeBatch().length;
              }
            });
  }

  @Override
  public List<JobVersion> history(String job) throws Unavailable {
    return histories(List.of(job)).getOrDefault(job, List.of());
  }

  @Override
  public synchronized Map<String, List<JobVersion>> histories(Collection<String> jobs)
      throws Unavailable {
    List<String> names = List.copyOf(jobs);
    return asked(
        connection -> {
          Map<String, List<JobVersion>> versions = new HashMap<>();
          for (int at = 0; at < names.size(); at += JOBS_AT_ONCE) {
            read(
                connection, names.subList(at, Math.min(names.size(), at + JOBS_AT_ONCE)), versions);
          }
          return versions;
        });
  }

  private void read(
      Connection connection, List<String> jobs, Map<String, List<JobVersion>> versions)
      throws SQLException {
    try (PreparedStatement ask =
        connection.prepareStatement(
            "SELECT job, entry FROM espalier_config_history WHERE config = ? AND job IN (?"
                + ", ?".repeat(jobs.size() - 1)
                + ") ORDER BY job, id")) {
      ask.setBytes(1, ConfigText.bytes(config));
      for (int i = 0; i < jobs.size(); i++) {
        ask.setBytes(i + 2, ConfigText.bytes(jobs.get(i)));
      }
      try (ResultSet rows = ask.executeQuery()) {
        while (rows.next()) {
          List<JobVersion> ofJob =
              versions.computeIfAbsent(
                  ConfigText.string(rows.getBytes(1)), job -> new ArrayList<>());
          JobVersionText.read(rows.getBytes(2)).ifPresent(ofJob::add);
        }
      }
    }
  }

  // ---- the connection

  private interface Question<T> {
    T of(Connection connection) throws SQLException, Unavailable;
  }

  /** Runs a query and creates the tables when they are missing. */
  private <T> T asked(Question<T> question) throws Unavailable {
    try (Connection connection = open().getConnection()) {
      try {
        return question.of(connection);
      } catch (SQLException e) {
        if (e.getErrorCode() != NO_SUCH_TABLE) {
          throw e;
        }
        try (Statement statement = connection.createStatement()) {
          for (String table : TABLES) {
            statement.execute(table);
          }
        }
        return question.of(connection);
      }
    } catch (SQLException e) {
      String message = String.valueOf(MySqlErrorTranslator.translate(address, e).getMessage());
      throw unavailable(message.replaceFirst("^status store ", ""), null);
    }
  }

  private HikariDataSource open() throws SQLException {
    HikariDataSource open = pool;
    if (open == null) {
      HikariConfig pooled = new HikariConfig();
      pooled.setDataSource(MySqlAccess.of(address, Map.of(), SOCKET_MILLIS));
      pooled.setPoolName("configuration");
      pooled.setMaximumPoolSize(CONNECTIONS);
      pooled.setMinimumIdle(0);
      pooled.setIdleTimeout(Duration.ofMinutes(1).toMillis());
      pooled.setConnectionTimeout(CONNECT_MILLIS);
      pooled.setInitializationFailTimeout(-1);
      pooled.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
      pooled.setRegisterMbeans(false);
      open = new HikariDataSource(pooled);
      pool = open;
    }
    return open;
  }

  private Unavailable unavailable(String message, @Nullable String hint) {
    return ConfigText.unavailable(name(), message, hint);
  }

  @Override
  public synchronized void close() {
    HikariDataSource open = pool;
    pool = null;
    known = null;
    knownBy = "";
    if (open != null) {
      open.close();
    }
  }
}
