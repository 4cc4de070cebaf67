package io.espalier.server.nodes;

import io.espalier.core.config.Settings;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.core.topology.Topology;
import io.espalier.worker.thread.PollingThread;
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
  private static final Duration CLOSE_BOUND = Duration.ofSeconds(10);

  private static final Logger LOG = LoggerFactory.getLogger(NodesPoller.class);

  private final NodeFetch fetcher;
  private final Duration refresh;
  private final Duration retry;
  private final NodePublisher published;
  private final PollingThread poller;
  private final PollingThread ticker;

  /** Locked during a fetch. */
  private final ReentrantLock polling = new ReentrantLock();

  /** Guards the fields below; locked only briefly. */
  private final Object lock = new Object();

  private @Nullable Settings settings;
  private @Nullable Thread fetching;
  private String fetchingHash = "";
  private boolean superseded;
  private boolean closed;

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
    this.poller =
        new PollingThread(
            "nodes-poller", "polling the nodes", clock, retry, now -> poll(now, false));
    this.ticker =
        new PollingThread(
            "nodes-ticker", "bringing the nodes up to date", clock, retry, this::tick);
    this.published = new NodePublisher(fetcher, listener, new WhenNext());
    fetcher.onNews(this::hear);
  }

  private void hear() {
    synchronized (lock) {
      Instant due = poller.due();
      if (due != null && fetching == null) {
        fetcher.nextFetch().filter(next -> next.isBefore(due)).ifPresent(poller::due);
      }
    }
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
      poller.due(Instant.MIN);
      if (fetching != null && !fetchingHash.equals(newSettings.nodesHash())) {
        superseded = true;
        fetching.interrupt();
      }
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

  /** Computes when the published tree must be updated again. */
  private final class WhenNext implements NodePublisher.Timing {
    @Override
    public void fetched(boolean failing) {
      next(failing ? retry : refresh);
    }

    @Override
    public void changes(@Nullable Instant at) {
      ticker.due(at);
    }

    @Override
    public void tryAgain() {
      ticker.dueIn(retry);
    }
  }

  private void next(Duration pause) {
    synchronized (lock) {
      // Settings that arrived after the fetch make the next one due at once.
      if (settings != null && settings.nodesHash().equals(fetchingHash)) {
        fetcher.nextFetch().ifPresentOrElse(poller::due, () -> poller.dueIn(pause));
      }
    }
  }

  /** Builds the tree again at once, because this scheduler has other subtrees now. */
  public void rebuild() {
    synchronized (lock) {
      if (settings != null) {
        poller.due(Instant.MIN);
      }
    }
  }

  /** Starts to poll on a separate thread, whenever a refresh is due. Must be called once. */
  public void start() {
    synchronized (lock) {
      if (poller.due() == null && settings != null) {
        poller.due(Instant.MIN);
      }
    }
    poller.start();
    ticker.start();
  }

  /** Stops polling, interrupts a fetch, and waits up to ten seconds for the thread to end. */
  @Override
  public void close() {
    synchronized (lock) {
      closed = true;
      if (fetching != null) {
        fetching.interrupt();
      }
    }
    poller.close(CLOSE_BOUND, false);
    ticker.close(CLOSE_BOUND, false);
    fetcher.close();
  }
}
