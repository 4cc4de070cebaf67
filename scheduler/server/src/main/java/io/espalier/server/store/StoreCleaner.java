package io.espalier.server.store;

import io.espalier.core.status.store.StaleEpochException;
import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.StatusStore.Retention;
import io.espalier.core.status.store.StoreException;
import io.espalier.worker.thread.PollingThread;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Periodically deletes data outside the retention from a store. It deletes small portions with
 * pauses in between, so that commits hardly wait for it (docs/design/features.md#retention).
 */
public final class StoreCleaner implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(StoreCleaner.class);

  private final StatusStore store;
  private final long epoch;
  private final Supplier<Retention> retention;
  private final Chore chore;
  private final Pace pace;
  private final Consumer<? super StoreException> onStale;
  private final PollingThread thread;

  /** What is to be done before each run; failures of the store are thrown. */
  public interface Chore {
    /** Has nothing to do. */
    Chore NONE = () -> {};

    void look() throws InterruptedException;
  }

  /**
   * @param first delay of the first run after the start
   * @param interval time between two runs
   * @param pause time between two deletions
   * @param rows maximum number of rows of one deletion
   */
  public record Pace(Duration first, Duration interval, Duration pause, int rows) {
    public static final Pace DEFAULT =
        new Pace(Duration.ofMinutes(1), Duration.ofHours(1), Duration.ofMillis(50), 1_000);
  }

  private StoreCleaner(
      StatusStore store,
      long epoch,
      Supplier<Retention> retention,
      Chore chore,
      Pace pace,
      Consumer<? super StoreException> onStale) {
    this.store = store;
    this.onStale = onStale;
    this.epoch = epoch;
    this.retention = retention;
    this.chore = chore;
    this.pace = pace;
    this.thread =
        new PollingThread(
            "store-cleaner",
            "cleaning up " + store.description(),
            InstantSource.system(),
            pace.interval(),
            now -> look());
  }

  /**
   * Starts to clean, on a separate thread.
   *
   * @param retention supplies the retention before each run
   * @param onStale called when another scheduler has taken the store over; cleaning then ends
   */
  public static StoreCleaner start(
      StatusStore store,
      long epoch,
      Supplier<Retention> retention,
      Chore chore,
      Pace pace,
      Consumer<? super StoreException> onStale) {
    StoreCleaner cleaner = new StoreCleaner(store, epoch, retention, chore, pace, onStale);
    cleaner.thread.dueIn(pace.first());
    cleaner.thread.start();
    return cleaner;
  }

  private void look() throws InterruptedException {
    try {
      chore.look();
      long rows = 0;
      Retention now = retention.get();
      int deleted = store.cleanUp(epoch, now, pace.rows());
      while (deleted > 0) {
        rows += deleted;
        TimeUnit.NANOSECONDS.sleep(pace.pause().toNanos());
        deleted = store.cleanUp(epoch, now, pace.rows());
      }
      if (rows > 0) {
        LOG.info("{}: {} rows that were no longer wanted are deleted", store.description(), rows);
      }
      thread.dueIn(pace.interval());
    } catch (StaleEpochException e) {
      onStale.accept(e);
    } catch (StoreException e) {
      LOG.warn("{}: cleaning up failed: {}", store.description(), e.getMessage());
      if (e.retryable()) {
        thread.dueIn(pace.interval());
      }
    }
  }

  @Override
  public void close() {
    thread.close(Duration.ofSeconds(1), true);
  }
}
