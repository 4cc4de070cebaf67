package io.espalier.server.store.jdbc.sqlite;

import io.espalier.worker.files.AtomicFiles;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.sqlite.SQLiteConfig;

/** Copies a status file while a scheduler uses it, and checks copies. */
public final class SqliteBackup {
  private static final int BUSY_MILLIS = 30_000;

  private SqliteBackup() {}

  /**
   * Describes a status file.
   *
   * @param storeId identity of the store, which all its copies share; empty: no scheduler has used
   *     it yet
   * @param epoch of the latest leadership
   * @param statuses number of tasks with a status
   */
  public record Contents(String storeId, long epoch, long statuses) {}

  /**
   * Writes a consistent copy, which is complete and on disk when this returns. A scheduler may use
   * the file at the same time.
   *
   * @param target must not exist
   * @throws IOException when the file is no status file, or the copy cannot be written
   */
  public static Contents write(Path file, Path target) throws IOException {
    if (Files.exists(target)) {
      throw new FileAlreadyExistsException(target.toString(), null, "it exists already");
    }
    Path fresh = target.resolveSibling(target.getFileName() + ".new");
    Files.deleteIfExists(fresh);
    try (Connection connection = open(file);
        PreparedStatement copy = connection.prepareStatement("VACUUM INTO ?")) {
      copy.setString(1, fresh.toAbsolutePath().toString());
      copy.execute();
    } catch (SQLException e) {
      throw new IOException(file + " cannot be copied: " + e.getMessage(), e);
    }
    Contents contents = check(fresh);
    AtomicFiles.move(fresh, target);
    return contents;
  }

  /**
   * Reads all of a copy.
   *
   * @throws IOException when it is damaged, no status file, or written by a newer version
   */
  public static Contents check(Path file) throws IOException {
    try (Connection connection = open(file);
        Statement statement = connection.createStatement()) {
      if (number(statement, "PRAGMA application_id") != SqliteSchema.APPLICATION_ID) {
        throw new IOException(file + " is no status file of Espalier");
      }
      if (number(statement, "PRAGMA user_version") > SqliteSchema.VERSION) {
        throw new IOException(file + " was written by a newer Espalier");
      }
      String damage = text(statement, "PRAGMA integrity_check(1)");
      if (!damage.equals("ok")) {
        throw new IOException(file + " is damaged: " + damage);
      }
      return new Contents(
          text(statement, "SELECT value FROM meta WHERE name = 'store_id'"),
          number(statement, "SELECT value FROM meta WHERE name = 'epoch'"),
          number(statement, "SELECT count(*) FROM status"));
    } catch (SQLException e) {
      throw new IOException(file + " cannot be read: " + e.getMessage(), e);
    }
  }

  private static Connection open(Path file) throws IOException, SQLException {
    if (!Files.isRegularFile(file)) {
      throw new IOException("there is no file " + file);
    }
    SQLiteConfig config = new SQLiteConfig();
    config.setBusyTimeout(BUSY_MILLIS);
    return config.createConnection("jdbc:sqlite:" + file.toAbsolutePath());
  }

  private static String text(Statement statement, String sql) throws SQLException {
    try (ResultSet result = statement.executeQuery(sql)) {
      String found = result.next() ? result.getString(1) : null;
      return found == null ? "" : found;
    }
  }

  private static long number(Statement statement, String sql) throws SQLException {
    try (ResultSet result = statement.executeQuery(sql)) {
      return result.next() ? result.getLong(1) : 0;
    }
  }
}
