package io.espalier.server.nodes;

import io.espalier.core.config.Settings;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.core.topology.Topology;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the nodes up to date. It fetches them again after a period, sooner after a failure, and at
 * once when the settings require other nodes; it then interrupts a fetch for the old ones. A failed
 * fetch changes only the {@link #state}: the last good nodes stay in force, so that a broken source
 * never orphans a running task.
 *
 * <p>Thread-safe. The listener is called on the polling thread, for each snapshot with a new tree
 * or new settings. A refresh that finds the same nodes only advances {@link
 * NodesState#confirmedAt}.
 */
public final class NodesPoller implements AutoCloseable {
  /** The default time between successful refreshes. */
  public static final Duration DEFAULT_REFRESH = Duration.ofMinutes(5);

  /** The default time after a failed refresh. */
  public static final Duration DEFAULT_RETRY = Duration.ofSeconds(30);

  private static final long LONGEST_NAP_MILLIS = 1000;
  private static final long LONGEST_WAIT_MILLIS = 60_000;

  private static final Logger LOG = LoggerFactory.getLogger(NodesPoller.class);

  private final NodeFetch fetcher;
  private final Duration refresh;
  private final Duration retry;
  private final InstantSource clock;
  private final NodePublisher published;

  /** Locked during a fetch. */
  private final ReentrantLock polling = new ReentrantLock();

  /** Guards the fields below; locked only briefly. */
  private final Object lock = new Object();

  private @Nullable Settings settings;
  private @Nullable Instant due;
  private @Nullable Thread fetching;
  private String fetchingHash = "";
  private boolean superseded;
  private boolean closed;
  private @Nullable Thread thread;
  private @Nullable Thread ticker;

  private @Nullable Instant tickDue;
  private boolean everything;

  /**
   * Creates a poller without settings and nodes.
   *
   * @param refresh time from a successful refresh to the next
   * @param retry time from a failed refresh to the next
   * @param listener must not block for long
   */
  public NodesPoller(
      NodeFetch fetcher,
      Duration refresh,
      Duration retry,
      InstantSource clock,
      Consumer<NodeSnapshot> listener) {
    this.fetcher = fetcher;
    this.refresh = refresh;
    this.retry = retry;
    this.clock = clock;
    this.published = new NodePublisher(fetcher, listener, new WhenNext());
    fetcher.onNews(this::hear);
  }

  private void hear() {
    synchronized (lock) {
      if (due != null && fetching == null) {
        due = earlier(due, fetcher.nextFetch().orElse(due));
      }
      lock.notifyAll();
    }
  }

  private static Instant earlier(Instant one, Instant other) {
    return one.isBefore(other) ? one : other;
  }

  /** Returns the state of each source, in order. */
  public List<SourceState> sources() {
    return fetcher.sources();
  }

  /**
   * Lets quarantined answers pass when they come again, and fetches at once.
   *
   * @param mark of the answer; empty: all quarantined answers
   * @return the number of such answers
   */
  public int allow(String mark) {
    return fetcher.allow(mark);
  }

  public NodesState state() {
    return published.state();
  }

  /**
   * Sets the settings for future fetches. A refresh becomes due only when they require other nodes.
   */
  public void settings(Settings newSettings) {
    synchronized (lock) {
      Settings old = settings;
      settings = newSettings;
      if (old != null && old.nodesHash().equals(newSettings.nodesHash())) {
        return;
      }
      due = Instant.MIN;
      if (fetching != null && !fetchingHash.equals(newSettings.nodesHash())) {
        superseded = true;
        fetching.interrupt();
      }
      lock.notifyAll();
    }
  }

  /** Fetches the nodes again at once, on the thread of {@link #start}. */
  public void refreshNow() {
    synchronized (lock) {
      everything = true;
      due = Instant.MIN;
      lock.notifyAll();
    }
  }

  /**
   * Fetches the nodes of the newest settings on the calling thread, after a fetch in progress.
   *
   * @return true when the listener received a new snapshot
   */
  public boolean poll(Instant now) throws InterruptedException {
    return poll(now, true);
  }

  private boolean poll(Instant now, boolean all) throws InterruptedException {
    polling.lockInterruptibly();
    try {
      while (true) {
        Settings wanted = begin();
        if (wanted == null) {
          return false;
        }
        Result<Topology> result = null;
        InterruptedException interruption = null;
        try {
          result = all ? fetcher.fetch(wanted, now) : fetcher.refresh(wanted, now);
        } catch (InterruptedException e) {
          interruption = e;
        } catch (RuntimeException e) {
          LOG.error("Fetching the nodes failed unexpectedly", e);
          result = new Result<>(null, List.of(Problem.error("", "fetching failed: " + e)));
        }
        if (end()) {
          continue;
        }
        if (result == null) {
          throw interruption == null ? new InterruptedException() : interruption;
        }
        return published.fetched(result, wanted, now);
      }
    } finally {
      polling.unlock();
    }
  }

  private @Nullable Settings begin() throws InterruptedException {
    synchronized (lock) {
      if (closed) {
        throw new InterruptedException("closed");
      }
      if (settings != null) {
        fetching = Thread.currentThread();
        fetchingHash = settings.nodesHash();
      }
      return settings;
    }
  }

  /** Returns true when other settings arrived meanwhile, so that the result is useless. */
  private boolean end() {
    synchronized (lock) {
      fetching = null;
      boolean again = superseded && !closed;
      if (superseded) {
        superseded = false;
        // The interrupt was ours; if it came too late for the fetch, it must not affect the caller.
        boolean ignored = Thread.interrupted();
        LOG.debug("Fetched for settings that are no more; interrupted late: {}", ignored);
      }
      return again;
    }
  }

  /**
   * Brings the tree up to an instant without a fetch: computed nodes appear and disappear.
   *
   * @return true when the listener received a new snapshot
   */
  public boolean tick(Instant now) throws InterruptedException {
    Settings wanted;
    synchronized (lock) {
      wanted = settings;
    }
    return published.tick(wanted, now);
  }

  /** Returns when the tree changes next by itself; null: never, as far as is known. */
  public @Nullable Instant nextChange() {
    synchronized (lock) {
      return tickDue;
    }
  }

  private void nextTick(@Nullable Instant at) {
    synchronized (lock) {
      tickDue = at;
      lock.notifyAll();
    }
  }

  /** Computes when the published tree must be updated again. */
  private final class WhenNext implements NodePublisher.Timing {
    @Override
    public void fetched(boolean failing) {
      next(clock.instant().plus(failing ? retry : refresh));
    }

    @Override
    public void changes(@Nullable Instant at) {
      nextTick(at);
    }

    @Override
    public void tryAgain() {
      nextTick(clock.instant().plus(retry));
    }
  }

  private void next(Instant at) {
    synchronized (lock) {
      // Settings that arrived after the fetch make the next one due at once.
      if (settings != null && settings.nodesHash().equals(fetchingHash)) {
        due = fetcher.nextFetch().orElse(at);
      }
    }
  }

  /** Starts to poll on a separate thread, whenever a refresh is due. Must be called once. */
  public void start() {
    Thread poller = new Thread(this::run, "nodes-poller");
    poller.setDaemon(true);
    Thread punctual = new Thread(this::keepTime, "nodes-ticker");
    punctual.setDaemon(true);
    synchronized (lock) {
      thread = poller;
      ticker = punctual;
      if (due == null && settings != null) {
        due = Instant.MIN;
      }
    }
    poller.start();
    punctual.start();
  }

  private void keepTime() {
    try {
      while (awaitTick()) {
        try {
          boolean changed = tick(clock.instant());
          LOG.trace("It is time, and the nodes change: {}", changed);
        } catch (RuntimeException e) {
          LOG.error("Bringing the nodes up to date failed", e);
          nextTick(clock.instant().plus(retry));
        }
      }
    } catch (InterruptedException e) {
      LOG.debug("The nodes no longer change with time");
    }
  }

  /** Waits until the tree changes by itself; false when closed. */
  private boolean awaitTick() throws InterruptedException {
    synchronized (lock) {
      while (!closed) {
        Instant now = clock.instant();
        if (tickDue == null) {
          lock.wait();
        } else if (!tickDue.isAfter(now)) {
          return true;
        } else {
          // Wakes up periodically, because the clock may be set.
          long millis = Duration.between(now, tickDue).toMillis() + 1;
          lock.wait(Math.min(millis, LONGEST_NAP_MILLIS));
        }
      }
      return false;
    }
  }

  private void run() {
    try {
      while (awaitDue()) {
        try {
          poll(clock.instant(), everything());
        } catch (RuntimeException e) {
          // A bug in a listener must neither end the polling nor make it spin.
          LOG.error("Polling the nodes failed", e);
          synchronized (lock) {
            due = clock.instant().plus(retry);
          }
        }
      }
    } catch (InterruptedException e) {
      LOG.debug("The nodes are no longer polled");
    }
  }

  /** Returns true when the refresh was requested explicitly, so that every source is fetched. */
  private boolean everything() {
    synchronized (lock) {
      boolean all = everything;
      everything = false;
      return all;
    }
  }

  /** Waits until a refresh is due; false when closed. */
  private boolean awaitDue() throws InterruptedException {
    synchronized (lock) {
      while (!closed) {
        Instant now = clock.instant();
        if (settings == null || due == null) {
          lock.wait();
        } else if (!due.isAfter(now)) {
          return true;
        } else {
          long millis = Math.max(1, Duration.between(now, due).toMillis());
          lock.wait(Math.min(millis, LONGEST_WAIT_MILLIS));
        }
      }
      return false;
    }
  }

  /** Stops polling, interrupts a fetch, and waits up to ten seconds for the thread to end. */
  @Override
  public void close() {
    Thread poller;
    Thread punctual;
    synchronized (lock) {
      closed = true;
      poller = thread;
      punctual = ticker;
      if (fetching != null) {
        fetching.interrupt();
      }
      lock.notifyAll();
    }
    if (poller == null || punctual == null) {
      fetcher.close();
      return;
    }
    try {
      poller.join(10_000);
      punctual.join(10_000);
      fetcher.close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
