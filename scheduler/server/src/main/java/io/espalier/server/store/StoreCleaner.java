package io.espalier.server.store;

import io.espalier.core.status.store.StaleEpochException;
import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.StatusStore.Retention;
import io.espalier.core.status.store.StoreException;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
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
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(
          work -> {
            Thread fresh = new Thread(work, "store-cleaner");
            fresh.setDaemon(true);
            return fresh;
          });

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
    cleaner.next(pace.first());
    return cleaner;
  }

  private void next(Duration in) {
    if (!thread.isShutdown()) {
      var unused = thread.schedule(this::look, in.toNanos(), TimeUnit.NANOSECONDS);
    }
  }

  private void look() {
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
      next(pace.interval());
    } catch (StaleEpochException e) {
      onStale.accept(e);
    } catch (StoreException e) {
      LOG.warn("{}: cleaning up failed: {}", store.description(), e.getMessage());
      if (e.retryable()) {
        next(pace.interval());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error e) {
      // The executor would keep it to itself.
      LOG.error("{}: cleaning up failed; it is tried again", store.description(), e);
      next(pace.interval());
    }
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }
}
