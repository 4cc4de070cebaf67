package io.espalier.server.store.jdbc.mysql;

import io.espalier.core.status.store.StoreException;
import io.espalier.server.store.jdbc.Dialect;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A schema of a MySQL or MariaDB server.
 *
 * <p>Every writing transaction begins by locking the single row of {@code espalier_store}. When a
 * scheduler stops in the middle of a transaction, with its host or by SIGSTOP, the server ends the
 * connection after {@link #STALLED}, so that it does not delay the next leader.
 */
final class MySqlDialect implements Dialect {
  /** The time that the server waits for the next statement of a writing transaction. */
  static final Duration STALLED = Duration.ofSeconds(5);

  /** Longer than the server may wait for a lock. */
  static final int SOCKET_MILLIS = 20_000;

  private static final Pattern TABLE = Pattern.compile("#(\\w+)");
  private static final Pattern NAME = Pattern.compile("(\\w+)\\*");
  private static final Map<String, String> RENAMED =
      Map.of(
          "{until}", "ends",
          "{signal}", "signal_number",
          "{read}", "bytes_read",
          "{written}", "bytes_written");

  private final MySqlAddress address;
  private @Nullable DataSource writers;

  MySqlDialect(MySqlAddress address) {
    this.address = address;
  }

  @Override
  public String description() {
    return "status store " + address;
  }

  @Override
  public void prepare() throws SQLException {
    // No socket time-out, because the migration of a large table sends nothing for a long time.
    MySqlSchema.prepare(MySqlAccess.of(address, Map.of(), 0));
  }

  @Override
  public Connection openWriter() throws SQLException {
    return writers().getConnection();
  }

  /** Made once, because it may write a file with the trusted certificates. */
  private synchronized DataSource writers() throws SQLException {
    DataSource made = writers;
    if (made == null) {
      int stalled = Math.toIntExact(STALLED.toSeconds());
      made =
          MySqlAccess.of(
              address,
              Map.of(
                  "wait_timeout", stalled,
                  "net_read_timeout", stalled,
                  "net_write_timeout", stalled,
                  "innodb_lock_wait_timeout", 2 * stalled),
              SOCKET_MILLIS);
      writers = made;
    }
    return made;
  }

  @Override
  public DataSource readers() throws SQLException {
    return MySqlAccess.of(address, Map.of(), SOCKET_MILLIS);
  }

  /** Less than {@link #STALLED}, after which the server closes the connection. */
  @Override
  public Duration writerIdle() {
    return Duration.ofSeconds(2);
  }

  @Override
  public int streamingFetchSize() {
    return Integer.MIN_VALUE;
  }

  @Override
  public void commit(Connection connection) throws SQLException {
    connection.commit();
  }

  @Override
  public StoreException translate(SQLException e) {
    return MySqlErrorTranslator.translate(address, e);
  }

  @Override
  public String sql(String text) {
    String sql = TABLE.matcher(text).replaceAll("espalier_$1");
    sql = NAME.matcher(sql).replaceAll("$1, long_$1");
    for (Map.Entry<String, String> column : RENAMED.entrySet()) {
      sql = sql.replace(column.getKey(), column.getValue());
    }
    return sql;
  }

  /** Returns two, see {@link NameKey}. */
  @Override
  public int nameColumns() {
    return 2;
  }

  @Override
  public String readName(ResultSet found, int column) throws SQLException {
    return NameKey.read(found, column);
  }

  @Override
  public void setName(PreparedStatement statement, int at, String name) throws SQLException {
    NameKey.of(name).set(statement, at);
  }

  @Override
  public void setKey(PreparedStatement statement, int at, String name) throws SQLException {
    statement.setBytes(at, NameKey.of(name).key());
  }

  @Override
  public String onConflict(String key) {
    return "ON DUPLICATE KEY UPDATE";
  }

  @Override
  public String given(String column) {
    return "VALUES(" + column + ")";
  }

  @Override
  public String select(Property property) {
    return "SELECT " + column(property) + " FROM " + table(property) + " WHERE id = 1";
  }

  @Override
  public String update(Property property) {
    return switch (property) {
      case EPOCH -> "UPDATE espalier_store SET epoch = ?, mark = 0 WHERE id = 1";
      case EARLIER -> "REPLACE INTO espalier_earlier (id, known) VALUES (1, ?)";
      case NODES_SKETCH -> "REPLACE INTO espalier_nodes (id, sketch) VALUES (1, ?)";
      case CALLBACK_KEY -> "REPLACE INTO espalier_callback (id, secret) VALUES (1, ?)";
      default -> "UPDATE " + table(property) + " SET " + column(property) + " = ? WHERE id = 1";
    };
  }

  private static String table(Property property) {
    return switch (property) {
      case EPOCH, MARK, SOURCE -> "espalier_store";
      case LEASE, STORE_ID -> "espalier_owner";
      case EARLIER -> "espalier_earlier";
      case NODES_SKETCH -> "espalier_nodes";
      case CALLBACK_KEY -> "espalier_callback";
    };
  }

  private static String column(Property property) {
    return switch (property) {
      case EPOCH -> "epoch";
      case MARK -> "mark";
      case LEASE -> "lease";
      case EARLIER -> "known";
      case SOURCE -> "source";
      case STORE_ID -> "store";
      case NODES_SKETCH -> "sketch";
      case CALLBACK_KEY -> "secret";
    };
  }

  @Override
  public String forUpdate() {
    return " FOR UPDATE";
  }

  /** Locks and marks the same row in one step. */
  @Override
  public String take() {
    return "UPDATE espalier_store SET mark = ? WHERE id = 1 AND epoch = ?";
  }

  @Override
  public String addJob() {
    return "INSERT INTO espalier_job (name, long_name) VALUES (?, ?)";
  }

  @Override
  public List<String> forgetJob() {
    return List.of("UPDATE espalier_job SET name = NULL, long_name = NULL WHERE name = ?");
  }

  @Override
  public String forgottenJob() {
    return "SELECT id FROM espalier_job WHERE name IS NULL ORDER BY id LIMIT 1";
  }

  @Override
  public String deleteForgottenJob() {
    return "DELETE FROM espalier_job WHERE id = ?";
  }
}
