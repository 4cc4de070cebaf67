package io.espalier.core.status;

import io.espalier.core.event.Event;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.running.WorkerCordon;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Remembers what must survive a restart: task statuses, paused jobs, how jobs stand, the newest
 * events, the epoch.
 *
 * <p>Order at take-over: {@link #bindSource}, {@link #openEpoch}, then load, then commit.
 *
 * <p>Threading: any thread; commits are serialised, loads run beside them and see whole commits.
 * All methods block. Failures are {@link StoreException}s, after which nothing of the call was
 * done.
 */
public interface StatusStore extends AutoCloseable {
  /** For messages, such as {@code SQLite file /data/statuses.sqlite}; never with a password. */
  String description();

  /**
   * Binds the store to the configuration it serves, or checks that it is the same one as ever
   * (docs/design/design.md#data-directories).
   *
   * @param source the configuration's URI without password
   * @throws StoreException not retryable, when the store belongs to another source
   */
  void bindSource(String source);

  /**
   * Takes the store over: durably raises the epoch. From now on commits of older epochs are
   * refused.
   *
   * @return the new epoch, at least 1, and what was known of the leadership before
   */
  Taken openEpoch(TakeOver how);

  /**
   * Nothing that leaderships before this one have started can be alive any more by their leases:
   * the next one has to outwait only those of this one.
   *
   * @param epoch from {@link #openEpoch}
   * @param leaseMillis how long leases of this leadership may last, as it was given there
   * @throws StaleEpochException when the store was taken over since
   */
  void outwaited(long epoch, long leaseMillis);

  /** The epoch that the store has now, read afresh; 0: nobody has led with it yet. */
  long epoch();

  /**
   * How a store is taken over.
   *
   * @param atLeast the new epoch is not below this, and above every epoch that the store had
   * @param leaseMillis how long leases of this leadership may last, margin included: stored with
   *     the epoch, unless longer ones of before are, because the next leadership must outwait all
   *     of them; 0: it grants none
   */
  record TakeOver(long atLeast, long leaseMillis) {
    /** Raises the epoch by one; grants no leases. */
    public static final TakeOver PLAIN = new TakeOver(1, 0);
  }

  /**
   * What a take-over gave.
   *
   * @param epoch the new one
   * @param storeId which store this is: random, made with it, never changed
   * @param earlierLeaseMillis how long leases of the leaderships before may last, of all since the
   *     newest {@link #outwaited}; 0: none are known
   * @param first whether nobody had led with this store before
   */
  record Taken(long epoch, String storeId, long earlierLeaseMillis, boolean first) {}

  /** The jobs of which there are rows, in any order. */
  Set<String> jobs();

  /**
   * All rows of a job, in any order, on the calling thread. The consumer must not call the store.
   */
  void load(String job, Consumer<StatusRow> rows);

  /**
   * Which job of its name the rows of a job are of: the {@code create_time} it had. Jobs of which
   * that is not known are left out.
   */
  Map<String, Long> incarnations();

  /** The rows of these nodes of a job; nodes without one are left out. */
  List<StatusRow> load(String job, Collection<String> nodes);

  /** The rows of all tasks with the status running, of whichever job: they may be alive. */
  default List<StatusRow> running() {
    List<StatusRow> running = new ArrayList<>();
    for (String job : jobs()) {
      load(
          job,
          row -> {
            if (row.status().main() == TaskStatus.Main.RUNNING) {
              running.add(row);
            }
          });
    }
    return running;
  }

  /** What is kept of a task's past invocations; of an unknown task: nothing. */
  TaskHistory history(String job, String node);

  /** All paused jobs, in any order. */
  List<Pause> pauses();

  /** How jobs stand, those of which it was stored, in any order. */
  List<JobStateRecord> standings();

  /** All holds of workers, in any order. */
  List<WorkerCordon> holds();

  /** All overrides of limits, in any order. */
  List<LimitOverride> limits();

  /** What queues had used when that was stored last, in any order. */
  List<QueueUsage> queueUsage();

  /** What {@link #keepNodesSketch} was given last; empty: nothing yet. */
  String nodesSketch();

  /**
   * Durably replaces what is remembered of the last good nodes.
   *
   * @throws StaleEpochException when another epoch is in force
   */
  void keepNodesSketch(long epoch, String sketch);

  /** The sequence of the newest stored event; 0 when there is none. */
  long newestEvent();

  /**
   * Stored events after {@code sequence}, ascending, at most {@code limit}. Only the newest are
   * kept: those of the last {@link #KEPT_EVENTS} sequences at least, see {@link #cleanUp}.
   */
  List<Event> events(long sequence, int limit);

  /**
   * Makes the batch durable; returns when it would survive a power failure.
   *
   * <p>A store beyond a network may not know whether a commit was done when the answer is lost. It
   * then throws a retryable exception, and has to recognise that very batch, the same object, when
   * it is given again as the next one: it is never applied twice.
   *
   * @param epoch from {@link #openEpoch}
   * @throws StaleEpochException when the store was taken over since
   * @throws IllegalArgumentException when the batch's events are not newer than the stored ones
   */
  void commit(long epoch, StoreTransaction batch);

  /**
   * Deletes a little of what nobody needs any more: old events, rows of forgotten jobs. To be
   * called again and again, with pauses, until it answers 0: commits go on in between.
   *
   * @param epoch from {@link #openEpoch}
   * @param atMost rows to delete in this call
   * @return how many were; 0: nothing is left to do
   * @throws StaleEpochException when the store was taken over since
   */
  int cleanUp(long epoch, Retention retention, int atMost);

  /**
   * What is kept of the event log, at the least {@link #KEPT_EVENTS}.
   *
   * @param eventsSinceMillis events of this time or later, epoch milliseconds
   * @param events so many of the newest
   */
  record Retention(long eventsSinceMillis, long events) {}

  @Override
  void close();

  /** How many attempts of each task are kept. */
  int KEPT_ATTEMPTS = 20;

  /** How many sequences back a store holds events at least. */
  int KEPT_EVENTS = 100_000;
}
