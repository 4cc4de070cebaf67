package io.espalier.worker.logs;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.LogPage;
import io.espalier.core.logs.LogQuery;
import io.espalier.core.logs.LogStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteDataSource;

/**
 * Task logs in one SQLite file, in Bistro's tables (behaviour 7.5) with a column for the
 * milliseconds.
 *
 * <p>Appending only queues; one writer thread commits what has gathered. The queue is bounded by
 * bytes: a disk that is too slow slows down those who append. A batch that cannot be written (disk
 * full) is tried twice and then dropped, with a line in our own log and a count: tasks are worth
 * more than their output. A query first waits until everything appended before it is committed.
 */
public final class SqliteLogStore implements LogStore {
  private static final Logger log = LoggerFactory.getLogger(SqliteLogStore.class);

  private static final long MAX_PENDING_BYTES = 64L << 20;
  private static final int LINE_OVERHEAD = 120;
  private static final long LINGER_NANOS = 20_000_000;
  private static final int ENOUGH_LINES = 2000;
  private static final int PRUNE_CHUNK = 5000;
  private static final int READERS = 4;

  /** Rows one query may look at before it returns what it has, and where to go on. */
  private static final int MAX_SCANNED = 500_000;

  private final Path file;
  private final Connection writer;
  private final HikariDataSource readers;
  private final Thread thread;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Deque<Prune> prunes = new ArrayDeque<>();
  private List<LogLine> pending = new ArrayList<>();
  private long pendingBytes;
  private long lastId;
  private long appended;
  private long committed;
  private long dropped;
  private boolean hurry;
  private boolean closing;
  private boolean ended;

  private record Prune(long beforeMillis, CompletableFuture<Void> done) {}

  private SqliteLogStore(Path file, Connection writer, HikariDataSource readers, long lastId) {
    this.file = file;
    this.writer = writer;
    this.readers = readers;
    this.lastId = lastId;
    this.thread = new Thread(this::write, "task-log-writer");
    thread.setDaemon(true);
  }

  /**
   * Opens the file, making it and its directories when missing.
   *
   * @throws IOException naming the file, when it cannot be used or holds something else
   */
  public static SqliteLogStore open(Path file) throws IOException {
    Connection writer = null;
    try {
      Path parent = file.toAbsolutePath().getParent();
      if (parent != null) {
        Files.createDirectories(parent);
      }
      writer = source(file, false).getConnection();
      long lastId = prepare(writer);
      HikariConfig config = new HikariConfig();
      config.setPoolName("task-logs");
      config.setDataSource(source(file, true));
      config.setReadOnly(true);
      config.setMaximumPoolSize(READERS);
      config.setMinimumIdle(0);
      config.setIdleTimeout(60_000);
      config.setInitializationFailTimeout(-1);
      SqliteLogStore store = new SqliteLogStore(file, writer, new HikariDataSource(config), lastId);
      store.thread.start();
      return store;
    } catch (SQLException | IOException e) {
      if (writer != null) {
        closeQuietly(writer);
      }
      throw new IOException("cannot use the task log " + file + ": " + e.getMessage(), e);
    }
  }

  private static SQLiteDataSource source(Path file, boolean readOnly) {
    SQLiteConfig config = new SQLiteConfig();
    config.setBusyTimeout(10_000);
    config.setReadOnly(readOnly);
    if (!readOnly) {
      config.setJournalMode(SQLiteConfig.JournalMode.WAL);
      config.setSynchronous(SQLiteConfig.SynchronousMode.NORMAL);
    }
    SQLiteDataSource source = new SQLiteDataSource(config);
    source.setUrl("jdbc:sqlite:" + file.toAbsolutePath());
    return source;
  }

  private static long prepare(Connection connection) throws SQLException {
    long last = 0;
    try (Statement statement = connection.createStatement()) {
      for (LogLine.Stream stream : LogLine.Stream.values()) {
        String table = stream.label();
        statement.executeUpdate(
            "CREATE TABLE IF NOT EXISTS "
                + table
                + " (job_id TEXT NOT NULL, node_id TEXT NOT NULL,"
                + " time_and_count INTEGER PRIMARY KEY, line TEXT NOT NULL,"
                + " time_millis INTEGER NOT NULL)");
        statement.executeUpdate(
            "CREATE INDEX IF NOT EXISTS " + table + "_by_job ON " + table + " (job_id)");
        statement.executeUpdate(
            "CREATE INDEX IF NOT EXISTS " + table + "_by_node ON " + table + " (node_id)");
        try (ResultSet row =
            statement.executeQuery("SELECT coalesce(max(time_and_count), 0) FROM " + table)) {
          row.next();
          last = Math.max(last, row.getLong(1));
        }
      }
    }
    connection.setAutoCommit(false);
    return last;
  }

