package io.espalier.server.store;

import io.espalier.core.event.Event;
import io.espalier.core.notification.Notification;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.running.WorkerCordon;
import io.espalier.core.status.Attempt;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.store.Brake;
import io.espalier.core.status.store.JobDurations;
import io.espalier.core.status.store.KeyedAnswer;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.core.status.store.Pause;
import io.espalier.core.status.store.Quarantine;
import io.espalier.core.status.store.QueueUsage;
import io.espalier.core.status.store.RolloutRow;
import io.espalier.core.status.store.StaleEpochException;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.StoreException;
import io.espalier.core.status.store.StoreTransaction;
import io.espalier.core.status.store.TaskHistory;
import io.espalier.core.status.store.TaskTotals;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Stores statuses in memory, for the lifetime of the process. */
public final class MemoryStatusStore implements StatusStore {
  private final Epochs epochs;
  private final Map<String, Map<String, StatusRow>> rows = new HashMap<>();
  private final Map<TaskKey, Past> histories = new HashMap<>();
  private final Map<String, Pause> pauses = new HashMap<>();
  private final Map<String, JobStateRecord> jobStates = new HashMap<>();
  private final Map<String, WorkerCordon> cordons = new HashMap<>();
  private final Map<LimitOverride.Key, LimitOverride> limits = new HashMap<>();
  private final Map<Brake.Key, Brake> brakes = new LinkedHashMap<>();
  private final Map<RolloutRow.Key, RolloutRow> rollouts = new LinkedHashMap<>();
  private final Map<Quarantine.Key, Quarantine> quarantines = new LinkedHashMap<>();
  private final Map<Notification.Key, Notification> notifications = new LinkedHashMap<>();
  private final Map<String, KeyedAnswer> answers = new LinkedHashMap<>();
  private List<QueueUsage> queueUsage = List.of();
  private final Map<String, JobDurations> durations = new HashMap<>();
  private final Map<String, Long> incarnations = new HashMap<>();
  private final Map<String, Long> absences = new HashMap<>();
  private final TreeMap<Long, Event> events = new TreeMap<>();
  private @Nullable String source;
  private String nodesSketch = "";
  private final String callbackKey = UUID.randomUUID().toString();
  private long epoch;

  /** What a process has stored in memory is gone with it, so the store of each is new. */
  private Earlier earlier = Earlier.NEW_STORE;

  /** The history of one task, appended to over time. */
  private static final class Past {
    private final ArrayDeque<Attempt> newest = new ArrayDeque<>();
    private TaskTotals totals = TaskTotals.NONE;

    void add(Attempt attempt) {
      totals = totals.plus(attempt);
      newest.add(attempt);
      if (newest.size() > KEPT_ATTEMPTS) {
        newest.remove();
      }
    }

    TaskHistory history() {
      return new TaskHistory(totals, List.copyOf(newest));
    }
  }

  /** Persists the epoch of a store that persists nothing else. */
  public interface Epochs {
    /** Raises the epoch durably. What is known of earlier schedulers is left to the store. */
    Taken raise(TakeOver how);

    /** Same as {@link StatusStore#outwaited}, for the newest epoch. */
    void outwaited(long leaseMillis);
  }

  /** Creates a store with the epochs 1, 2, 3, ...: it refuses old epochs of this process only. */
  public MemoryStatusStore() {
    this(new EpochsInMemory());
  }

  /**
   * @param epochs for example an {@link EpochFile}
   */
  public MemoryStatusStore(Epochs epochs) {
    this.epochs = epochs;
  }

  private static final class EpochsInMemory implements Epochs {
    private final String storeId = UUID.randomUUID().toString();
    private long epoch;
    private long leaseMillis;

    @Override
    public Taken raise(TakeOver how) {
      long earlierLeaseMillis = leaseMillis;
      epoch = Math.max(epoch + 1, how.atLeast());
      leaseMillis = Math.max(leaseMillis, how.leaseMillis());
      return new Taken(epoch, storeId, earlierLeaseMillis, Earlier.NEW_STORE);
    }

