package io.espalier.server.store.mysql;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
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
import io.espalier.server.store.StoredText;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps statuses in a schema of a MySQL or MariaDB server. One connection writes; readers have
 * their own and never wait for it.
 *
 * <p>Every transaction that writes begins with the one row of {@code espalier_store}: it is refused
 * there if the store was taken over, and leaves its mark there, by which a commit whose answer was
 * lost is recognised when the same batch comes again. A scheduler that stops in the middle of a
 * transaction, with its host or by SIGSTOP, is cut off by the server after {@link #STALLED}, so
 * that it cannot keep the next leader waiting.
 */
public final class MySqlStatusStore implements StatusStore {
  /** How long the server waits for the next statement of a transaction that writes. */
  static final Duration STALLED = Duration.ofSeconds(5);

  /** A connection that was idle for longer is not trusted to be there still. */
  private static final long FRESH_NANOS = Duration.ofSeconds(2).toNanos();

  /** Longer than the server may wait for a lock. */
  private static final int SOCKET_MILLIS = 20_000;

  private static final int READERS = 4;

  private static final Logger LOG = LoggerFactory.getLogger(MySqlStatusStore.class);

  private final MySqlAddress address;
  private final JsonText json;
  private final MySqlAccess writers;
  private final HikariDataSource readers;

  private final Object writing = new Object();
  private @Nullable MySqlWriter writer;
  private long usedNanos;
  private long marks;
  private @Nullable Batch uncertain;
  private long uncertainMark;
  private boolean closed;

  private MySqlStatusStore(
      MySqlAddress address, JsonText json, MySqlAccess writers, HikariDataSource readers) {
    this.address = address;
    this.json = json;
    this.writers = writers;
    this.readers = readers;
  }

  /**
   * Opens the schema, which must exist, and brings it to this version's tables.
   *
   * @param json reads task data and events back
   * @throws StoreException with one clear line when that is not possible
   */
  public static MySqlStatusStore open(MySqlAddress address, JsonText json) {
    int stalled = Math.toIntExact(STALLED.toSeconds());
    try {
      // A migration of a large table is silent for long.
      MySqlSchema.prepare(MySqlAccess.of(address, Map.of(), 0));
      HikariConfig pooled = new HikariConfig();
      pooled.setDataSource(MySqlAccess.of(address, Map.of(), SOCKET_MILLIS));
      pooled.setPoolName("statuses");
      pooled.setMaximumPoolSize(READERS);
      pooled.setMinimumIdle(0);
      pooled.setIdleTimeout(Duration.ofMinutes(1).toMillis());
      pooled.setConnectionTimeout(6_000);
      pooled.setInitializationFailTimeout(-1);
      pooled.setTransactionIsolation("TRANSACTION_REPEATABLE_READ");
      pooled.setRegisterMbeans(false);
      MySqlAccess writers =
          MySqlAccess.of(
              address,
              Map.of(
                  "wait_timeout", stalled,
                  "net_read_timeout", stalled,
                  "net_write_timeout", stalled,
                  "innodb_lock_wait_timeout", 2 * stalled),
              SOCKET_MILLIS);
      return new MySqlStatusStore(address, json, writers, new HikariDataSource(pooled));
    } catch (SQLException e) {
      throw MySqlFailures.translate(address, e);
    }
  }

  @Override
  public String description() {
    return "status store " + address;
  }

  @Override
  public void bindSource(String source) {
    String bound =
        write(
            w -> {
              String old = w.lock().source();
              if (old == null) {
                w.setSource(source);
              }
              w.commit();
              return old == null ? source : old;
            });
    if (!bound.equals(source)) {
      throw new StoreException(
          description() + " belongs to " + bound + ", not to " + source, false, null);
    }
  }

  /** What it belongs to; null when that was never said. */
  public @Nullable String source() {
    return read(
        connection -> {
          try (Statement statement = connection.createStatement();
              ResultSet found =
                  statement.executeQuery("SELECT source FROM espalier_store WHERE id = 1")) {
            return found.next() ? found.getString(1) : null;
          }
        });
  }

  /**
   * Gives it to another owner. Whoever leads with it until now may write nothing more; a write of
   * this store's own needs a new epoch as well.
   *
   * @throws StoreException not retryable, when it belongs to neither
   */
  public void pass(String from, String to) {
    String bound =
        write(
            w -> {
              MySqlWriter.State state = w.lock();
              if (from.equals(state.source())) {
                w.setSource(to);
                w.setEpoch(state.epoch() + 1);
              }
              w.commit();
              return from.equals(state.source()) ? to : String.valueOf(state.source());
            });
    dropWriterNow();
    if (!bound.equals(to)) {
      throw new StoreException(
          description() + " belongs to " + bound + ", not to " + from, false, null);
    }
  }

  @Override
  public long openEpoch() {
    synchronized (writing) {
      // What the connection remembers of the store was written by somebody else since.
      dropWriter();
      return write(
          w -> {
            long next = w.lock().epoch() + 1;
            w.setEpoch(next);
            w.commit();
            return next;
          });
    }
  }

  /**
   * {@inheritDoc}
   *
   * <p>When the server was lost at the very moment of the commit, nobody knows whether it was done.
   * The exception is then retryable, and the same batch, given again, is applied once and not
   * twice.
   */
  @Override
  public void commit(long epoch, Batch batch) {
    long current =
        write(
            w -> {
              if (isUncertain(batch) && settled(w, epoch)) {
                return epoch;
              }
              long mark = ++marks;
              if (!w.take(epoch, mark)) {
                long inForce = w.lock().epoch();
                w.rollback();
                return inForce;
              }
              w.apply(batch);
              uncertain = batch;
              uncertainMark = mark;
              w.commit();
              uncertain = null;
              return epoch;
            });
    if (current != epoch) {
      throw new StaleEpochException(description(), epoch, current);
    }
  }

  @Override
  public int cleanUp(long epoch, Retention retention, int atMost) {
    long[] inForce = {epoch};
    int deleted =
        write(
            w -> {
              // The mark stays: that of an uncertain commit may still be asked for.
              inForce[0] = w.lock().epoch();
              if (inForce[0] != epoch) {
                w.rollback();
                return 0;
              }
              int rows = w.cleanUp(retention, atMost);
              w.commit();
              return rows;
            });
    if (inForce[0] != epoch) {
      throw new StaleEpochException(description(), epoch, inForce[0]);
    }
    return deleted;
  }

  @SuppressWarnings("ReferenceEquality") // Two batches may be equal, and both are to be applied.
  private boolean isUncertain(Batch batch) {
    return batch == uncertain;
  }

  /** Whether the commit whose answer was lost was done. */
  private boolean settled(MySqlWriter w, long epoch) throws SQLException {
    MySqlWriter.State state = w.lock();
    boolean done = state.epoch() == epoch && state.mark() == uncertainMark;
    w.rollback();
    uncertain = null;
    return done;
  }

  /**
   * Forgets all jobs, pauses, holds, limits, use of queues and events, for a fresh start; whoever
   * led until now may write nothing more. To be bound to its source before.
   */
  public void forgetEverything() {
    long epoch =
        write(
            w -> {
              long next = w.lock().epoch() + 1;
              w.setEpoch(next);
              w.forgetEverything();
              w.commit();
              return next;
            });
    dropWriterNow();
    LOG.info("{} is empty now, by epoch {}", description(), epoch);
  }

  private void dropWriterNow() {
    synchronized (writing) {
      dropWriter();
    }
  }

  /** Work that ends with a commit or a rollback. */
  private interface Work<T> {
    T on(MySqlWriter writer) throws SQLException;
  }

  private <T> T write(Work<T> work) {
    synchronized (writing) {
      if (closed) {
        throw new StoreException(description() + " is closed", false, null);
      }
      boolean complete = false;
      try {
        if (writer != null && System.nanoTime() - usedNanos > FRESH_NANOS) {
          dropWriter();
        }
        MySqlWriter mine = writer;
        if (mine == null) {
          mine = new MySqlWriter(writers.getConnection());
          writer = mine;
        }
        T result = work.on(mine);
        usedNanos = System.nanoTime();
        complete = true;
        return result;
      } catch (SQLException e) {
        throw MySqlFailures.translate(address, e);
      } finally {
        if (!complete) {
          dropWriter();
        }
      }
    }
  }

  private void dropWriter() {
    MySqlWriter old = writer;
    writer = null;
    if (old != null) {
      old.close();
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
                      "SELECT name, long_name FROM espalier_job j WHERE name IS NOT NULL AND EXISTS"
                          + " (SELECT 1 FROM espalier_status s WHERE s.job = j.id)")) {
            while (found.next()) {
              jobs.add(NameKey.read(found, 1));
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
                      "SELECT name, long_name, incarnation FROM espalier_job"
                          + " WHERE name IS NOT NULL AND incarnation != 0")) {
            while (found.next()) {
              incarnations.put(NameKey.read(found, 1), found.getLong(3));
            }
          }
          return incarnations;
        });
  }

  @Override
  public void load(String job, Consumer<StatusRow> rows) {
    read(
        connection -> {
          MySqlRows reader = rows(connection);
          try (PreparedStatement statement =
              streaming(
                  connection,
                  "SELECT "
                      + MySqlRows.COLUMNS
                      + " FROM espalier_status s WHERE s.job ="
                      + " (SELECT id FROM espalier_job WHERE name = ?)")) {
            statement.setBytes(1, NameKey.of(job).key());
            try (ResultSet found = statement.executeQuery()) {
              while (found.next()) {
                rows.accept(reader.row(job, found));
              }
            }
          }
          return 0;
        });
  }

  /** Rows come one after the other, and not all at once. */
  private static PreparedStatement streaming(Connection connection, String sql)
      throws SQLException {
    PreparedStatement statement =
        connection.prepareStatement(sql, ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY);
    statement.setFetchSize(Integer.MIN_VALUE);
    return statement;
  }

  @Override
  public List<StatusRow> load(String job, Collection<String> nodes) {
    return read(
        connection -> {
          List<StatusRow> rows = new ArrayList<>();
          MySqlRows reader = rows(connection);
          Integer id = id(connection, job);
          if (id == null) {
            return rows;
          }
          for (List<String> some : MySqlWriter.pieces(List.copyOf(Set.copyOf(nodes)))) {
            try (PreparedStatement statement =
                connection.prepareStatement(
                    "SELECT "
                        + MySqlRows.COLUMNS
                        + " FROM espalier_status s WHERE s.job = ? AND s.node IN "
                        + MySqlWriter.marks(some.size()))) {
              MySqlWriter.setKeys(statement, id, some);
              try (ResultSet found = statement.executeQuery()) {
                while (found.next()) {
                  rows.add(reader.row(job, found));
                }
              }
            }
          }
          return rows;
        });
  }

  private static @Nullable Integer id(Connection connection, String job) throws SQLException {
    try (PreparedStatement find =
        connection.prepareStatement("SELECT id FROM espalier_job WHERE name = ?")) {
      find.setBytes(1, NameKey.of(job).key());
      try (ResultSet found = find.executeQuery()) {
        return found.next() ? found.getInt(1) : null;
      }
    }
  }

  @Override
  public List<StatusRow> running() {
    return read(
        connection -> {
          List<StatusRow> rows = new ArrayList<>();
          MySqlRows reader = rows(connection);
          try (PreparedStatement statement =
                  streaming(
                      connection,
                      "SELECT "
                          + MySqlRows.COLUMNS
                          + ", j.name, j.long_name FROM espalier_status s"
                          + " JOIN espalier_job j ON j.id = s.job WHERE j.name IS NOT NULL"
                          + " AND (s.bits & "
                          + TaskStatus.Main.RUNNING.bit()
                          + ") != 0");
              ResultSet found = statement.executeQuery()) {
            while (found.next()) {
              rows.add(reader.row(NameKey.read(found, MySqlRows.NEXT), found));
            }
          }
          return rows;
        });
  }

  @Override
  public TaskHistory history(String job, String node) {
    return read(connection -> rows(connection).history(job, node));
  }

  private MySqlRows rows(Connection connection) throws SQLException {
    return new MySqlRows(description(), json, connection);
  }

  @Override
  public List<Pause> pauses() {
    return read(
        connection -> {
          List<Pause> pauses = new ArrayList<>();
          try (Statement statement = connection.createStatement();
              ResultSet found =
                  statement.executeQuery(
                      "SELECT job, long_job, operator, reason, since, ends FROM espalier_pause")) {
            while (found.next()) {
              pauses.add(
                  new Pause(
                      NameKey.read(found, 1),
                      found.getString(3),
                      found.getString(4),
                      found.getLong(5),
                      found.getLong(6)));
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
              ResultSet found =
                  statement.executeQuery("SELECT job, long_job, body FROM espalier_job_standing")) {
            while (found.next()) {
              standings.add(
                  StoredText.standing(
                      description(), json, NameKey.read(found, 1), found.getString(3)));
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
                      "SELECT shard, long_shard, drain, operator, reason, since"
                          + " FROM espalier_worker_hold")) {
            while (found.next()) {
              holds.add(
                  new WorkerHold(
                      NameKey.read(found, 1),
                      found.getInt(3) == 1 ? WorkerHold.Kind.DRAIN : WorkerHold.Kind.CORDON,
                      found.getString(4),
                      found.getString(5),
                      found.getLong(6)));
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
                      "SELECT level, long_level, resource, long_resource, node, long_node, slots,"
                          + " author, reason, since, ends FROM espalier_limit_override")) {
            while (found.next()) {
              limits.add(
                  new LimitOverride(
                      NameKey.read(found, 1),
                      NameKey.read(found, 3),
                      NameKey.read(found, 5),
                      found.getInt(7),
                      found.getString(8),
                      found.getString(9),
                      found.getLong(10),
                      found.getLong(11)));
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
                  statement.executeQuery("SELECT queue, value, at FROM espalier_queue_usage")) {
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
                  statement.executeQuery(
                      "SELECT last FROM espalier_event ORDER BY first DESC LIMIT 1")) {
            return found.next() ? found.getLong(1) : 0L;
          }
        });
  }

  @Override
  public List<Event> events(long sequence, int limit) {
    return read(
        connection -> {
          List<Event> events = new ArrayList<>();
          if (limit <= 0) {
            return events;
          }
          // Of the rows that are asked for each holds one event at least, but for the first.
          try (PreparedStatement statement =
              streaming(
                  connection,
                  "SELECT body FROM espalier_event WHERE first >= coalesce((SELECT max(first) FROM"
                      + " espalier_event WHERE first <= ?), 0) ORDER BY first LIMIT ?")) {
            statement.setLong(1, sequence);
            statement.setLong(2, limit + 1L);
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
    try (Connection connection = beginRead()) {
      T result = query.on(connection);
      connection.rollback();
      return result;
    } catch (SQLException e) {
      throw MySqlFailures.translate(address, e);
    }
  }

  /** In a transaction. All that lie in the pool may have died with the server since. */
  private Connection beginRead() throws SQLException {
    for (int dead = 0; ; dead++) {
      Connection connection = readers.getConnection();
      try {
        connection.setAutoCommit(false);
        return connection;
      } catch (SQLException e) {
        connection.close();
        if (dead == READERS) {
          throw e;
        }
      }
    }
  }

  /** Commits nothing. */
  @Override
  public void close() {
    synchronized (writing) {
      if (!closed) {
        closed = true;
        dropWriter();
        readers.close();
      }
    }
  }
}
