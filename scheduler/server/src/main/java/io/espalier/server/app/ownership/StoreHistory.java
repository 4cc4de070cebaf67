package io.espalier.server.app.ownership;

import io.espalier.core.protocol.ProtocolTimers;
import io.espalier.core.protocol.SchedulerProtocol.Past;
import io.espalier.core.status.store.StaleEpochException;
import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.StatusStore.Taken;
import io.espalier.core.status.store.StoreException;
import io.espalier.server.app.options.ProcessOptions;
import io.espalier.server.app.options.RunnerOptions;
import io.espalier.server.app.options.StoreOptions;
import io.espalier.server.store.DataDirectory;
import io.espalier.server.store.EpochFile;
import io.espalier.server.store.EventMark;
import java.util.Comparator;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Detects whether the status store lost part of its history. A store that was restored, or replaced
 * by a replica without the latest writes, has an epoch below one that this data directory, the
 * election group or a worker knows, or, within an epoch, an older newest event. Tasks unknown to
 * the store may then be alive, so nothing starts until no earlier lease can be in force.
 */
public final class StoreHistory {
  private static final Logger LOG = LoggerFactory.getLogger(StoreHistory.class);
  private static final int ASK_AGAIN_SECONDS = 1;

  private final ProcessOptions options;
  private final StatusStore store;
  private final EpochFile mark;
  private final DataDirectory data;
  private final GroupMark group;
  private final long knownLeaseMillis;
  private EventMark remembered = EventMark.NONE;

  private StoreHistory(
      ProcessOptions options,
      StatusStore store,
      EpochFile mark,
      DataDirectory data,
      GroupMark group) {
    this.options = options;
    this.store = store;
    this.mark = mark;
    this.data = data;
    this.group = group;
    this.knownLeaseMillis = mark.leaseMillis();
  }

  /**
   * Inspects the store before it is taken over. The finding that it was set back is stored durably
   * until the wait is over, so that a restart in between does not shorten the wait.
   */
  public static StoreHistory look(
      ProcessOptions options,
      StatusStore store,
      EpochFile mark,
      DataDirectory data,
      GroupMark group) {
    GroupMark.Known known = group.read();
    if (known.epoch() > 0) {
      mark.seen(known.epoch(), known.leaseMillis());
    }
    if (!known.setBack().isEmpty()) {
      data.setBack(known.setBack());
    }
    StoreHistory history = new StoreHistory(options, store, mark, data, group);
    boolean workers = options.runner().remote().isPresent() || history.knownLeaseMillis > 0;
    if (options.store().kind() != StoreOptions.Kind.MEMORY && workers) {
      long has = store.epoch();
      long seen = mark.highest();
      if (has < seen) {
        history.foundSetBack("its epoch is " + has + ", and was " + seen);
      } else {
        history.lostEvents(has).ifPresent(history::foundSetBack);
      }
    }
    history.problem().ifPresent(problem -> LOG.warn("{}; safe wait", problem));
    return history;
  }

  private void foundSetBack(String how) {
    data.setBack(store.description() + " was set back: " + how);
    tellGroup();
  }

  /** Tells whether the store lacks events of its newest leadership. */
  private Optional<String> lostEvents(long epoch) {
    return Stream.of(data.newestEvent(), group.newestEvent())
        .filter(known -> known.epoch() == epoch)
        .max(Comparator.comparingLong(EventMark::sequence))
        .filter(known -> store.newestEvent() < known.sequence())
        .map(
            known ->
                "the newest event of its epoch "
                    + epoch
                    + " is "
                    + store.newestEvent()
                    + ", and was "
                    + known.sequence());
  }

  /**
   * Remembers the newest event of the store, by which the next leadership finds that the store was
   * set back within this one. To be called every few seconds: what is set back by less is not
   * found.
   *
   * @param epoch the epoch of this leadership
   * @throws StoreException when the store, the data directory or the group cannot be used
   */
  public synchronized void rememberNewestEvent(long epoch) {
    EventMark now = new EventMark(epoch, store.newestEvent());
    if (!now.equals(remembered)) {
      data.newestEvent(now);
      group.newestEvent(now);
      remembered = now;
    }
  }

