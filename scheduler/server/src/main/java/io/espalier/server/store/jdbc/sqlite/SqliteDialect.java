package io.espalier.server.store.jdbc.sqlite;

import io.espalier.core.status.JsonDecoder;
import io.espalier.core.status.store.StoreException;
import io.espalier.server.store.jdbc.Dialect;
import io.espalier.server.store.jdbc.JdbcStatusStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteConfig.JournalMode;
import org.sqlite.SQLiteConfig.SynchronousMode;
import org.sqlite.SQLiteConfig.TransactionMode;
import org.sqlite.SQLiteDataSource;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;

/**
 * One SQLite file with a write-ahead log; every commit is synced
 * (docs/design/design.md#durability).
 */
public final class SqliteDialect implements Dialect {
  private static final int BUSY_MILLIS = 5_000;

  /** 32 MB of log before a checkpoint: a third more rows per second than with 4 MB. */
  private static final int CHECKPOINT_PAGES = 8_000;

  private static final Pattern MARKS = Pattern.compile("#(?=\\w)|(?<=\\w)\\*|[{}]");

  private final Path file;
  private final int busyMillis;

  private SqliteDialect(Path file, int busyMillis) {
    this.file = file;
    this.busyMillis = busyMillis;
  }

  /**
   * Opens the file, creates it if it is missing, and migrates it to this version's schema.
   *
   * @param json decodes task data and events
   * @throws StoreException with one clear line when that is not possible
   */
  public static JdbcStatusStore open(Path file, JsonDecoder json) {
    return open(file, json, BUSY_MILLIS);
  }

  static JdbcStatusStore open(Path file, JsonDecoder json, int busyMillis) {
    SqliteDialect dialect = new SqliteDialect(file, busyMillis);
    try {
      dialect.prepare();
      return new JdbcStatusStore(dialect, json);
    } catch (SQLException e) {
      throw dialect.translate(e);
    }
  }

  @Override
  public String description() {
    return "status file " + file;
  }

  @Override
  public void prepare() throws SQLException {
    makePrivate();
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(busyMillis);
    while (true) {
      try {
        SqliteSchema.prepare(source(TransactionMode.IMMEDIATE), file);
        return;
      } catch (SQLiteException e) {
        // SQLite does not wait when others are about to give a new file its write-ahead log.
        if (e.getResultCode() != SQLiteErrorCode.SQLITE_BUSY || System.nanoTime() - end > 0) {
          throw e;
        }
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
      }
    }
  }

  /**
   * Makes a new file private to this user; SQLite creates its companion files with the same
   * permissions. The directory itself may have to be accessible for tasks of other users.
   */
  private void makePrivate() {
    if (!Files.exists(file)) {
      try {
        Files.createFile(
            file,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      } catch (IOException | UnsupportedOperationException e) {
        // SQLite reports the problem better, or creates the file where such permissions do not
        // exist.
        return;
      }
    }
  }

  private SQLiteDataSource source(TransactionMode mode) {
    SQLiteConfig config = new SQLiteConfig();
    config.setJournalMode(JournalMode.WAL);
    config.setSynchronous(SynchronousMode.FULL);
    config.setBusyTimeout(busyMillis);
    config.setTransactionMode(mode);
    config.setPragma(SQLiteConfig.Pragma.WAL_AUTOCHECKPOINT, Integer.toString(CHECKPOINT_PAGES));
    config.setPragma(SQLiteConfig.Pragma.CACHE_SIZE, "-16384");
    SQLiteDataSource source = new SQLiteDataSource(config);
    source.setUrl("jdbc:sqlite:" + file.toAbsolutePath());
    return source;
  }

  /** Opens a connection whose transactions take the write lock when they begin. */
  @Override
  public Connection openWriter() throws SQLException {
    return source(TransactionMode.IMMEDIATE).getConnection();
  }

  @Override
  public DataSource readers() {
    return source(TransactionMode.DEFERRED);
  }

  @Override
  public Duration writerIdle() {
    return Duration.ofDays(365);
  }

  /** Returns the driver's own: every result arrives row by row. */
  @Override
  public int streamingFetchSize() {
    return 0;
  }

  /** The driver's commit() would immediately take the write lock again. */
  @Override
  public void commit(Connection connection) throws SQLException {
    connection.setAutoCommit(true);
  }

  @Override
  public StoreException translate(SQLException e) {
    return SqliteErrorTranslator.translate(file, e);
  }

  @Override
  public String sql(String text) {
    return MARKS.matcher(text).replaceAll("");
  }

  @Override
  public int nameColumns() {
    return 1;
  }

  @Override
  public String readName(ResultSet found, int column) throws SQLException {
    return found.getString(column);
  }

  @Override
  public void setName(PreparedStatement statement, int at, String name) throws SQLException {
    statement.setString(at, name);
  }

  @Override
  public void setKey(PreparedStatement statement, int at, String name) throws SQLException {
    statement.setString(at, name);
  }

  @Override
  public String onConflict(String key) {
    return "ON CONFLICT (" + key + ") DO UPDATE SET";
  }

  @Override
  public String given(String column) {
    return "excluded." + column;
  }

  @Override
  public String select(Property property) {
    return "SELECT value FROM meta WHERE name = '" + name(property) + "'";
  }

  @Override
  public String update(Property property) {
    return "REPLACE INTO meta (name, value) VALUES ('" + name(property) + "', ?)";
  }

  private static String name(Property property) {
    return switch (property) {
      case EPOCH -> "epoch";
      case MARK -> "mark";
      case LEASE -> "lease";
      case EARLIER -> "earlier";
      case SOURCE -> "source";
      case STORE_ID -> "store_id";
      case NODES_SKETCH -> "nodes";
      case CALLBACK_KEY -> "callback_key";
    };
  }

  /** The transaction has the lock of the file from its beginning. */
  @Override
  public String forUpdate() {
    return "";
  }

  /** The answer of a commit cannot get lost, so no mark is set. */
  @Override
  public String take() {
    return "SELECT ? FROM meta WHERE name = 'epoch' AND value = ?";
  }

  @Override
  public String addJob() {
    return "INSERT INTO job (id, name) SELECT 1 + max((SELECT coalesce(max(id), 0) FROM job),"
        + " (SELECT coalesce(max(id), 0) FROM gone_job)), ?";
  }

  @Override
  public List<String> forgetJob() {
    return List.of(
        "INSERT INTO gone_job (id) SELECT id FROM job WHERE name = ?",
        "DELETE FROM job WHERE name = ?");
  }

  @Override
  public String forgottenJob() {
    return "SELECT id FROM gone_job LIMIT 1";
  }

  @Override
  public String deleteForgottenJob() {
    return "DELETE FROM gone_job WHERE id = ?";
  }
}
