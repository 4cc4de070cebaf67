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
 * Keeps the nodes fresh: fetches them again after a period, sooner after a failure, at once when
 * the settings ask for other nodes (then a fetch that still runs for the old ones is interrupted).
 * A failed fetch changes nothing but the {@link #state}: the last good nodes stay in force, so that
 * a broken source never orphans a running task.
 *
 * <p>All methods are for any thread. The listener is told on the thread that polled, of each
 * snapshot whose tree or settings are new; a refresh that finds the same nodes only makes {@link
 * NodesState#confirmedAt} younger.
 */
public final class NodesPoller implements AutoCloseable {
  /** Time between good refreshes, unless told otherwise. */
  public static final Duration DEFAULT_REFRESH = Duration.ofMinutes(5);

  /** Time after a failed one. */
  public static final Duration DEFAULT_RETRY = Duration.ofSeconds(30);

  private static final Logger LOG = LoggerFactory.getLogger(NodesPoller.class);

  private final Fetcher fetcher;
  private final Duration refresh;
  private final Duration retry;
  private final InstantSource clock;
  private final Consumer<NodeSnapshot> listener;

  /** Held while nodes are fetched. */
  private final ReentrantLock polling = new ReentrantLock();

  /** Guards what follows; held briefly. */
  private final Object lock = new Object();

  private @Nullable Settings settings;
  private @Nullable Instant due;
  private @Nullable Thread fetching;
  private String fetchingHash = "";
  private boolean superseded;
  private boolean closed;
  private @Nullable Thread thread;
  private volatile NodesState state = NodesState.NONE;

  /** Where nodes come from; {@code NodeFetcher::fetch}. */
  public interface Fetcher {
    /**
     * @return no value if there is any error
     */
    Result<Topology> fetch(Settings settings, Instant now) throws InterruptedException;
  }

  /**
   * A poller that has neither settings nor nodes yet.
   *
   * @param refresh time from a good refresh to the next
   * @param retry time from a failed refresh to the next
   * @param listener must not block for long
   */
  public NodesPoller(
      Fetcher fetcher,
      Duration refresh,
      Duration retry,
      InstantSource clock,
      Consumer<NodeSnapshot> listener) {
    this.fetcher = fetcher;
    this.refresh = refresh;
    this.retry = retry;
    this.clock = clock;
    this.listener = listener;
  }

  /** How things stand. */
  public NodesState state() {
    return state;
  }

  /** The settings whose nodes are wanted from now on; only other nodes make a refresh due. */
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

  /** Has the nodes fetched again at once, on the thread of {@link #start}. */
  public void refreshNow() {
    synchronized (lock) {
      due = Instant.MIN;
      lock.notifyAll();
    }
  }

  /**
   * Fetches the nodes of the newest settings now, on the calling thread, after a fetch that is
   * under way.
   *
   * @return whether the listener was told of a new snapshot
   */
  public boolean poll(Instant now) throws InterruptedException {
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
          result = fetcher.fetch(wanted, now);
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
        return publish(result, wanted, now);
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

  /** Whether other settings came meanwhile, so that the result is of no use. */
  private boolean end() {
    synchronized (lock) {
      fetching = null;
      boolean again = superseded && !closed;
      if (superseded) {
        superseded = false;
        // The interrupt was ours; if it came too late for the fetch it must not hit the caller.
        boolean ignored = Thread.interrupted();
        LOG.debug("Fetched for settings that are no more; interrupted late: {}", ignored);
      }
      return again;
    }
  }

  private boolean publish(Result<Topology> result, Settings wanted, Instant now) {
    Topology topology = result.value();
    NodesState before = state;
    if (topology == null) {
      state = new NodesState(before.snapshot(), before.confirmedAt(), true, result.problems());
      next(clock.instant().plus(retry));
      logFailure(before);
      return false;
    }
    NodeSnapshot old = before.snapshot();
    NodeSnapshot snapshot = old;
    boolean same = old != null && old.topology().equals(topology);
    boolean news = old == null || !same || !old.nodesHash().equals(wanted.nodesHash());
    if (news || snapshot == null) {
      // Equal trees stay one object: memory, and a quick comparison for everybody.
      Topology kept = old != null && same ? old.topology() : topology;
      snapshot = new NodeSnapshot(kept, wanted.nodesHash(), now);
    }
    state = new NodesState(snapshot, now, false, result.problems());
    next(clock.instant().plus(refresh));
    if (before.failing()) {
      LOG.info("The nodes can be fetched again");
    }
    if (news) {
      LOG.info("Fetched {} nodes", topology.size());
      logWarnings(result.problems(), before.problems());
      tell(snapshot, before);
    }
    return news;
  }

  private void tell(NodeSnapshot snapshot, NodesState before) {
    try {
      listener.accept(snapshot);
    } catch (RuntimeException e) {
      // It has not taken the snapshot, so the next refresh must offer it again.
      state = before;
      throw e;
    }
  }

  private void next(Instant at) {
    synchronized (lock) {
      // Settings that came since the fetch ended make the next one due at once.
      if (settings != null && settings.nodesHash().equals(fetchingHash)) {
        due = at;
      }
    }
  }

  private void logFailure(NodesState before) {
    NodesState now = state;
    NodeSnapshot kept = now.snapshot();
    String consequence =
        kept == null ? "there are none yet" : "those of " + now.confirmedAt() + " stay in force";
    if (before.failing() && before.problems().equals(now.problems())) {
      LOG.warn("The nodes still cannot be fetched, {}", consequence);
    } else {
      LOG.error("The nodes cannot be fetched, {}:{}", consequence, lines(now.problems()));
    }
  }

  private static void logWarnings(List<Problem> problems, List<Problem> known) {
    if (!problems.isEmpty() && !problems.equals(known)) {
      LOG.warn("The node sources have warnings:{}", lines(problems));
    }
  }

  private static String lines(List<Problem> problems) {
    StringBuilder out = new StringBuilder();
    problems.forEach(problem -> out.append("\n  ").append(problem));
    return out.toString();
  }

  /** Polls from now on, on a thread of its own, whenever a refresh is due. To be called once. */
  public void start() {
    Thread poller = new Thread(this::run, "nodes-poller");
    poller.setDaemon(true);
    synchronized (lock) {
      thread = poller;
      if (due == null && settings != null) {
        due = Instant.MIN;
      }
    }
    poller.start();
  }

  private void run() {
    try {
      while (awaitDue()) {
        try {
          poll(clock.instant());
        } catch (RuntimeException e) {
          // A defect in a listener must not end the polling for good, nor make it spin.
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
          lock.wait(Math.max(1, Duration.between(now, due).toMillis()));
        }
      }
      return false;
    }
  }

  /** Stops polling, interrupting a fetch, and waits ten seconds for the thread to end. */
  @Override
  public void close() {
    Thread poller;
    synchronized (lock) {
      closed = true;
      poller = thread;
      if (fetching != null) {
        fetching.interrupt();
      }
      lock.notifyAll();
    }
    if (poller == null) {
      return;
    }
    try {
      poller.join(10_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