  /**
   * Returns what the protocol must assume about the time before this leadership. A safe wait is
   * recorded, so that a leadership that follows during it waits, too.
   *
   * @throws StoreException when that could not be stored
   */
  public Past past(Taken taken) {
    if (options.store().kind() == StoreOptions.Kind.MEMORY
        || options.runner().remote().map(RunnerOptions.Remote::safeWait).orElse(false)
        || data.setBack().isPresent()) {
      outwaits(taken.epoch());
      return Past.UNKNOWN;
    }
    return switch (taken.earlier()) {
      case KNOWN -> Past.KNOWN;
      case NEW_STORE -> Past.NEW;
      case UNKNOWN -> Past.UNKNOWN;
    };
  }

  /**
   * Records that a safe wait has begun; {@link #outwaited} ends it.
   *
   * @throws StoreException when that could not be stored
   */
  public void outwaits(long epoch) {
    store.outwaits(epoch);
  }

  /** Passes on what this directory knows, so that the others of the group know it, too. */
  private void tellGroup() {
    group.write(new GroupMark.Known(mark.highest(), mark.leaseMillis(), data.setBack().orElse("")));
  }

  /** Reports that the store was set back, as long as it matters. */
  public Optional<String> problem() {
    return data.setBack()
        .map(
            what ->
                what
                    + "; what was done since then is done again, once no task of then can be"
                    + " alive");
  }

  /** Remembers a take-over. The leases that this directory knows count as well as the store's. */
  public synchronized Taken taken(Taken byStore) {
    long leaseMillis = Math.max(byStore.earlierLeaseMillis(), knownLeaseMillis);
    mark.seen(byStore.epoch(), Math.max(leaseMillis, options.leaseMillis()));
    // Before anything is started in this epoch.
    tellGroup();
    return new Taken(byStore.epoch(), byStore.storeId(), leaseMillis, byStore.earlier());
  }

  /**
   * Waits until no task that another scheduler gave to workers can be alive. Used by a scheduler
   * that queries no workers; it must read the rows of the store after that.
   *
   * @throws StartWaits.GivenUp when the wait was ended
   */
  public void outwaitWorkers(Taken taken, StartWaits waits) throws InterruptedException {
    if (mayLiveOnWorkers(taken)) {
      // Versions that did not store the value used these defaults.
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
    if (options.store().kind() == StoreOptions.Kind.MEMORY || data.setBack().isPresent()) {
      return taken.earlierLeaseMillis() > 0;
    }
    try {
      return store.running().stream().anyMatch(row -> !row.worker().isLocal());
    } catch (StoreException e) {
      if (e.retryable() || !options.store().fresh()) {
        throw e;
      }
      LOG.warn("{}; it is to be forgotten, so nothing is looked up", e.getMessage());
      return true;
    }
  }

  /**
   * Records that no task of an earlier leadership can be alive any more.
   *
   * @throws StoreException when that could not be stored
   */
  public synchronized void outwaited(long epoch) {
    store.outwaited(epoch, options.leaseMillis());
    mark.outwaited(options.leaseMillis());
    data.forgetSetBack();
    tellGroup();
  }

  /**
   * Handles a worker that knows a later leader. Either there is one, and this leader is deposed, or
   * the store was set back while this scheduler led. Only the store can tell which; it is queried
   * until it answers, on a separate thread.
   *
   * @param own the epoch of this leadership
   * @param end called with the reason why this leadership ends
   */
  public void heard(long newer, long own, Consumer<Throwable> end) {
    Thread thread = new Thread(() -> end.accept(decided(newer, own)), "newer-epoch");
    thread.setDaemon(true);
    thread.start();
  }

  private synchronized void seen(long epoch) {
    mark.seen(epoch);
    try {
      tellGroup();
    } catch (StoreException e) {
      // The leadership ends all the same. The next look at the store tells the group again.
      LOG.warn("the group does not know yet that a worker has heard of epoch {}", epoch, e);
    }
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
