package io.espalier.server.store.jdbc;

import io.espalier.core.status.JsonDecoder;
import io.espalier.core.status.store.StaleEpochException;
import io.espalier.core.status.store.StoreException;
import io.espalier.core.status.store.StoreTransaction;
import io.espalier.server.store.jdbc.Dialect.Property;
import java.sql.SQLException;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Stores statuses in a database. One connection writes; readers have their own connections and
 * never wait for it.
 *
 * <p>Every writing transaction begins with the epoch, and fails if the store was taken over. In a
 * database beyond a network, a commit also leaves its mark in the store; when the answer of a
 * commit is lost and the same batch is submitted again, the mark shows whether the commit was
 * applied.
 */
public class JdbcStatusStore extends StoreReader {
  private final Object writing = new Object();
  private @Nullable JdbcWriter writer;
  private long usedNanos;
  private long marks;
  private @Nullable StoreTransaction uncertain;
  private long uncertainMark;
  private boolean closed;

  /**
   * Opens a store whose tables are of this version.
   *
   * @param json decodes task data and events
   */
  public JdbcStatusStore(Dialect dialect, JsonDecoder json) throws SQLException {
    super(dialect, json);
  }

  @Override
  public void bindSource(String source) {
    String bound =
        write(
            w -> {
              // The lock of the epoch comes first in all transactions.
              long unused = w.epoch();
              String old = w.get(Property.SOURCE);
              if (old == null) {
                w.set(Property.SOURCE, source);
              }
              return old == null ? source : old;
            });
    if (!bound.equals(source)) {
      throw new StoreException(
          description() + " belongs to " + bound + ", not to " + source, false, null);
    }
  }

  /**
   * Called in the transaction of each take-over, before anything is written.
   *
   * @throws StoreException when this process may not take the store over
   */
  protected void beforeTakeOver(JdbcWriter w) throws SQLException {
    // A scheduler that can open the store may take it over.
  }

  @Override
  public Taken openEpoch(TakeOver how) {
    synchronized (writing) {
      // Another process may have written since, so the state that the writer cached is outdated.
      dropWriter();
      return write(
          w -> {
            long old = w.epoch();
            beforeTakeOver(w);
            String storeId = w.get(Property.STORE_ID);
            if (storeId == null) {
              throw new StoreException(
                  description() + " is not as this program left it: it has no id; restore it",
                  false,
                  null);
            }
            long earlierLeaseMillis = w.number(Property.LEASE);
            long next = Math.max(old + 1, how.atLeast());
            if (old == 0) {
              w.set(Property.EARLIER, Earlier.NEW_STORE.name());
            }
            String earlier = w.get(Property.EARLIER);
            w.set(Property.EPOCH, next);
            w.set(Property.LEASE, Math.max(earlierLeaseMillis, how.leaseMillis()));
            return new Taken(
                next,
                storeId,
                earlierLeaseMillis,
                earlier == null ? Earlier.KNOWN : Earlier.valueOf(earlier));
          });
    }
  }

  @Override
  public void outwaited(long epoch, long leaseMillis) {
    int unused =
        write(
            w -> {
              requireEpoch(w, epoch);
              w.set(Property.LEASE, leaseMillis);
              w.set(Property.EARLIER, Earlier.KNOWN.name());
              return 0;
            });
  }

  @Override
  public void outwaits(long epoch) {
    set(epoch, Property.EARLIER, Earlier.UNKNOWN.name());
  }

  @Override
  public void keepNodesSketch(long epoch, String sketch) {
    set(epoch, Property.NODES_SKETCH, sketch);
  }

  @Override
  public void keepAbsences(long epoch, Map<String, Long> sinceMillis) {
    int unused =
        write(
            w -> {
              requireEpoch(w, epoch);
              w.keepAbsences(sinceMillis);
              return 0;
            });
  }

  @Override
  public String callbackKey(long epoch) {
    return write(
        w -> {
          requireEpoch(w, epoch);
          String known = w.get(Property.CALLBACK_KEY);
          if (known != null) {
            return known;
          }
          String key = UUID.randomUUID() + UUID.randomUUID().toString().substring(0, 28);
          w.set(Property.CALLBACK_KEY, key);
          return key;
        });
  }

  private void set(long epoch, Property property, Object value) {
    int unused =
        write(
            w -> {
              requireEpoch(w, epoch);
              w.set(property, value);
              return 0;
            });
  }

  @Override
  public int cleanUp(long epoch, Retention retention, int atMost) {
    return write(
        w -> {
          requireEpoch(w, epoch);
          return w.cleanUp(retention, atMost);
        });
  }

  /** Locks the store. The mark stays: a lookup of an uncertain commit may still need it. */
  protected final void requireEpoch(JdbcWriter w, long epoch) throws SQLException {
    long inForce = w.epoch();
    if (inForce != epoch) {
      throw new StaleEpochException(description(), epoch, inForce);
    }
  }

  /**
   * {@inheritDoc}
   *
   * <p>When the connection is lost during the commit, it is unknown whether the commit was applied.
   * The exception is then retryable, and the same batch, submitted again, is applied exactly once.
   */
  @Override
  public void commit(long epoch, StoreTransaction batch) {
    synchronized (writing) {
      int unused =
          write(
              w -> {
                if (isUncertain(batch)) {
                  requireEpoch(w, epoch);
                  if (w.number(Property.MARK) == uncertainMark) {
                    return 0;
                  }
                }
                long mark = ++marks;
                if (!w.take(epoch, mark)) {
                  throw new StaleEpochException(description(), epoch, w.epoch());
                }
                w.apply(batch);
                uncertain = batch;
                uncertainMark = mark;
                return 0;
              });
      uncertain = null;
    }
  }

  @SuppressWarnings("ReferenceEquality") // Equal batches must both be applied.
  private boolean isUncertain(StoreTransaction batch) {
    return batch == uncertain;
  }

  /** Work in one transaction. */
  protected interface Work<T> {
    T on(JdbcWriter writer) throws SQLException;
  }

  /** Runs a transaction; it is rolled back when the work fails. */
  protected final <T> T write(Work<T> work) {
    synchronized (writing) {
      if (closed) {
        throw new StoreException(description() + " is closed", false, null);
      }
      boolean complete = false;
      try {
        if (System.nanoTime() - usedNanos > dialect.writerIdle().toNanos()) {
          dropWriter();
        }
        JdbcWriter mine = writer;
        if (mine == null) {
          mine = JdbcWriter.open(dialect);
          writer = mine;
        }
        mine.begin();
        T result = work.on(mine);
        mine.commit();
        usedNanos = System.nanoTime();
        complete = true;
        return result;
      } catch (SQLException e) {
        throw dialect.translate(e);
      } finally {
        if (!complete) {
          dropWriter();
        }
      }
    }
  }

  /** Closes the connection that writes, with all that it has cached; the next write opens one. */
  protected final void dropWriter() {
    synchronized (writing) {
      JdbcWriter old = writer;
      writer = null;
      if (old != null) {
        old.close();
      }
    }
  }

  /** Closes the connections without a commit. */
  @Override
  public void close() {
    synchronized (writing) {
      if (!closed) {
        closed = true;
        dropWriter();
        closeReaders();
      }
    }
  }
}