    @Override
    public void outwaited(long ownLeaseMillis) {
      leaseMillis = ownLeaseMillis;
    }
  }

  @Override
  public String description() {
    return "the status store in memory";
  }

  @Override
  public synchronized void bindSource(String newSource) {
    if (source == null) {
      source = newSource;
    } else if (!source.equals(newSource)) {
      throw new StoreException(
          description() + " belongs to " + source + ", not to " + newSource, false, null);
    }
  }

  @Override
  public synchronized Taken openEpoch(TakeOver how) {
    Taken taken = epochs.raise(how);
    epoch = taken.epoch();
    return new Taken(epoch, taken.storeId(), taken.earlierLeaseMillis(), earlier);
  }

  @Override
  public synchronized void outwaited(long byEpoch, long leaseMillis) {
    requireEpoch(byEpoch);
    epochs.outwaited(leaseMillis);
    earlier = Earlier.KNOWN;
  }

  @Override
  public synchronized void outwaits(long byEpoch) {
    requireEpoch(byEpoch);
    earlier = Earlier.UNKNOWN;
  }

  private void requireEpoch(long ofEpoch) {
    if (ofEpoch != epoch) {
      throw new StaleEpochException(description(), ofEpoch, epoch);
    }
  }

  @Override
  public synchronized long epoch() {
    return epoch;
  }

  @Override
  public synchronized Set<String> jobs() {
    return Set.copyOf(rows.keySet());
  }

  @Override
  public void load(String job, Consumer<StatusRow> consumer) {
    List<StatusRow> found;
    synchronized (this) {
      found = List.copyOf(rows.getOrDefault(job, Map.of()).values());
    }
    found.forEach(consumer);
  }

  @Override
  public synchronized List<StatusRow> load(String job, Collection<String> nodes) {
    Map<String, StatusRow> ofJob = rows.getOrDefault(job, Map.of());
    List<StatusRow> found = new ArrayList<>();
    for (String node : Set.copyOf(nodes)) {
      StatusRow row = ofJob.get(node);
      if (row != null) {
        found.add(row);
      }
    }
    return found;
  }

  @Override
  public synchronized List<StatusRow> load(String job, String after, int atMost) {
    return rows.getOrDefault(job, Map.of()).values().stream()
        .filter(row -> row.node().compareTo(after) > 0)
        .sorted(Comparator.comparing(StatusRow::node))
        .limit(atMost)
        .toList();
  }

  @Override
  public synchronized Map<String, TaskHistory> histories(String job, Collection<String> nodes) {
    Map<String, TaskHistory> found = new HashMap<>();
    for (String node : nodes) {
      Past past = histories.get(new TaskKey(job, node));
      if (past != null) {
        found.put(node, past.history());
      }
    }
    return found;
  }

  @Override
  public synchronized List<Pause> pauses() {
    return List.copyOf(pauses.values());
  }

  @Override
  public synchronized List<JobStateRecord> jobStates() {
    return List.copyOf(jobStates.values());
  }

  @Override
  public synchronized List<WorkerCordon> cordons() {
    return List.copyOf(cordons.values());
  }

  @Override
  public synchronized List<Brake> brakes() {
    return List.copyOf(brakes.values());
  }

  @Override
  public synchronized List<KeyedAnswer> answers() {
    return List.copyOf(answers.values());
  }

  @Override
  public synchronized List<Quarantine> quarantines() {
    return List.copyOf(quarantines.values());
  }

  @Override
  public synchronized List<RolloutRow> rollouts() {
    return List.copyOf(rollouts.values());
  }

  @Override
  public synchronized List<Notification> notifications() {
    return notifications.values().stream()
        .sorted(Comparator.comparingLong(Notification::sequence))
        .toList();
  }

  @Override
  public synchronized List<LimitOverride> limits() {
    return List.copyOf(limits.values());
  }

  @Override
  public synchronized List<JobDurations> durations() {
    return List.copyOf(durations.values());
  }

