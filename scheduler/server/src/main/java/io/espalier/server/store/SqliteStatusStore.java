package io.espalier.server.store;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.pool.HikariPool;
import io.espalier.core.event.Event;
import io.espalier.core.outcome.JobStanding;
import io.espalier.core.running.WorkerHold;
import io.espalier.core.status.Batch;
import io.espalier.core.status.JsonText;
import io.espalier.core.status.LimitOverride;
import io.espalier.core.status.Pause;
import io.espalier.core.status.QueueUsage;
import io.espalier.core.status.StaleEpochException;
import io.espalier.core.status.StatusRow;
import io.espalier.core.status.StatusStore;
import io.espalier.core.status.StoreException;
import io.espalier.core.status.TaskHistory;
import io.espalier.core.status.TaskStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteConfig.JournalMode;
import org.sqlite.SQLiteConfig.SynchronousMode;
import org.sqlite.SQLiteConfig.TransactionMode;
import org.sqlite.SQLiteDataSource;

/**
 * Keeps statuses in one SQLite file: write-ahead log, every commit synced (rulings 5). One
 * connection writes; readers have their own and never wait for it.
 */
public final class SqliteStatusStore implements StatusStore {
  private static final int BUSY_MILLIS = 5_000;

  /** 32 MB of log before it is folded into the file: a third more rows per second than with 4. */
  private static final int CHECKPOINT_PAGES = 8_000;

  private static final int CONNECTIONS = 4;

  private final Path file;
  private final JsonText json;
  private final HikariDataSource pool;

  private final Object writing = new Object();
  private @Nullable SqliteWriter writer;
  private boolean closed;

  private SqliteStatusStore(Path file, JsonText json, HikariDataSource pool) {
    this.file = file;
    this.json = json;
    this.pool = pool;
  }

  /**
   * Opens the file, creates it if it is missing, and brings it to this version's schema.
   *
   * @param json reads task data and events back
   * @throws StoreException with one clear line when that is not possible
   */
  public static SqliteStatusStore open(Path file, JsonText json) {
    return open(file, json, BUSY_MILLIS);
  }

