package io.espalier.core.status.store;

import io.espalier.core.event.Event;
import io.espalier.core.notification.Notification;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.running.WorkerCordon;
import io.espalier.core.status.TaskStatus;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The port to the store of everything that must survive a restart: task statuses, paused jobs, job
 * states, the newest events, the epoch.
 *
 * <p>Order at take-over: {@link #bindSource}, {@link #openEpoch}, then load, then commit.
 *
 * <p>Threading: any thread may call; commits are serialised, loads run concurrently and see only
 * whole commits. All methods block. Failures are {@link StoreException}s; the failed call then has
 * had no effect, unless {@link #commit} specifies otherwise.
 */
public interface StatusStore extends AutoCloseable {
  /**
   * A description for messages, such as {@code SQLite file /data/statuses.sqlite}; never contains a
   * password.
   */
  String description();

  /**
   * Binds the store to the configuration it serves, or checks that it is bound to this one
   * (docs/design/design.md#data-directories).
   *
   * @param source the configuration's URI without password
   * @throws StoreException not retryable, when the store belongs to another source
   */
  void bindSource(String source);

  /**
   * Takes over the store: durably raises the epoch. From then on commits of older epochs are
   * refused.
   *
   * @return the new epoch, at least 1, and what is known of earlier leaderships
   */
  Taken openEpoch(TakeOver how);

  /**
   * Records that, by their leases, nothing started by earlier leaderships can be alive any more:
   * the next leadership must outwait only the leases of this one.
   *
   * @param epoch epoch from {@link #openEpoch}
   * @param leaseMillis longest duration of this leadership's leases, as given in {@link TakeOver}
   * @throws StaleEpochException when the store was taken over since
   */
  void outwaited(long epoch, long leaseMillis);

  /**
   * Records that this leadership outwaits an earlier scheduler whose tasks the store does not know,
   * until {@link #outwaited} is called: a leadership that takes over before must wait likewise.
   *
   * @param epoch epoch from {@link #openEpoch}
   * @throws StaleEpochException when the store was taken over since
   */
  void outwaits(long epoch);

  /** The current epoch, read from the store by each call; 0: there was no leadership yet. */
  long epoch();

  /**
   * The parameters of a take-over.
   *
   * @param atLeast lower bound of the new epoch, which is also above every earlier epoch of the
   *     store
   * @param leaseMillis longest duration of this leadership's leases, margin included; 0: it grants
   *     none. Stored with the epoch unless longer earlier leases are stored, because the next
   *     leadership must outwait all of them
   */
  record TakeOver(long atLeast, long leaseMillis) {
    /** Raises the epoch by one; grants no leases. */
    public static final TakeOver PLAIN = new TakeOver(1, 0);
  }

  /**
   * The result of a take-over.
   *
   * @param epoch the new epoch
   * @param storeId id of the store: random, created with it, never changed
   * @param earlierLeaseMillis longest duration of the leases of all earlier leaderships since the
   *     newest {@link #outwaited}; 0: none are known
   * @param earlier what the store knows of earlier schedulers
   */
  record Taken(long epoch, String storeId, long earlierLeaseMillis, Earlier earlier) {}

  /** What a store knows of the schedulers before a take-over. Stored by name. */
  enum Earlier {
    /** Every task that may be alive has a row. */
    KNOWN,
    /**
     * The store was created, and no leadership has outwaited since then: if it replaces another
     * one, tasks of which it knows nothing may be alive.
     */
    NEW_STORE,
    /** A leadership that {@link #outwaits} an earlier scheduler ended before the wait did. */
    UNKNOWN
  }

  /** The jobs that have rows, in any order. */
  Set<String> jobs();

  /**
   * Loads all rows of a job, in any order, on the calling thread. The consumer must not call the
   * store.
   */
  void load(String job, Consumer<StatusRow> rows);

  /**
   * Loads what a scheduler keeps in memory of a job, as {@link #load(String, Consumer)} does: of a
   * row whose status is done and nothing else, only job, node and the time of the status are
   * meaningful. Most rows of a large store are such rows, and a take-over has to wait for them.
   */
  default void loadKept(String job, Consumer<StatusRow> rows) {
    load(job, rows);
  }

  /**
   * The {@code create_time} of the jobs to which the stored rows belong, which distinguishes jobs
   * of the same name. Jobs for which it is unknown are left out.
   */
  Map<String, Long> incarnations();

  /**
   * Since when jobs with stored rows have not been configured, in epoch milliseconds, as given to
   * {@link #keepAbsences}.
   */
  Map<String, Long> absences();

  /**
   * Durably replaces what is known of absent jobs. Jobs without stored rows are ignored.
   *
   * @param sinceMillis by job, more than 0; jobs that are not in it are configured
   * @throws StaleEpochException when another epoch is in force
   */
  void keepAbsences(long epoch, Map<String, Long> sinceMillis);

  /** Loads the rows of these nodes of a job; nodes without a row are left out. */
  List<StatusRow> load(String job, Collection<String> nodes);

  /**
   * Loads some rows of a job, in an order of nodes that is the store's own.
   *
   * @param after the node after which to begin; empty: with the first
   * @param atMost the most rows to load, at least 1
   * @return less only when no more follow
   */
  List<StatusRow> load(String job, String after, int atMost);

  /** The rows of all tasks, of any job, with the status running: they may be alive. */
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

  /** The stored history of a task's past invocations; empty for an unknown task. */
  default TaskHistory history(String job, String node) {
    return histories(job, List.of(node)).getOrDefault(node, TaskHistory.EMPTY);
  }

  /** The histories of these nodes of a job; nodes none of whose tasks has ended are left out. */
  Map<String, TaskHistory> histories(String job, Collection<String> nodes);

  /** All paused jobs, in any order. */
  List<Pause> pauses();

  /** All stored job states, in any order. */
  List<JobStateRecord> jobStates();

  /** All cordons of workers, in any order. */
  List<WorkerCordon> cordons();

  /** All limit overrides, in any order. */
  List<LimitOverride> limits();

  /** All brakes, in any order. */
  List<Brake> brakes();

  /** All quarantines, in any order. */
  List<Quarantine> quarantines();

  /** All rows of roll-outs, in any order. */
  List<RolloutRow> rollouts();

  /** All notifications that are to be sent, in the order of their sequences. */
  List<Notification> notifications();

  /** All answers to requests with a key, in any order. */
  List<KeyedAnswer> answers();

  /** The last stored usage of queues, in any order. */
  List<QueueUsage> queueUsage();

  /** How long the tasks of jobs with windows have taken, in any order. */
  List<JobDurations> durations();

  /** The last sketch given to {@link #keepNodesSketch}; empty: none yet. */
  String nodesSketch();

  /**
   * Durably replaces the sketch of the last good nodes.
   *
   * @throws StaleEpochException when another epoch is in force
   */
  void keepNodesSketch(long epoch, String sketch);

  /**
   * The key with which callbacks of services are signed: random, secret, made by the first call,
   * and never changed.
   *
   * @throws StaleEpochException when another epoch is in force
   */
  String callbackKey(long epoch);

  /** The sequence of the newest stored event; 0 when there is none. */
  long newestEvent();

  /**
   * Stored events after {@code sequence}, ascending, at most {@code limit}. Only the newest events
   * are retained: at least those of the last {@link #KEPT_EVENTS} sequences, see {@link #cleanUp}.
   */
  List<Event> events(long sequence, int limit);

  /**
   * Makes the batch durable; returns when it would survive a power failure.
   *
   * <p>A store beyond a network may not know whether a commit succeeded when its response is lost.
   * It then throws a retryable exception, and must recognise that very batch, the same object, when
   * the next call passes it again: a batch is never applied twice.
   *
   * @param epoch epoch from {@link #openEpoch}
   * @throws StaleEpochException when the store was taken over since
   * @throws IllegalArgumentException when the batch's events are not newer than the stored ones
   */
  void commit(long epoch, StoreTransaction batch);

  /**
   * Deletes a few rows that are no longer needed: old events, rows of forgotten jobs. To be called
   * repeatedly, with pauses, until it returns 0; commits continue in between.
   *
   * @param epoch epoch from {@link #openEpoch}
   * @param atMost maximum number of rows to delete in this call
   * @return the number of deleted rows; 0: nothing is left to do
   * @throws StaleEpochException when the store was taken over since
   */
  int cleanUp(long epoch, Retention retention, int atMost);

  /**
   * The retention of the event log; at least {@link #KEPT_EVENTS} are always retained.
   *
   * @param eventsSinceMillis retains events of this time or later, epoch milliseconds
   * @param events number of newest events to retain
   */
  record Retention(long eventsSinceMillis, long events) {}

  @Override
  void close();

  /** The number of retained attempts per task. */
  int KEPT_ATTEMPTS = 20;

  /** The minimum number of sequences whose events a store retains. */
  int KEPT_EVENTS = 100_000;
}
