package io.espalier.server.app.update;

import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.loop.LoopInput;
import io.espalier.core.loop.PreparedUpdate;
import io.espalier.core.problem.Causes;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.update.NewTasks;
import io.espalier.core.scheduling.update.UpdatePlan;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.StoreException;
import io.espalier.core.topology.Topology;
import io.espalier.server.nodes.NodeSnapshot;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Combines configurations and node snapshots into updates and passes them to the loop. It does the
 * expensive part of an update outside the scheduler thread: comparing, and reading stored statuses.
 * It passes on one update at a time, with the newest of each input, and only nodes that belong to
 * the configuration (docs/design/design.md#nodes-belong-to-their-settings).
 */
public final class UpdatePreparer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(UpdatePreparer.class);

  private static final long RETRY_MILLIS = 2_000;

  private final SchedulingCore core;
  private final Consumer<LoopInput> loop;
  private final StatusStore store;
  private final Consumer<@Nullable String> error;
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(work -> new Thread(work, "changes"));

  /** The configuration that came into force last. Confined to the update thread. */
  private @Nullable Config newest;

  private final Object lock = new Object();
  private @Nullable Config config;
  private @Nullable NodeSnapshot nodes;
  private boolean scheduled;

  /** Counts the received inputs; {@code inForce} is the count up to which they are in force. */
  private long received;

  private long inForce;
  private volatile long changesInForce;

  /**
   * @param error sets or clears the current problem
   */
  public UpdatePreparer(
      SchedulingCore core,
      Consumer<LoopInput> loop,
      StatusStore store,
      Consumer<@Nullable String> error) {
    this.core = core;
    this.loop = loop;
    this.store = store;
    this.error = error;
  }

  /** Accepts a new good configuration. Any thread may call this. */
  public void config(Config newest) {
    synchronized (lock) {
      config = newest;
      received++;
      schedule();
    }
  }

  /** Accepts a new good set of nodes. Any thread may call this. */
  public void nodes(NodeSnapshot newest) {
    synchronized (lock) {
      nodes = newest;
      received++;
      schedule();
    }
  }

  /** Returns how many updates have come into force. */
  public long changesInForce() {
    return changesInForce;
  }

  /** Returns true when all received inputs that fit together are in force. */
  public boolean isSettled() {
    synchronized (lock) {
      return !scheduled && (!fits() || inForce == received);
    }
  }

  private boolean fits() {
    return config != null
        && nodes != null
        && config.settings().nodesHash().equals(nodes.nodesHash());
  }

  private void schedule() {
    if (!scheduled && fits()) {
      scheduled = true;
      thread.execute(this::bringInForce);
    }
  }

  private void bringInForce() {
    Config newConfig;
    NodeSnapshot newNodes;
    long upTo;
    synchronized (lock) {
      upTo = received;
      newConfig = config;
      newNodes = nodes;
    }
    boolean done = false;
    boolean mayPass = false;
    try {
      if (newConfig != null && newNodes != null) {
        prepareInOrder(newConfig, newNodes.topology(), newNodes.fetchedAt().toEpochMilli());
        error.accept(null);
        done = true;
      }
    } catch (RuntimeException e) {
      Throwable cause = Causes.of(e);
      LOG.error("a change of configuration or nodes could not be brought into force", cause);
      error.accept("cannot bring a change into force: " + cause.getMessage());
      mayPass = cause instanceof StoreException failure && failure.retryable();
    }
    if (mayPass && pause()) {
      thread.execute(this::bringInForce);
      return;
    }
    synchronized (lock) {
      scheduled = false;
      if (done) {
        inForce = upTo;
        changesInForce++;
        if (received != upTo) {
          schedule();
        }
      }
    }
  }

  /**
   * Pauses before the next attempt on a store that does not answer; false when the thread must end.
   */
  private static boolean pause() {
    try {
      TimeUnit.MILLISECONDS.sleep(RETRY_MILLIS);
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /**
   * Prepares an update. A job that was deleted and created again is a different job, even when both
   * happened between two polls of the configuration; the old job is then removed first.
   */
  private void prepareInOrder(Config newConfig, Topology topology, long nodesAtMillis) {
    SortedMap<String, Job> without = new TreeMap<>(newConfig.jobs());
    without
        .values()
        .removeIf(
            job -> {
              Job old = newest == null ? null : newest.job(job.name());
              return old != null && isAnother(old.createTime(), job.createTime());
            });
    if (without.size() < newConfig.jobs().size()) {
      prepare(newConfig.withJobs(without), topology, nodesAtMillis);
    }
    prepare(newConfig, topology, nodesAtMillis);
    newest = newConfig;
  }

  /** A time of 0 means that the job was written by hand, without a creation time. */
  private static boolean isAnother(long createTime, long newCreateTime) {
    return createTime != 0 && newCreateTime != 0 && createTime != newCreateTime;
  }

  private void prepare(Config newConfig, Topology topology, long nodesAtMillis) {
    long start = System.nanoTime();
    UpdatePlan change = core.prepare(newConfig, topology);
    // First, so that nothing read below is older than what the loop records from now on.
    CompletableFuture<@Nullable Void> durable = new CompletableFuture<>();
    loop.accept(new LoopInput.WillRead(change, durable));
    durable.join();
    Map<String, Long> stored = store.incarnations();
    Map<String, Long> incarnations = new HashMap<>();
    Set<String> forgotten = new HashSet<>();
    for (Job job : newConfig.jobs().values()) {
      long known = stored.getOrDefault(job.name(), 0L);
      if (job.createTime() != 0 && job.createTime() != known) {
        incarnations.put(job.name(), job.createTime());
        if (isAnother(known, job.createTime())) {
          forgotten.add(job.name());
        }
      }
    }
    NewTasks fresh = change.newTasks();
    List<StatusRow> rows = new ArrayList<>();
    for (NewTasks.NewNodes added : fresh.nodes()) {
      List<String> names = new ArrayList<>(added.nodes().length);
      for (int node : added.nodes()) {
        names.add(topology.name(node));
      }
      for (String job : added.jobs()) {
        if (!forgotten.contains(job)) {
          rows.addAll(store.load(job, names));
        }
      }
    }
    List<String> jobs = fresh.jobs().stream().filter(job -> !forgotten.contains(job)).toList();
    CompletableFuture<Void> newsInForce = new CompletableFuture<>();
    loop.accept(
        new LoopInput.Update(
            new PreparedUpdate(
                change, rows, !jobs.isEmpty(), nodesAtMillis, forgotten, incarnations),
            newsInForce));
    long read = rows.size() + loadWhileApplied(jobs);
    newsInForce.join();
    LOG.info(
        "in force: {} jobs, {} nodes, {} stored statuses, after {} ms",
        newConfig.jobs().size(),
        topology.size(),
        read,
        (System.nanoTime() - start) / 1_000_000);
  }

  /**
   * Reads the rows of jobs, while the loop applies what was read before. The update has begun, so a
   * job whose rows cannot be read is blocked, and the others are not.
   *
   * @return how many there are
   */
  private long loadWhileApplied(List<String> jobs) {
    long read = 0;
    for (int i = 0; i < jobs.size(); i++) {
      String job = jobs.get(i);
      List<StatusRow> rows = new ArrayList<>();
      Map<String, String> unreadable = new HashMap<>();
      try {
        rows = loaded(job);
      } catch (RuntimeException e) {
        LOG.error("what is stored of the tasks of job {} cannot be read", job, e);
        unreadable.put(job, String.valueOf(e.getMessage()));
      }
      read += rows.size();
      loop.accept(new LoopInput.StoredRows(rows, i == jobs.size() - 1, unreadable));
    }
    return read;
  }

  /** Reads all rows of a job, again and again while the store does not answer. */
  private List<StatusRow> loaded(String job) {
    while (true) {
      List<StatusRow> rows = new ArrayList<>();
      try {
        store.loadKept(job, rows::add);
        return rows;
      } catch (StoreException e) {
        error.accept("cannot bring a change into force: " + e.getMessage());
        if (!e.retryable() || !pause()) {
          throw e;
        }
      }
    }
  }

  @Override
  public void close() {
    thread.shutdownNow();
    try {
      if (!thread.awaitTermination(10, TimeUnit.SECONDS)) {
        LOG.warn("a change is still being prepared at shutdown");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