  /**
   * A new file is ours alone, and SQLite makes its companions like it: the directory may have to be
   * open for tasks of other users to pass.
   */
  private static void makePrivate(Path file) {
    if (!Files.exists(file)) {
      try {
        Files.createFile(
            file,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      } catch (IOException | UnsupportedOperationException e) {
        // SQLite says better what is wrong, or makes it where there are no such permissions.
        return;
      }
    }
  }

  static SqliteStatusStore open(Path file, JsonText json, int busyMillis) {
    SQLiteConfig config = new SQLiteConfig();
    config.setJournalMode(JournalMode.WAL);
    config.setSynchronous(SynchronousMode.FULL);
    config.setBusyTimeout(busyMillis);
    config.setTransactionMode(TransactionMode.IMMEDIATE);
    config.setPragma(SQLiteConfig.Pragma.WAL_AUTOCHECKPOINT, Integer.toString(CHECKPOINT_PAGES));
    config.setPragma(SQLiteConfig.Pragma.CACHE_SIZE, "-16384");
    SQLiteDataSource source = new SQLiteDataSource(config);
    source.setUrl("jdbc:sqlite:" + file.toAbsolutePath());
    makePrivate(file);
    HikariDataSource pool = null;
    try {
      HikariConfig pooled = new HikariConfig();
      pooled.setDataSource(source);
      pooled.setPoolName("statuses");
      pooled.setMaximumPoolSize(CONNECTIONS);
      pooled.setMinimumIdle(0);
      pooled.setMaxLifetime(0);
      // The first use reports what is wrong, with SQLite's own code.
      pooled.setInitializationFailTimeout(-1);
      pooled.setConnectionTimeout(Math.max(1_000, busyMillis));
      pooled.setRegisterMbeans(false);
      // Before the pool, which would ask a foreign file again and again.
      SqliteSchema.prepare(source, file);
      pool = new HikariDataSource(pooled);
      return new SqliteStatusStore(file, json, pool);
    } catch (SQLException e) {
      throw SqliteFailures.translate(file, e);
    } catch (HikariPool.PoolInitializationException e) {
      throw new StoreException("status file " + file + " cannot be opened", true, e);
    }
  }

  @Override
  public String description() {
    return "status file " + file;
  }

  @Override
  public void bindSource(String source) {
    String bound =
        write(
            w -> {
              String old = w.text("source");
              if (old == null) {
                w.setMeta("source", source);
              }
              return old == null ? source : old;
            });
    if (!bound.equals(source)) {
      throw new StoreException(
          description() + " belongs to " + bound + ", not to " + source, false, null);
    }
  }

  @Override
  public long openEpoch() {
    return write(SqliteWriter::raiseEpoch);
  }

  @Override
  public void commit(long epoch, Batch batch) {
    long current =
        write(
            w -> {
              long inForce = w.epoch();
              if (inForce == epoch) {
                w.apply(batch);
              }
              return inForce;
            });
    if (current != epoch) {
      throw new StaleEpochException(description(), epoch, current);
    }
  }

  @Override
  public int cleanUp(long epoch, Retention retention, int atMost) {
    int deleted =
        write(
            w -> {
              long inForce = w.epoch();
              return inForce == epoch ? w.cleanUp(retention, atMost) : -1;
            });
    if (deleted < 0) {
      throw new StaleEpochException(description(), epoch, write(SqliteWriter::epoch));
    }
    return deleted;
  }

  /** Work inside one transaction. */
  private interface Work<T> {
    T on(SqliteWriter writer) throws SQLException;
  }

  private <T> T write(Work<T> work) {
    synchronized (writing) {
      if (closed) {
        throw new StoreException(description() + " is closed", false, null);
      }
      try {
        SqliteWriter mine = writer;
        if (mine == null) {
          mine = new SqliteWriter(pool.getConnection());
          writer = mine;
        }
        mine.begin();
        T result = work.on(mine);
        mine.commit();
        return result;
      } catch (SQLException e) {
        dropWriter();
        throw SqliteFailures.translate(file, e);
      } catch (RuntimeException e) {
        dropWriter();
        throw e;
      }
    }
  }

  private void dropWriter() {
    SqliteWriter failed = writer;
    writer = null;
    if (failed != null) {
      failed.abandon(pool);
    }
  }

  @Override
  public Set<String> jobs() {
    return read(
        connection -> {
          Set<String> jobs = new HashSet<>();
          try (Statement statement = connection.createStatement();
              ResultSet found =
                  statement.executeQuery(
                      "SELECT name FROM job WHERE EXISTS"
                          + " (SELECT 1 FROM status WHERE status.job = job.id)")) {
            while (found.next()) {
              jobs.add(found.getString(1));
            }
          }
          return jobs;
        });
  }

  @Override
  public Map<String, Long> incarnations() {
    return read(
        connection -> {
          Map<String, Long> incarnations = new HashMap<>();
          try (Statement statement = connection.createStatement();
              ResultSet found =
                  statement.executeQuery(
                      "SELECT name, incarnation FROM job WHERE incarnation != 0")) {
            while (found.next()) {
              incarnations.put(found.getString(1), found.getLong(2));
            }
          }
          return incarnations;
        });
  }

  @Override
  public void load(String job, Consumer<StatusRow> rows) {
    read(
        connection -> {
          SqliteRows reader = rows(connection);
          try (PreparedStatement statement =
              connection.prepareStatement(
                  "SELECT "
                      + SqliteRows.COLUMNS
                      + " FROM status WHERE job = (SELECT id FROM job WHERE name = ?)")) {
            statement.setString(1, job);
            try (ResultSet found = statement.executeQuery()) {
              while (found.next()) {
                rows.accept(reader.row(job, found));
              }
            }
          }
          return 0;
        });
  }

  @Override
  public List<StatusRow> load(String job, Collection<String> nodes) {
    return read(
        connection -> {
          List<StatusRow> rows = new ArrayList<>();
          SqliteRows reader = rows(connection);
          try (PreparedStatement statement =
              connection.prepareStatement(
                  "SELECT "
                      + SqliteRows.COLUMNS
                      + " FROM status WHERE job = (SELECT id FROM job WHERE name = ?)"
                      + " AND node = ?")) {
            for (String node : Set.copyOf(nodes)) {
              statement.setString(1, job);
              statement.setString(2, node);
              try (ResultSet found = statement.executeQuery()) {
                if (found.next()) {
                  rows.add(reader.row(job, found));
                }
              }
            }
          }
          return rows;
        });
  }

  @Override
  public List<StatusRow> running() {
    return read(
        connection -> {
          List<StatusRow> rows = new ArrayList<>();
          SqliteRows reader = rows(connection);
          try (Statement statement = connection.createStatement();
              ResultSet found =
                  statement.executeQuery(
                      "SELECT "
                          + SqliteRows.COLUMNS
                          + ", (SELECT name FROM job WHERE id = status.job) FROM status"
                          + " WHERE (bits & "
                          + TaskStatus.Main.RUNNING.bit()
                          + ") != 0 AND job IN (SELECT id FROM job)")) {
            while (found.next()) {
              rows.add(reader.row(found.getString(12), found));
            }
          }
          return rows;
        });
  }

  @Override
  public TaskHistory history(String job, String node) {
    return read(connection -> rows(connection).history(job, node));
  }

  private SqliteRows rows(Connection connection) {
    return new SqliteRows(description(), json, connection);
  }

  @Override
  public List<Pause> pauses() {
    return read(
        connection -> {
          List<Pause> pauses = new ArrayList<>();
          try (Statement statement = connection.createStatement();
              ResultSet found =
                  statement.executeQuery("SELECT job, operator, reason, since, until FROM pause")) {
            while (found.next()) {
              pauses.add(
                  new Pause(
                      found.getString(1),
                      found.getString(2),
                      found.getString(3),
                      found.getLong(4),
                      found.getLong(5)));
            }
          }
          return pauses;
        });
  }

  @Override
  public List<JobStanding> standings() {
    return read(
        connection -> {
          List<JobStanding> standings = new ArrayList<>();
          try (Statement statement = connection.createStatement();
              ResultSet found = statement.executeQuery("SELECT job, body FROM job_standing")) {
            while (found.next()) {
              standings.add(
                  StoredText.standing(description(), json, found.getString(1), found.getString(2)));
            }
          }
          return standings;
        });
  }

  @Override
  public List<WorkerHold> holds() {
    return read(
        connection -> {
          List<WorkerHold> holds = new ArrayList<>();
          try (Statement statement = connection.createStatement();
              ResultSet found =
                  statement.executeQuery(
                      "SELECT shard, drain, operator, reason, since FROM worker_hold")) {
            while (found.next()) {
              holds.add(
                  new WorkerHold(
                      found.getString(1),
                      found.getInt(2) == 1 ? WorkerHold.Kind.DRAIN : WorkerHold.Kind.CORDON,
                      found.getString(3),
                      found.getString(4),
                      found.getLong(5)));
            }
          }
          return holds;
        });
  }

  @Override
  public List<LimitOverride> limits() {
    return read(
        connection -> {
          List<LimitOverride> limits = new ArrayList<>();
          try (Statement statement = connection.createStatement();
              ResultSet found =
                  statement.executeQuery(
                      "SELECT level, resource, node, slots, author, reason, since, ends"
                          + " FROM limit_override")) {
            while (found.next()) {
              limits.add(
                  new LimitOverride(
                      found.getString(1),
                      found.getString(2),
                      found.getString(3),
                      found.getInt(4),
                      found.getString(5),
                      found.getString(6),
                      found.getLong(7),
                      found.getLong(8)));
            }
          }
          return limits;
        });
  }

  @Override
  public List<QueueUsage> queueUsage() {
    return read(
        connection -> {
          List<QueueUsage> usage = new ArrayList<>();
          try (Statement statement = connection.createStatement();
              ResultSet found =
                  statement.executeQuery("SELECT queue, value, at FROM queue_usage")) {
            while (found.next()) {
              usage.add(new QueueUsage(found.getString(1), found.getDouble(2), found.getLong(3)));
            }
          }
          return usage;
        });
  }

  @Override
  public long newestEvent() {
    return read(
        connection -> {
          try (Statement statement = connection.createStatement();
              ResultSet found =
                  statement.executeQuery("SELECT last FROM event ORDER BY first DESC LIMIT 1")) {
            return found.next() ? found.getLong(1) : 0L;
          }
        });
  }

  @Override
  public List<Event> events(long sequence, int limit) {
    return read(
        connection -> {
          List<Event> events = new ArrayList<>();
          try (PreparedStatement statement =
              connection.prepareStatement(
                  "SELECT body FROM event WHERE first >="
                      + " coalesce((SELECT max(first) FROM event WHERE first <= ?), 0)"
                      + " ORDER BY first")) {
            statement.setLong(1, sequence);
            try (ResultSet found = statement.executeQuery()) {
              while (events.size() < limit && found.next()) {
                addEvents(found.getString(1), sequence, limit, events);
              }
            }
          }
          return events;
        });
  }

  private void addEvents(String body, long after, int limit, List<Event> to) {
    try {
      for (Event event : StoredText.events(json, body)) {
        if (event.sequence() > after && to.size() < limit) {
          to.add(event);
        }
      }
    } catch (IllegalArgumentException e) {
      throw new StoreException(description() + ": the event log is damaged", false, e);
    }
  }

  /** Reads on a connection of its own. */
  private interface Query<T> {
    T on(Connection connection) throws SQLException;
  }

  private <T> T read(Query<T> query) {
    try (Connection connection = pool.getConnection()) {
      return query.on(connection);
    } catch (SQLException e) {
      throw SqliteFailures.translate(file, e);
    }
  }

  /** Commits nothing; folds the log into the file. */
  @Override
  public void close() {
    synchronized (writing) {
      if (!closed) {
        closed = true;
        if (writer != null) {
          writer.release();
          writer = null;
        }
        pool.close();
      }
    }
  }
}