  @Override
  public synchronized List<QueueUsage> queueUsage() {
    return queueUsage;
  }

  @Override
  public synchronized long newestEvent() {
    return events.isEmpty() ? 0 : events.lastKey();
  }

  @Override
  public synchronized List<Event> events(long sequence, int limit) {
    return events.tailMap(sequence, false).values().stream().limit(Math.max(0, limit)).toList();
  }

  @Override
  public synchronized void commit(long ofEpoch, StoreTransaction batch) {
    requireEpoch(ofEpoch);
    long newest = newestEvent();
    for (Event event : batch.events()) {
      if (event.sequence() <= newest) {
        throw new IllegalArgumentException(
            "event " + event.sequence() + " comes after event " + newest);
      }
      newest = event.sequence();
    }
    batch.forgottenJobs().forEach(this::forget);
    batch.deletedRows().forEach(this::delete);
    for (StatusRow row : batch.rows()) {
      rows.computeIfAbsent(row.job(), job -> new HashMap<>()).put(row.node(), row);
    }
    for (Attempt attempt : batch.attempts()) {
      if (rows.getOrDefault(attempt.job(), Map.of()).containsKey(attempt.node())) {
        histories
            .computeIfAbsent(new TaskKey(attempt.job(), attempt.node()), key -> new Past())
            .add(attempt);
      }
    }
    batch.pauses().applyTo(pauses);
    batch.cordons().applyTo(cordons);
    batch.limits().applyTo(limits);
    batch.brakes().applyTo(brakes);
    batch.quarantines().applyTo(quarantines);
    batch.endedRollouts().forEach(job -> rollouts.keySet().removeIf(key -> key.job().equals(job)));
    batch.rollouts().forEach(row -> rollouts.put(row.key(), row));
    batch.notifications().applyTo(notifications);
    batch.answers().applyTo(answers);
    batch.jobStates().forEach(standing -> jobStates.put(standing.job(), standing));
    batch.durations().forEach(each -> durations.put(each.job(), each));
    if (!batch.queueUsage().isEmpty()) {
      queueUsage = batch.queueUsage();
    }
    incarnations.putAll(batch.incarnations());
    batch.events().forEach(event -> events.put(event.sequence(), event));
    while (events.size() > KEPT_EVENTS) {
      events.pollFirstEntry();
    }
  }

  @Override
  public synchronized Map<String, Long> absences() {
    return Map.copyOf(absences);
  }

  @Override
  public synchronized void keepAbsences(long writer, Map<String, Long> sinceMillis) {
    requireEpoch(writer);
    absences.clear();
    absences.putAll(sinceMillis);
    absences.keySet().retainAll(rows.keySet());
  }

  @Override
  public synchronized Map<String, Long> incarnations() {
    return Map.copyOf(incarnations);
  }

  /** Old data is removed with each commit. */
  @Override
  public synchronized String nodesSketch() {
    return nodesSketch;
  }

  @Override
  public synchronized void keepNodesSketch(long writer, String sketch) {
    requireEpoch(writer);
    nodesSketch = sketch;
  }

  @Override
  public synchronized String callbackKey(long reader) {
    requireEpoch(reader);
    return callbackKey;
  }

  @Override
  public synchronized int cleanUp(long ofEpoch, Retention retention, int atMost) {
    requireEpoch(ofEpoch);
    return 0;
  }

  private void forget(String job) {
    incarnations.remove(job);
    absences.remove(job);
    jobStates.remove(job);
    durations.remove(job);
    Map<String, StatusRow> ofJob = rows.remove(job);
    if (ofJob != null) {
      ofJob.keySet().forEach(node -> histories.remove(new TaskKey(job, node)));
    }
  }

  private void delete(TaskKey key) {
    histories.remove(key);
    Map<String, StatusRow> ofJob = rows.get(key.job());
    if (ofJob != null) {
      ofJob.remove(key.node());
      if (ofJob.isEmpty()) {
        rows.remove(key.job());
      }
    }
  }

  @Override
  public void close() {
    // The store has no resources outside the process.
  }
}
