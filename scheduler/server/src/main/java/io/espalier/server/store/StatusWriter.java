package io.espalier.server.store;

import io.espalier.core.pace.Jitter;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.store.RefusedDataException;
import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.StoreException;
import io.espalier.core.status.store.StoreTransaction;
import io.espalier.server.store.WithoutData.Variant;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Commits batches in the order of their submission, combining many into one transaction when they
 * queue up.
 *
 * <p>While the store is unavailable, the writer retries with growing pauses and drops nothing that
 * was submitted. Its user bounds the queue: while {@link #isSaturated}, the user should start no
 * new task. Completions are always accepted; there are no more of them than running tasks. A
 * failure that no retry can fix (the store was taken over, or is damaged) ends the writer: all
 * current and future stages complete with it. Data that the store refuses although it works do not
 * end the writer. It then commits the batches of the group one by one; for the refused batch, it
 * leaves out the data of its tasks and logs an error that names them. A retry submits the same
 * {@link StoreTransaction} object again, by which a store recognizes a commit whose answer it lost.
 *
 * <p>Any thread may submit. Stages complete on the writer's thread, in order, after the commit.
 */
public final class StatusWriter implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(StatusWriter.class);

  private final StatusStore store;
  private final long epoch;
  private final Limits limits;

  private final Object lock = new Object();
  private final ArrayDeque<Pending> queue = new ArrayDeque<>();
  private long queued;
  private boolean closing;
  private boolean giveUp;
  private @Nullable Thread thread;
  private @Nullable StoreException fatal;

  private volatile @Nullable String problem;
  private final AtomicLong commits = new AtomicLong();
  private final AtomicLong committedChanges = new AtomicLong();
  private final AtomicInteger failuresInARow = new AtomicInteger();

  // Confined to the committing thread.
  private @Nullable Group failed;

  /** When the latest transaction began; read only if {@code isBusy}. */
  private long latestBegin;

  /** Whether other batches queued up behind the first one before the latest transaction ended. */
  private boolean isBusy;

  /**
   * The number of next batches to commit one by one, because the store refused part of one of them.
   */
  private int alone;

  /** Keeps several schedulers from coming back to one server at one instant. */
  private final Jitter jitter = new Jitter(ThreadLocalRandom.current().nextLong());

  private volatile LongConsumer observer = nanos -> {};
  private final AtomicLong failures = new AtomicLong();

  private record Pending(StoreTransaction batch, CompletableFuture<Void> done, long sinceNanos) {
    Pending(StoreTransaction batch, CompletableFuture<Void> done) {
      this(batch, done, System.nanoTime());
    }
  }

  /**
   * The content of one transaction.
   *
   * @param without the tasks whose data are left out, because the store refuses them
   * @param next what to try when the store refuses this content too
   */
  private record Group(
      List<Pending> members, StoreTransaction together, Set<TaskKey> without, List<Variant> next) {}

  /**
   * @param saturation queued changes from which on the store counts as too slow
   * @param groupSize changes from which on a transaction accepts no further batch
   * @param spacing time between the beginnings of two transactions while batches queue up, so that
   *     more of them share the cost of one; a single batch at a time does not wait
   * @param firstRetry pause after the first failure; doubled up to {@code lastRetry}
   */
  public record Limits(
      int saturation, int groupSize, Duration spacing, Duration firstRetry, Duration lastRetry) {
    public static final Limits DEFAULT =
        new Limits(
            20_000, 5_000, Duration.ofMillis(2), Duration.ofMillis(50), Duration.ofSeconds(2));

    public Limits {
      if (saturation < 1 || groupSize < 1 || firstRetry.isNegative() || firstRetry.isZero()) {
        throw new IllegalArgumentException("limits must be positive");
      }
    }
  }

  /** Creates a writer that is not started: call {@link #start} or {@link #drainOnce}. */
  public StatusWriter(StatusStore store, long epoch, Limits limits) {
    this.store = store;
    this.epoch = epoch;
    this.limits = limits;
  }

  /** Starts to commit, on a separate thread. */
  public void start() {
    synchronized (lock) {
      if (thread != null || closing) {
        throw new IllegalStateException("started or closed before");
      }
      Thread fresh = new Thread(this::run, "espalier-status-writer");
      fresh.setDaemon(true);
      thread = fresh;
      fresh.start();
    }
  }

  /**
   * Queues a batch; never blocks.
   *
   * @return a stage that completes when the batch is durable, or with a {@link StoreException} when
   *     it never will be
   */
  public CompletionStage<Void> submit(StoreTransaction batch) {
    Pending pending = new Pending(batch, new CompletableFuture<>());
    StoreException refusal;
    synchronized (lock) {
      refusal =
          closing
              ? new StoreException(store.description() + " is being closed", false, null)
              : fatal;
      if (refusal == null) {
        if (queue.isEmpty()) {
          // Otherwise the thread commits, or waits for a time that this batch does not change.
          lock.notifyAll();
        }
        queue.add(pending);
        queued += batch.size();
      }
    }
    if (refusal != null) {
      pending.done().completeExceptionally(refusal);
    }
    return pending.done();
  }

  /** Returns true when no new work should start until the store has caught up. */
  public boolean isSaturated() {
    synchronized (lock) {
      return queued >= limits.saturation();
    }
  }

  /** Returns the number of changes that are not durable yet. */
  public long queueLength() {
    synchronized (lock) {
      return queued;
    }
  }

  /** Returns how long the oldest non-durable change has waited; 0 when there is none. */
  public long oldestNanos() {
    synchronized (lock) {
      Pending oldest = queue.peek();
      return oldest == null ? 0 : Math.max(0, System.nanoTime() - oldest.sinceNanos());
    }
  }

  /** Returns the number of failed transactions so far, including retries. */
  public long failures() {
    return failures.get();
  }

  /**
   * Sets the observer that receives the duration of each transaction, in nanoseconds, on the
   * writer's thread.
   */
  public void observe(LongConsumer newObserver) {
    observer = newObserver;
  }

  /** Returns the current problem of the store in one line; empty when it works. */
  public Optional<String> problem() {
    return Optional.ofNullable(problem);
  }

  /** Returns the failure that ended the writer, if any; the scheduler must then stop. */
  public Optional<StoreException> failure() {
    synchronized (lock) {
      return Optional.ofNullable(fatal);
    }
  }

  /** Returns the number of transactions so far. */
  public long commits() {
    return commits.get();
  }

  /**
   * Returns the number of changes made durable so far. Changes that replaced each other within one
   * group count once.
   */
  public long committedChanges() {
    return committedChanges.get();
  }

  /**
   * Commits one group of the queue on the calling thread. Must not be called while the writer's own
   * thread runs.
   *
   * @return the number of batches settled; 0 when the queue is empty or the store failed
   */
  public int drainOnce() {
    Group next = failed == null ? nextGroup() : failed;
    List<Pending> group = next.members();
    if (group.isEmpty()) {
      return 0;
    }
    StoreTransaction together = next.together();
    long begin = System.nanoTime();
    latestBegin = begin;
    try {
      if (!together.isEmpty()) {
        store.commit(epoch, together);
      }
    } catch (RefusedDataException e) {
      failed = smaller(next, e);
      return failed == null && alone == 0 ? failed(e, group) : 0;
    } catch (StoreException e) {
      failed = e.retryable() ? next : null;
      return failed(e, group);
    } catch (RuntimeException e) {
      // A bug in the store or in a batch: retrying would block everything behind it forever.
      return failed(new StoreException(store.description() + " failed: " + e, false, e), group);
    }
    failed = null;
    alone = Math.max(0, alone - group.size());
    if (!next.without().isEmpty()) {
      LOG.error(
          "{} has refused what these tasks returned, and keeps their ends without it: {}",
          store.description(),
          next.without());
    }
    long nanos = System.nanoTime() - begin;
    observer.accept(nanos);
    commits.incrementAndGet();
    committedChanges.addAndGet(together.size());
    if (failuresInARow.getAndSet(0) > 0) {
      LOG.info("{} works again", store.description());
    }
    problem = null;
    synchronized (lock) {
      // The group is still in it. What is submitted when its stages complete does not count.
      isBusy = queue.size() > 1;
    }
    settle(group, null);
    return group.size();
  }

  /**
   * Returns a smaller group to try instead of one that the store refuses in part.
   *
   * @return null when the batches are to be tried one by one, or when nothing can be left out
   */
  private @Nullable Group smaller(Group refused, RefusedDataException e) {
    failures.incrementAndGet();
    problem = e.getMessage();
    if (refused.members().size() > 1) {
      LOG.warn("{}; trying its changes one by one", e.getMessage());
      alone = refused.members().size();
      return null;
    }
    boolean first = refused.without().isEmpty();
    List<Variant> variants = first ? WithoutData.of(refused.together()) : refused.next();
    if (variants.isEmpty()) {
      alone = 0;
      return null;
    }
    Variant variant = variants.get(0);
    return new Group(
        refused.members(), variant.batch(), variant.tasks(), variants.subList(1, variants.size()));
  }

  private Group nextGroup() {
    List<Pending> group = new ArrayList<>();
    synchronized (lock) {
      long changes = 0;
      for (Pending pending : queue) {
        if (!group.isEmpty() && alone > 0) {
          break;
        }
        if (!group.isEmpty() && changes + pending.batch().size() > limits.groupSize()) {
          break;
        }
        group.add(pending);
        changes += pending.batch().size();
      }
    }
    if (group.size() == 1) {
      return new Group(group, group.get(0).batch(), Set.of(), List.of());
    }
    StoreTransaction.Builder all = StoreTransaction.builder();
    group.forEach(pending -> all.add(pending.batch()));
    return new Group(group, all.build(), Set.of(), List.of());
  }

  private int failed(StoreException e, List<Pending> group) {
    failures.incrementAndGet();
    problem = e.getMessage();
    if (e.retryable()) {
      if (failuresInARow.getAndIncrement() == 0) {
        LOG.warn("{}; trying again until it works", e.getMessage());
      }
      return 0;
    }
    LOG.error("statuses can no longer be kept: {}", e.getMessage());
    List<Pending> all;
    synchronized (lock) {
      fatal = e;
      all = new ArrayList<>(queue);
    }
    settle(all, e);
    return group.size();
  }

  /** Removes settled batches from the queue, then completes their stages; never under the lock. */
  private void settle(List<Pending> group, @Nullable StoreException failure) {
    synchronized (lock) {
      for (Pending pending : group) {
        queue.remove();
        queued -= pending.batch().size();
      }
      lock.notifyAll();
    }
    for (Pending pending : group) {
      if (failure == null) {
        pending.done().complete(null);
      } else {
        pending.done().completeExceptionally(failure);
      }
    }
  }

  private void run() {
    boolean orderly = false;
    try {
      while (awaitWork()) {
        drainOnce();
      }
      orderly = true;
    } finally {
      if (!orderly) {
        failed(new StoreException("the status writer has died", false, null), List.of());
      }
    }
  }

  /** Waits for a batch, and for the pause after a failure; false when the thread must end. */
  private boolean awaitWork() {
    synchronized (lock) {
      long begin = System.nanoTime();
      while (true) {
        long now = System.nanoTime();
        long left =
            Math.max(
                pause(closing).toNanos() - (now - begin),
                isBusy && !closing ? limits.spacing().toNanos() - (now - latestBegin) : 0);
        if (giveUp || (closing && queue.isEmpty())) {
          return false;
        }
        if (!queue.isEmpty() && left <= 0) {
          return true;
        }
        try {
          if (queue.isEmpty()) {
            lock.wait();
          } else {
            lock.wait(left / 1_000_000, (int) (left % 1_000_000));
          }
        } catch (InterruptedException e) {
          // No code interrupts this thread on purpose; results must not be lost by accident.
          LOG.warn("interrupted while waiting; going on");
        }
      }
    }
  }

  private Duration pause(boolean inHaste) {
    int failures = failuresInARow.get();
    if (failures == 0 || inHaste) {
      return failures == 0 ? Duration.ZERO : limits.firstRetry();
    }
    Duration grown = limits.firstRetry().multipliedBy(1L << Math.min(failures - 1, 20));
    return jitter.shorten(
        grown.compareTo(limits.lastRetry()) < 0 ? grown : limits.lastRetry(), Jitter.OF_RETRIES);
  }

  /** Calls {@link #close(Duration)} with ten seconds. */
  @Override
  public void close() {
    close(Duration.ofSeconds(10));
  }

  /**
   * Accepts nothing more, commits the queue, and ends the thread. Gives up on what cannot be
   * committed in time: its stages complete with an error. Does not close the store.
   *
   * @return true when everything that was submitted is durable
   */
  public boolean close(Duration atMost) {
    long deadline = System.nanoTime() + atMost.toNanos();
    Thread running;
    synchronized (lock) {
      closing = true;
      running = thread;
      lock.notifyAll();
    }
    if (running == null) {
      boolean more = true;
      while (more) {
        more = drainOnce() > 0;
      }
    } else {
      join(running, deadline);
    }
    List<Pending> left;
    synchronized (lock) {
      giveUp = true;
      lock.notifyAll();
      left = new ArrayList<>(queue);
      // A commit that still hangs in the store settles its own group when it returns.
      if (running == null || !running.isAlive()) {
        queue.clear();
        queued = 0;
      }
    }
    if (!left.isEmpty()) {
      String lost =
          "changes of "
              + left.stream().mapToLong(pending -> pending.batch().size()).sum()
              + " tasks could not be saved: "
              + problem().orElse(store.description() + " did not answer in time");
      LOG.error("{}", lost);
      StoreException failure = new StoreException(lost, false, null);
      left.forEach(pending -> pending.done().completeExceptionally(failure));
    }
    synchronized (lock) {
      return left.isEmpty() && fatal == null;
    }
  }

  private static void join(Thread thread, long deadlineNanos) {
    boolean interrupted = false;
    while (thread.isAlive()) {
      long left = deadlineNanos - System.nanoTime();
      if (left <= 0) {
        break;
      }
      try {
        thread.join(Math.max(1, left / 1_000_000));
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
