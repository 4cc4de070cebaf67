package io.espalier.server.store;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.pool.HikariPool;
import io.espalier.core.status.JsonDecoder;
import io.espalier.core.status.StaleEpochException;
import io.espalier.core.status.StoreException;
import io.espalier.core.status.StoreTransaction;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.SQLException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteConfig.JournalMode;
import org.sqlite.SQLiteConfig.SynchronousMode;
import org.sqlite.SQLiteConfig.TransactionMode;
import org.sqlite.SQLiteDataSource;

/**
 * Stores statuses in one SQLite file with a write-ahead log; every commit is synced
 * (docs/design/design.md#durability). One connection writes; readers have their own connections and
 * never wait for it.
 */
public final class SqliteStatusStore extends DatabaseStatusStore {
  private static final int BUSY_MILLIS = 5_000;

  /** 32 MB of log before a checkpoint: a third more rows per second than with 4 MB. */
  private static final int CHECKPOINT_PAGES = 8_000;

  private static final int CONNECTIONS = 4;

  private final Path file;
  private final HikariDataSource pool;

  private final Object writing = new Object();
  private @Nullable SqliteWriter writer;
  private boolean closed;

  private SqliteStatusStore(Path file, JsonDecoder json, HikariDataSource pool) {
    super(new SqliteReader(describe(file), file, json, pool));
    this.file = file;
    this.pool = pool;
  }

  /**
   * Opens the file, creates it if it is missing, and migrates it to this version's schema.
   *
   * @param json decodes task data and events
   * @throws StoreException with one clear line when that is not possible
   */
  public static SqliteStatusStore open(Path file, JsonDecoder json) {
    return open(file, json, BUSY_MILLIS);
  }

  /**
   * Makes a new file private to this user; SQLite creates its companion files with the same
   * permissions. The directory itself may have to be accessible for tasks of other users.
   */
  private static void makePrivate(Path file) {
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

  static SqliteStatusStore open(Path file, JsonDecoder json, int busyMillis) {
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
      // The first use reports the problem, with SQLite's own code.
      pooled.setInitializationFailTimeout(-1);
      pooled.setConnectionTimeout(Math.max(1_000, busyMillis));
      pooled.setRegisterMbeans(false);
      // Before the pool, which would open a foreign file again and again.
      SqliteSchema.prepare(source, file);
      pool = new HikariDataSource(pooled);
      return new SqliteStatusStore(file, json, pool);
    } catch (SQLException e) {
      throw SqliteErrorTranslator.translate(file, e);
    } catch (HikariPool.PoolInitializationException e) {
      throw new StoreException("status file " + file + " cannot be opened", true, e);
    }
  }

  @Override
  public String description() {
    return describe(file);
  }

  private static String describe(Path file) {
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
  public Taken openEpoch(TakeOver how) {
    return write(w -> w.raiseEpoch(how));
  }

  @Override
  public void outwaited(long epoch, long leaseMillis) {
    long current =
        write(
            w -> {
              long inForce = w.epoch();
              if (inForce == epoch) {
                w.setMeta("lease", leaseMillis);
              }
              return inForce;
            });
    if (current != epoch) {
      throw new StaleEpochException(description(), epoch, current);
    }
  }

  @Override
  public long epoch() {
    return write(SqliteWriter::epoch);
  }

  @Override
  public void commit(long epoch, StoreTransaction batch) {
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
  public String nodesSketch() {
    return write(w -> Objects.requireNonNullElse(w.text("nodes"), ""));
  }

  @Override
  public void keepNodesSketch(long epoch, String sketch) {
    long current =
        write(
            w -> {
              long inForce = w.epoch();
              if (inForce == epoch) {
                w.setMeta("nodes", sketch);
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

  /** Work in one transaction. */
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
        throw SqliteErrorTranslator.translate(file, e);
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

  /** Commits nothing; checkpoints the log into the file. */
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
