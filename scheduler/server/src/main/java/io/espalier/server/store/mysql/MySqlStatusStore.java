package io.espalier.server.store.mysql;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.espalier.core.status.JsonDecoder;
import io.espalier.core.status.StaleEpochException;
import io.espalier.core.status.StoreException;
import io.espalier.core.status.StoreTransaction;
import io.espalier.server.store.DatabaseStatusStore;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores statuses in a schema of a MySQL or MariaDB server. One connection writes; readers have
 * their own connections and never wait for it.
 *
 * <p>Every writing transaction begins with the single row of {@code espalier_store}. The row makes
 * the transaction fail if the store was taken over. The transaction also leaves its mark in the
 * row; when the answer of a commit is lost and the same batch is submitted again, the mark shows
 * whether the commit was applied. When a scheduler stops in the middle of a transaction, with its
 * host or by SIGSTOP, the server ends the connection after {@link #STALLED}, so that it does not
 * delay the next leader.
 */
public final class MySqlStatusStore extends DatabaseStatusStore {
  /** The time that the server waits for the next statement of a writing transaction. */
  static final Duration STALLED = Duration.ofSeconds(5);

  /** A connection that was idle for longer than this is checked before use. */
  private static final long FRESH_NANOS = Duration.ofSeconds(2).toNanos();

  /** Longer than the server may wait for a lock. */
  private static final int SOCKET_MILLIS = 20_000;

  private static final int READERS = 4;

  private static final Logger LOG = LoggerFactory.getLogger(MySqlStatusStore.class);

  private final MySqlAddress address;
  private final MySqlAccess writers;
  private final MySqlReader reader;

  private final Object writing = new Object();
  private @Nullable MySqlWriter writer;
  private long usedNanos;
  private long marks;
  private @Nullable StoreTransaction uncertain;
  private long uncertainMark;
  private boolean closed;
  private @Nullable String owner;

  private MySqlStatusStore(MySqlAddress address, MySqlAccess writers, MySqlReader reader) {
    super(reader);
    this.address = address;
    this.writers = writers;
    this.reader = reader;
  }

  /**
   * Opens the schema, which must exist, and migrates it to this version's tables.
   *
   * @param json decodes task data and events
   * @throws StoreException with one clear line when that is not possible
   */
  public static MySqlStatusStore open(MySqlAddress address, JsonDecoder json) {
    int stalled = Math.toIntExact(STALLED.toSeconds());
    try {
      prepare(address);
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
      MySqlReader reader =
          new MySqlReader(describe(address), address, json, new HikariDataSource(pooled));
      return new MySqlStatusStore(address, writers, reader);
    } catch (SQLException e) {
      throw MySqlErrorTranslator.translate(address, e);
    }
  }

  /**
   * Checks that a schema can be opened, and changes nothing: tables of an older version stay as
   * they are until a scheduler leads with them.
   *
   * @throws StoreException with one clear line when that is not possible
   */
  public static void check(MySqlAddress address) {
    try {
      if (!MySqlSchema.look(MySqlAccess.of(address, Map.of(), SOCKET_MILLIS))) {
        LOG.info("{}: its tables are of an older version until this one leads", describe(address));
      }
    } catch (SQLException e) {
      throw MySqlErrorTranslator.translate(address, e);
    }
  }

  /**
   * Creates the tables or migrates them to this version.
   *
   * @throws StoreException with one clear line when that is not possible
   */
  public static void prepare(MySqlAddress address) {
    try {
      // No socket time-out, because the migration of a large table sends nothing for a long time.
      MySqlSchema.prepare(MySqlAccess.of(address, Map.of(), 0));
    } catch (SQLException e) {
      throw MySqlErrorTranslator.translate(address, e);
    }
  }

  /**
   * Makes take-overs fail unless this process owns the store according to {@link MySqlOwners}.
   * Without this call, a take-over leaves the store without an owner.
   */
  public void ownedBy(String process) {
    synchronized (writing) {
      owner = process;
    }
  }

  @Override
  public String description() {
    return describe(address);
  }

  private static String describe(MySqlAddress address) {
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

  /** Returns the source to which the store belongs; null when it was never bound to one. */
  public @Nullable String source() {
    return reader.source().orElse(null);
  }

  /**
   * Passes the store to another owner. A scheduler that led with it can no longer write; a write
   * through this object needs a new epoch as well.
   *
   * @throws StoreException not retryable, when the store belongs to neither owner
   */
  public void pass(String from, String to) {
    String bound =
        write(
            w -> {
              MySqlWriter.State state = w.lock();
              if (from.equals(state.source())) {
                w.setSource(to);
                w.setEpoch(state.epoch() + 1);
                if (owner == null) {
                  w.disown();
                }
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
  public Taken openEpoch(TakeOver how) {
    synchronized (writing) {
      // Another process has written since, so the state that the connection cached is outdated.
      dropWriter();
      return write(
          w -> {
            long old = w.lock().epoch();
            long next = Math.max(old + 1, how.atLeast());
            MySqlWriter.Identity identity = w.identity();
            if (owner != null && !owner.equals(identity.process())) {
              w.rollback();
              throw new StoreException(
                  description() + " was taken over by another scheduler", false, null);
            }
            w.setEpoch(next);
            w.setLease(Math.max(identity.leaseMillis(), how.leaseMillis()));
            if (owner == null) {
              w.disown();
            }
            w.commit();
            return new Taken(next, identity.storeId(), identity.leaseMillis(), old == 0);
          });
    }
  }

  @Override
  public void outwaited(long epoch, long leaseMillis) {
    long current =
        write(
            w -> {
              // The mark stays: a lookup of an uncertain commit may still need it.
              long inForce = w.lock().epoch();
              if (inForce == epoch) {
                w.setLease(leaseMillis);
                w.commit();
              } else {
                w.rollback();
              }
              return inForce;
            });
    if (current != epoch) {
      throw new StaleEpochException(description(), epoch, current);
    }
  }

  @Override
  public long epoch() {
    return reader.epoch();
  }

  /**
   * {@inheritDoc}
   *
   * <p>When the connection is lost during the commit, it is unknown whether the commit was applied.
   * The exception is then retryable, and the same batch, submitted again, is applied exactly once.
   */
  @Override
  public void commit(long epoch, StoreTransaction batch) {
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
  public String nodesSketch() {
    return reader.nodesSketch();
  }

  @Override
  public void keepNodesSketch(long epoch, String sketch) {
    long current =
        write(
            w -> {
              // The mark stays: a lookup of an uncertain commit may still need it.
              long inForce = w.lock().epoch();
              if (inForce == epoch) {
                w.setNodesSketch(sketch);
                w.commit();
              } else {
                w.rollback();
              }
              return inForce;
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
              // The mark stays: a lookup of an uncertain commit may still need it.
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

  @SuppressWarnings("ReferenceEquality") // Equal batches must both be applied.
  private boolean isUncertain(StoreTransaction batch) {
    return batch == uncertain;
  }

  /** Returns true when the commit whose answer was lost was applied. */
  private boolean settled(MySqlWriter w, long epoch) throws SQLException {
    MySqlWriter.State state = w.lock();
    boolean done = state.epoch() == epoch && state.mark() == uncertainMark;
    w.rollback();
    uncertain = null;
    return done;
  }

  /**
   * Deletes all jobs, pauses, cordons, limits, queue usage and events, for a fresh start. The
   * previous leader can no longer write. The store must be bound to its source before.
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

  /** Work in a transaction that ends with a commit or a rollback. */
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
        throw MySqlErrorTranslator.translate(address, e);
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

  /** Closes the connections without a commit. */
  @Override
  public void close() {
    synchronized (writing) {
      if (!closed) {
        closed = true;
        dropWriter();
        reader.close();
      }
    }
  }
}
