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
 * Keeps statuses in a schema of a MySQL or MariaDB server. One connection writes; readers have
 * their own and never wait for it.
 *
 * <p>Every transaction that writes begins with the one row of {@code espalier_store}: it is refused
 * there if the store was taken over, and leaves its mark there, by which a commit whose answer was
 * lost is recognised when the same batch comes again. A scheduler that stops in the middle of a
 * transaction, with its host or by SIGSTOP, is cut off by the server after {@link #STALLED}, so
 * that it cannot keep the next leader waiting.
 */
public final class MySqlStatusStore extends DatabaseStatusStore {
  /** How long the server waits for the next statement of a transaction that writes. */
  static final Duration STALLED = Duration.ofSeconds(5);

  /** A connection that was idle for longer is not trusted to be there still. */
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
   * Opens the schema, which must exist, and brings it to this version's tables.
   *
   * @param json reads task data and events back
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
   * Looks whether a schema can be opened, and changes nothing: tables of an older version stay as
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
   * Brings the tables to this version, and makes them where there are none.
   *
   * @throws StoreException with one clear line when that is not possible
   */
  public static void prepare(MySqlAddress address) {
    try {
      // A migration of a large table is silent for long.
      MySqlSchema.prepare(MySqlAccess.of(address, Map.of(), 0));
    } catch (SQLException e) {
      throw MySqlErrorTranslator.translate(address, e);
    }
  }

  /**
   * Makes take-overs fail unless the store is owned by this process, as {@link MySqlOwners} says.
   * Without it a take-over leaves the store without an owner.
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

  /** What it belongs to; null when that was never said. */
  public @Nullable String source() {
    return reader.source().orElse(null);
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
      // What the connection remembers of the store was written by somebody else since.
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
              // The mark stays: that of an uncertain commit may still be asked for.
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
   * <p>When the server was lost at the very moment of the commit, nobody knows whether it was done.
   * The exception is then retryable, and the same batch, given again, is applied once and not
   * twice.
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
              // The mark stays: that of an uncertain commit may still be asked for.
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
  private boolean isUncertain(StoreTransaction batch) {
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

  /** Commits nothing. */
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
