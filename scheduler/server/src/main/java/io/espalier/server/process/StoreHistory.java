package io.espalier.server.process;

import io.espalier.core.protocol.ProtocolTimers;
import io.espalier.core.protocol.SchedulerProtocol.Past;
import io.espalier.core.status.StaleEpochException;
import io.espalier.core.status.StatusStore;
import io.espalier.core.status.StatusStore.Taken;
import io.espalier.core.status.StoreException;
import io.espalier.server.store.DataDirectory;
import io.espalier.server.store.EpochFile;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether the status store still knows all that was ever done with it. One that was restored, or
 * replaced by a replica that lacks the last of it, has an epoch below one that is known to have
 * been given: by this data directory, or by a worker. Tasks of which it knows nothing may be alive
 * then, so nothing starts until no lease of before can be in force.
 */
final class StoreHistory {
  private static final Logger LOG = LoggerFactory.getLogger(StoreHistory.class);
  private static final int ASK_AGAIN_SECONDS = 1;

  private final ProcessOptions options;
  private final StatusStore store;
  private final EpochFile mark;
  private final DataDirectory data;
  private final long knownLeaseMillis;

  private StoreHistory(
      ProcessOptions options, StatusStore store, EpochFile mark, DataDirectory data) {
    this.options = options;
    this.store = store;
    this.mark = mark;
    this.data = data;
    this.knownLeaseMillis = mark.leaseMillis();
  }

  /**
   * Looks, before the store is taken over. That it was set back is remembered durably until the
   * wait is over: a restart in between must not shorten it.
   */
  static StoreHistory look(
      ProcessOptions options, StatusStore store, EpochFile mark, DataDirectory data) {
    StoreHistory history = new StoreHistory(options, store, mark, data);
    boolean workers = options.remote().isPresent() || history.knownLeaseMillis > 0;
    if (options.store() != ProcessOptions.Store.MEMORY && workers) {
      long has = store.epoch();
      long seen = mark.highest();
      if (has < seen) {
        data.setBack(
            store.description() + " was set back: its epoch is " + has + ", and was " + seen);
      }
    }
    history.problem().ifPresent(problem -> LOG.warn("{}; safe wait", problem));
    return history;
  }

  /** What the protocol is to assume of the time before this leadership. */
  Past past(Taken taken) {
    if (options.store() == ProcessOptions.Store.MEMORY
        || options.remote().map(ProcessOptions.Remote::safeWait).orElse(false)
        || data.setBack().isPresent()) {
      return Past.UNKNOWN;
    }
    return taken.first() ? Past.NEW : Past.KNOWN;
  }

  /** That the store was set back, as long as it matters. */
  Optional<String> problem() {
    return data.setBack()
        .map(
            what ->
                what
                    + "; what was done since then is done again, once no task of then can be"
                    + " alive");
  }

  /** Remembers a take-over; what this directory knows of leases counts as well as the store's. */
  synchronized Taken taken(Taken byStore) {
    long leaseMillis = Math.max(byStore.earlierLeaseMillis(), knownLeaseMillis);
    mark.seen(byStore.epoch(), Math.max(leaseMillis, options.leaseMillis()));
    return new Taken(byStore.epoch(), byStore.storeId(), leaseMillis, byStore.first());
  }

  /**
   * For a scheduler that asks no workers: waits until nothing can be alive that another one gave to
   * workers. Its rows are to be read after that.
   *
   * @throws StartWaits.GivenUp when the wait was ended
   */
  void outwaitWorkers(Taken taken, StartWaits waits) throws InterruptedException {
    if (mayLiveOnWorkers(taken)) {
      // Versions that did not store it had these by default.
      long millis =
          taken.earlierLeaseMillis() > 0
              ? taken.earlierLeaseMillis()
              : ProtocolTimers.BALANCED.lostMillis();
      LOG.warn(
          "{} was used with --runner remote, and tasks of then may be alive on workers: nothing"
              + " starts for {} s, until their leases have ended",
          store.description(),
          (millis + 999) / 1000);
      waits.pause(millis);
    }
    outwaited(taken.epoch());
  }

  private boolean mayLiveOnWorkers(Taken taken) {
    if (options.store() == ProcessOptions.Store.MEMORY || data.setBack().isPresent()) {
      return taken.earlierLeaseMillis() > 0;
    }
    return store.running().stream().anyMatch(row -> !row.worker().isLocal());
  }

  /**
   * Nothing of the leaderships before this one can be alive any more.
   *
   * @throws StoreException when that could not be stored
   */
  synchronized void outwaited(long epoch) {
    store.outwaited(epoch, options.leaseMillis());
    mark.outwaited(options.leaseMillis());
    data.forgetSetBack();
  }

  /**
   * A worker has heard of a later leader than this one. Either there is one, then this one is
   * deposed; or the store was set back under it. Only the store can tell; it is asked until it
   * answers, on a thread of its own.
   *
   * @param own the epoch of this leadership
   * @param end is told why this leadership ends
   */
  void heard(long newer, long own, Consumer<Throwable> end) {
    Thread thread = new Thread(() -> end.accept(decided(newer, own)), "newer-epoch");
    thread.setDaemon(true);
    thread.start();
  }

  private synchronized void seen(long epoch) {
    mark.seen(epoch);
  }

  private Throwable decided(long newer, long own) {
    while (true) {
      try {
        long has = store.epoch();
        if (has > own) {
          return new StaleEpochException(store.description(), own, has);
        }
        seen(newer);
        return new StoreSetBackException(
            store.description()
                + " was set back: its epoch is "
                + has
                + ", and a worker has heard of "
                + newer);
      } catch (StoreException e) {
        LOG.warn(
            "a worker has heard of a later leader, of epoch {}; nothing starts until the store"
                + " says which is the newest: {}",
            newer,
            e.getMessage());
      }
      try {
        TimeUnit.SECONDS.sleep(ASK_AGAIN_SECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return e;
      }
    }
  }
}