  @Override
  public void append(LogLine.Stream stream, String job, String node, long timeMillis, String text) {
    lock.lock();
    try {
      while (pendingBytes > MAX_PENDING_BYTES && !closing) {
        changed.awaitUninterruptibly();
      }
      if (closing) {
        dropped++;
        return;
      }
      lastId = Math.max(lastId + 1, (timeMillis / 1000) << 32);
      pending.add(new LogLine(lastId, stream, job, node, timeMillis, text));
      pendingBytes += text.length() + LINE_OVERHEAD;
      appended++;
      if (pending.size() == 1 || pending.size() == ENOUGH_LINES) {
        changed.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Lines that could not be stored since the store was opened. */
  public long droppedLines() {
    lock.lock();
    try {
      return dropped;
    } finally {
      lock.unlock();
    }
  }

  private void flush() {
    lock.lock();
    try {
      long wanted = appended;
      while (committed < wanted && !ended) {
        hurry = true;
        changed.signalAll();
        changed.awaitUninterruptibly();
      }
    } finally {
      lock.unlock();
    }
  }

  private void write() {
    try {
      boolean more = true;
      while (more) {
        more = writeSome();
      }
    } finally {
      lock.lock();
      try {
        ended = true;
        closing = true;
        prunes.forEach(prune -> prune.done().complete(null));
        changed.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }

  /** One batch, and one chunk of what is to be pruned; false at the end. */
  private boolean writeSome() {
    List<LogLine> batch;
    Prune prune;
    lock.lock();
    try {
      while (pending.isEmpty() && prunes.isEmpty() && !closing) {
        changed.awaitUninterruptibly();
      }
      linger();
      batch = pending;
      pending = new ArrayList<>();
      pendingBytes = 0;
      hurry = false;
      prune = prunes.peek();
      if (closing && batch.isEmpty()) {
        return false;
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    if (!batch.isEmpty()) {
      boolean stored = store(batch);
      lock.lock();
      try {
        committed += batch.size();
        if (!stored) {
          dropped += batch.size();
        }
        changed.signalAll();
      } finally {
        lock.unlock();
      }
    }
    if (prune != null && pruneSome(prune)) {
      lock.lock();
      try {
        prunes.remove(prune);
      } finally {
        lock.unlock();
      }
    }
    return true;
  }

  /** Lines come in bursts: a commit for each would cost more than the lines. */
  private void linger() {
    long left = LINGER_NANOS;
    try {
      while (left > 0 && pending.size() < ENOUGH_LINES && !hurry && !closing && prunes.isEmpty()) {
        left = changed.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      log.debug("the writer of the task log does not stop for interrupts", e);
    }
  }

  private boolean store(List<LogLine> batch) {
    for (int attempt = 1; attempt <= 2; attempt++) {
      try {
        insert(batch);
        writer.commit();
        return true;
      } catch (SQLException e) {
        log.error(
            "cannot write {} lines of task logs to {} (attempt {} of 2): {}",
            batch.size(),
            file,
            attempt,
            e.getMessage());
        rollback();
      }
    }
    return false;
  }

  private void insert(List<LogLine> batch) throws SQLException {
    Map<LogLine.Stream, List<LogLine>> byStream = new EnumMap<>(LogLine.Stream.class);
    for (LogLine line : batch) {
      byStream.computeIfAbsent(line.stream(), s -> new ArrayList<>()).add(line);
    }
    for (Map.Entry<LogLine.Stream, List<LogLine>> lines : byStream.entrySet()) {
      try (PreparedStatement insert =
          writer.prepareStatement(
              "INSERT INTO "
                  + lines.getKey().label()
                  + " (job_id, node_id, time_and_count, line, time_millis)"
                  + " VALUES (?, ?, ?, ?, ?)")) {
        for (LogLine line : lines.getValue()) {
          insert.setString(1, line.job());
          insert.setString(2, line.node());
          insert.setLong(3, line.id());
          insert.setString(4, line.text());
          insert.setLong(5, line.timeMillis());
          insert.addBatch();
        }
        insert.executeBatch();
      }
    }
  }

  private void rollback() {
    try {
      writer.rollback();
    } catch (SQLException e) {
      log.error("cannot roll back in {}: {}", file, e.getMessage());
    }
  }

  /** One chunk of every table; true when there was no full one. */
  private boolean pruneSome(Prune prune) {
    // Ids grow with time, so the old lines are at one end of the primary key.
    long beforeId = (prune.beforeMillis() / 1000 + 1) << 32;
    boolean finished = true;
    try {
      for (LogLine.Stream stream : LogLine.Stream.values()) {
        String table = stream.label();
        try (PreparedStatement delete =
            writer.prepareStatement(
                "DELETE FROM "
                    + table
                    + " WHERE time_and_count IN (SELECT time_and_count FROM "
                    + table
                    + " WHERE time_and_count < ? AND time_millis < ?"
                    + " ORDER BY time_and_count LIMIT ?)")) {
          delete.setLong(1, beforeId);
          delete.setLong(2, prune.beforeMillis());
          delete.setInt(3, PRUNE_CHUNK);
          finished &= delete.executeUpdate() < PRUNE_CHUNK;
        }
      }
      writer.commit();
    } catch (SQLException e) {
      rollback();
      prune.done().completeExceptionally(failure("prune", e));
      return true;
    }
    if (finished) {
      prune.done().complete(null);
    }
    return finished;
  }

  @Override
  public LogPage query(LogQuery query) {
    if (query.limit() < 1) {
      throw new IllegalArgumentException("a page has at least one line, not " + query.limit());
    }
    flush();
    try (Connection connection = readers.getConnection();
        PreparedStatement select = connection.prepareStatement(select(query))) {
      int parameter = 1;
      if (query.from() >= 0) {
        select.setLong(parameter++, query.from());
      }
      if (!query.jobs().isEmpty()) {
        select.setString(parameter++, JsonWriter.compact(Json.strings(query.jobs())));
      }
      if (!query.nodes().isEmpty()) {
        select.setString(parameter++, JsonWriter.compact(Json.strings(query.nodes())));
      }
      try (ResultSet rows = select.executeQuery()) {
        return page(query, rows);
      }
    } catch (SQLException e) {
      throw failure("query", e);
    }
  }

  private static String select(LogQuery query) {
    List<String> conditions = new ArrayList<>();
    if (query.from() >= 0) {
      conditions.add("time_and_count " + (query.ascending() ? ">=" : "<=") + " ?");
    }
    if (!query.jobs().isEmpty()) {
      conditions.add(isAnyOf("job_id", query.jobs()));
    }
    if (!query.nodes().isEmpty()) {
      conditions.add(isAnyOf("node_id", query.nodes()));
    }
    return "SELECT time_and_count, job_id, node_id, time_millis, line FROM "
        + query.stream().label()
        + (conditions.isEmpty() ? "" : " WHERE " + String.join(" AND ", conditions))
        + " ORDER BY time_and_count "
        + (query.ascending() ? "ASC" : "DESC")
        + (query.regex() == null ? " LIMIT " + (query.limit() + 1L) : "");
  }

  /** With one value the index yields the rows in order; with more they have to be sorted. */
  private static String isAnyOf(String column, List<String> values) {
    return values.size() == 1
        ? column + " = (SELECT value FROM json_each(?))"
        : column + " IN (SELECT value FROM json_each(?))";
  }

  private static LogPage page(LogQuery query, ResultSet rows) throws SQLException {
    List<LogLine> lines = new ArrayList<>();
    int scanned = 0;
    while (rows.next()) {
      long id = rows.getLong(1);
      String text = rows.getString(5);
      if (lines.size() == query.limit() && matches(query, text)) {
        return new LogPage(lines, id);
      }
      // Also where nothing matches there is an end, and a place to go on from.
      if (++scanned > MAX_SCANNED) {
        return new LogPage(lines, id);
      }
      if (matches(query, text)) {
        lines.add(
            new LogLine(
                id, query.stream(), rows.getString(2), rows.getString(3), rows.getLong(4), text));
      }
    }
    return new LogPage(lines, -1);
  }

  private static boolean matches(LogQuery query, @Nullable String text) {
    return text != null && (query.regex() == null || query.regex().matcher(text).find());
  }

  @Override
  public void prune(long beforeMillis) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    lock.lock();
    try {
      if (closing) {
        return;
      }
      prunes.add(new Prune(beforeMillis, done));
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    done.join();
  }

  /** Stores what was appended, then closes the file. */
  @Override
  public void close() {
    lock.lock();
    try {
      closing = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    try {
      thread.join(30_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    readers.close();
    closeQuietly(writer);
  }

  private static void closeQuietly(Connection connection) {
    try {
      connection.close();
    } catch (SQLException e) {
      log.warn("closing the task log: {}", e.getMessage());
    }
  }

  private UncheckedIOException failure(String what, SQLException e) {
    return new UncheckedIOException(
        new IOException("cannot " + what + " the task log " + file + ": " + e.getMessage(), e));
  }
}
