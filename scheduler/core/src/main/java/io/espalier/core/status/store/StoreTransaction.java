package io.espalier.core.status.store;

import io.espalier.core.event.Event;
import io.espalier.core.notification.Notification;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.running.WorkerCordon;
import io.espalier.core.status.Attempt;
import io.espalier.core.status.TaskKey;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Changes that become durable together or not at all. Immutable.
 *
 * <p>They are applied in this order: forgotten jobs, deleted rows, rows, attempts, ended pauses,
 * pauses, ended cordons, cordons, ended limits, limits, ended brakes, brakes, ended quarantines,
 * quarantines, job states, usage of queues, incarnations, events, ended notifications,
 * notifications, ended answers, answers.
 *
 * @param forgottenJobs jobs whose rows and states are all deleted
 * @param deletedRows rows to delete; missing rows are not an error
 * @param rows rows to write, one per task, replacing older ones
 * @param attempts attempts to append to the history of their tasks, in this order; attempts of
 *     tasks without a row are dropped
 * @param endedPauses jobs that are no longer paused
 * @param pauses pauses of jobs, replacing older ones
 * @param endedHolds shards of workers that are no longer cordoned
 * @param holds cordons of workers, replacing older ones
 * @param endedLimits limit overrides that are no longer in force
 * @param limits limit overrides, replacing older ones with the same key
 * @param endedBrakes brakes that are over
 * @param brakes brakes, replacing older ones with the same key
 * @param endedQuarantines quarantines that were lifted
 * @param quarantines quarantines, replacing older ones with the same key
 * @param endedRollouts jobs all of whose roll-out rows are deleted
 * @param rollouts rows of roll-outs, replacing older ones with the same key
 * @param standings states of jobs, replacing older ones
 * @param queueUsage usage of queues: replaces everything stored; empty: changes nothing
 * @param incarnations creation times of the jobs to which the stored rows belong, by job
 * @param events events to append to the event log, with ascending sequences above all stored ones
 * @param endedNotifications notifications that need not be sent any more
 * @param notifications notifications to be sent, replacing older ones with the same key
 * @param endedAnswers keys of answers that are no longer needed
 * @param answers answers to requests with a key, replacing older ones with the same key
 */
public record StoreTransaction(
    Set<String> forgottenJobs,
    Set<TaskKey> deletedRows,
    List<StatusRow> rows,
    List<Attempt> attempts,
    Set<String> endedPauses,
    List<Pause> pauses,
    Set<String> endedHolds,
    List<WorkerCordon> holds,
    Set<LimitOverride.Key> endedLimits,
    List<LimitOverride> limits,
    Set<Brake.Key> endedBrakes,
    List<Brake> brakes,
    Set<String> endedRollouts,
    List<RolloutRow> rollouts,
    Set<Quarantine.Key> endedQuarantines,
    List<Quarantine> quarantines,
    List<JobStateRecord> standings,
    List<QueueUsage> queueUsage,
    Map<String, Long> incarnations,
    List<Event> events,
    Set<Notification.Key> endedNotifications,
    List<Notification> notifications,
    Set<String> endedAnswers,
    List<KeyedAnswer> answers) {

  /** A transaction without changes. */
  public static final StoreTransaction EMPTY = new Builder().build();

  public StoreTransaction {
    forgottenJobs = Set.copyOf(forgottenJobs);
    deletedRows = Set.copyOf(deletedRows);
    rows = List.copyOf(rows);
    attempts = List.copyOf(attempts);
    endedPauses = Set.copyOf(endedPauses);
    pauses = List.copyOf(pauses);
    endedHolds = Set.copyOf(endedHolds);
    holds = List.copyOf(holds);
    endedLimits = Set.copyOf(endedLimits);
    limits = List.copyOf(limits);
    endedBrakes = Set.copyOf(endedBrakes);
    brakes = List.copyOf(brakes);
    endedRollouts = Set.copyOf(endedRollouts);
    rollouts = List.copyOf(rollouts);
    endedQuarantines = Set.copyOf(endedQuarantines);
    quarantines = List.copyOf(quarantines);
    standings = List.copyOf(standings);
    queueUsage = List.copyOf(queueUsage);
    incarnations = Map.copyOf(incarnations);
    events = List.copyOf(events);
    endedNotifications = Set.copyOf(endedNotifications);
    notifications = List.copyOf(notifications);
    endedAnswers = Set.copyOf(endedAnswers);
    answers = List.copyOf(answers);
  }

  /** A transaction that only writes rows. */
  public static StoreTransaction of(List<StatusRow> rows) {
    Builder builder = builder();
    rows.forEach(builder::put);
    return builder.build();
  }

  public static Builder builder() {
    return new Builder();
  }

  /** The number of changes; 0 for an empty transaction. */
  public int size() {
    return forgottenJobs.size()
        + deletedRows.size()
        + rows.size()
        + attempts.size()
        + endedPauses.size()
        + pauses.size()
        + endedHolds.size()
        + holds.size()
        + endedLimits.size()
        + limits.size()
        + endedBrakes.size()
        + brakes.size()
        + endedRollouts.size()
        + rollouts.size()
        + endedQuarantines.size()
        + quarantines.size()
        + standings.size()
        + queueUsage.size()
        + incarnations.size()
        + events.size()
        + endedNotifications.size()
        + notifications.size()
        + endedAnswers.size()
        + answers.size();
  }

  public boolean isEmpty() {
    return size() == 0;
  }

  /**
   * Collects changes in the order in which they happened; a later change replaces an earlier one of
   * the same item, so a task that started and ended in one batch is written once. Not thread-safe.
   */
  public static final class Builder {
    private final Set<String> forgottenJobs = new LinkedHashSet<>();
    private final Set<TaskKey> deletedRows = new LinkedHashSet<>();
    private final Map<TaskKey, StatusRow> rows = new LinkedHashMap<>();
    private final List<Attempt> attempts = new ArrayList<>();
    private final Set<String> endedPauses = new LinkedHashSet<>();
    private final Map<String, Pause> pauses = new LinkedHashMap<>();
    private final Set<String> endedHolds = new LinkedHashSet<>();
    private final Map<String, WorkerCordon> holds = new LinkedHashMap<>();
    private final Set<LimitOverride.Key> endedLimits = new LinkedHashSet<>();
    private final Map<LimitOverride.Key, LimitOverride> limits = new LinkedHashMap<>();
    private final Set<Brake.Key> endedBrakes = new LinkedHashSet<>();
    private final Map<Brake.Key, Brake> brakes = new LinkedHashMap<>();
    private final Set<Quarantine.Key> endedQuarantines = new LinkedHashSet<>();
    private final Map<Quarantine.Key, Quarantine> quarantines = new LinkedHashMap<>();
    private final Set<String> endedRollouts = new LinkedHashSet<>();
    private final Map<RolloutRow.Key, RolloutRow> rollouts = new LinkedHashMap<>();
    private final Map<String, JobStateRecord> standings = new LinkedHashMap<>();
    private List<QueueUsage> queueUsage = List.of();
    private final Map<String, Long> incarnations = new LinkedHashMap<>();
    private final List<Event> events = new ArrayList<>();
    private final Set<Notification.Key> endedNotifications = new LinkedHashSet<>();
    private final Map<Notification.Key, Notification> notifications = new LinkedHashMap<>();
    private final Set<String> endedAnswers = new LinkedHashSet<>();
    private final Map<String, KeyedAnswer> answers = new LinkedHashMap<>();

    private Builder() {}

    public Builder put(StatusRow row) {
      rows.put(row.key(), Objects.requireNonNull(row));
      return this;
    }

    public Builder delete(String job, String node) {
      TaskKey key = new TaskKey(job, node);
      rows.remove(key);
      attempts.removeIf(a -> a.node().equals(node) && a.job().equals(job));
      deletedRows.add(key);
      return this;
    }

    /** Deletes all rows of a job, including rows put before this call, but not rows put later. */
    public Builder forget(String job) {
      rows.keySet().removeIf(key -> key.job().equals(job));
      deletedRows.removeIf(key -> key.job().equals(job));
      attempts.removeIf(attempt -> attempt.job().equals(job));
      incarnations.remove(job);
      standings.remove(job);
      endRollout(job);
      forgottenJobs.add(job);
      return this;
    }

    /** Records the creation time of the job to which the stored rows belong. */
    public Builder incarnation(String job, long createTime) {
      incarnations.put(job, createTime);
      return this;
    }

    /** Adds to the history of a task that has a row. */
    public Builder attempt(Attempt attempt) {
      attempts.add(attempt);
      return this;
    }

    public Builder hold(WorkerCordon hold) {
      endedHolds.remove(hold.shard());
      holds.put(hold.shard(), hold);
      return this;
    }

    /** Removes the cordon of a worker. */
    public Builder release(String shard) {
      holds.remove(shard);
      endedHolds.add(shard);
      return this;
    }

    public Builder limit(LimitOverride override) {
      endedLimits.remove(override.key());
      limits.put(override.key(), override);
      return this;
    }

    /** Ends an override: the configured limit, or that of the level, is in force again. */
    public Builder endLimit(LimitOverride.Key key) {
      limits.remove(key);
      endedLimits.add(key);
      return this;
    }

    public Builder brake(Brake brake) {
      endedBrakes.remove(brake.key());
      brakes.put(brake.key(), brake);
      return this;
    }

    public Builder endBrake(Brake.Key key) {
      brakes.remove(key);
      endedBrakes.add(key);
      return this;
    }

    public Builder quarantine(Quarantine quarantine) {
      endedQuarantines.remove(quarantine.key());
      quarantines.put(quarantine.key(), quarantine);
      return this;
    }

    public Builder endQuarantine(Quarantine.Key key) {
      quarantines.remove(key);
      endedQuarantines.add(key);
      return this;
    }

    public Builder rollout(RolloutRow row) {
      rollouts.put(row.key(), row);
      return this;
    }

    /** Deletes all rows of a roll-out, but not rows put later. */
    public Builder endRollout(String job) {
      rollouts.keySet().removeIf(key -> key.job().equals(job));
      endedRollouts.add(job);
      return this;
    }

    public Builder standing(JobStateRecord standing) {
      standings.put(standing.job(), standing);
      return this;
    }

    /** Replaces the entire stored usage of queues. */
    public Builder queueUsage(List<QueueUsage> all) {
      queueUsage = List.copyOf(all);
      return this;
    }

    public Builder pause(Pause pause) {
      endedPauses.remove(pause.job());
      pauses.put(pause.job(), pause);
      return this;
    }

    public Builder resume(String job) {
      pauses.remove(job);
      endedPauses.add(job);
      return this;
    }

    public Builder append(Event event) {
      events.add(event);
      return this;
    }

    public Builder notification(Notification notification) {
      endedNotifications.remove(notification.key());
      notifications.put(notification.key(), notification);
      return this;
    }

    public Builder endNotification(Notification.Key key) {
      notifications.remove(key);
      endedNotifications.add(key);
      return this;
    }

    public Builder answer(KeyedAnswer answer) {
      endedAnswers.remove(answer.key());
      answers.put(answer.key(), answer);
      return this;
    }

    public Builder endAnswer(String key) {
      answers.remove(key);
      endedAnswers.add(key);
      return this;
    }

    /** Adds the changes of another batch after those collected so far. */
    public Builder add(StoreTransaction later) {
      later.forgottenJobs.forEach(this::forget);
      later.deletedRows.forEach(key -> delete(key.job(), key.node()));
      later.rows.forEach(this::put);
      attempts.addAll(later.attempts);
      later.endedPauses.forEach(this::resume);
      later.pauses.forEach(this::pause);
      later.endedHolds.forEach(this::release);
      later.holds.forEach(this::hold);
      later.endedLimits.forEach(this::endLimit);
      later.limits.forEach(this::limit);
      later.endedBrakes.forEach(this::endBrake);
      later.brakes.forEach(this::brake);
      later.endedRollouts.forEach(this::endRollout);
      later.rollouts.forEach(this::rollout);
      later.endedQuarantines.forEach(this::endQuarantine);
      later.quarantines.forEach(this::quarantine);
      later.standings.forEach(this::standing);
      if (!later.queueUsage.isEmpty()) {
        queueUsage = later.queueUsage;
      }
      incarnations.putAll(later.incarnations);
      events.addAll(later.events);
      later.endedNotifications.forEach(this::endNotification);
      later.notifications.forEach(this::notification);
      later.endedAnswers.forEach(this::endAnswer);
      later.answers.forEach(this::answer);
      return this;
    }

    /** The number of changes collected so far. */
    public int size() {
      return forgottenJobs.size()
          + deletedRows.size()
          + rows.size()
          + attempts.size()
          + endedPauses.size()
          + pauses.size()
          + endedHolds.size()
          + holds.size()
          + endedLimits.size()
          + limits.size()
          + endedBrakes.size()
          + brakes.size()
          + endedRollouts.size()
          + rollouts.size()
          + endedQuarantines.size()
          + quarantines.size()
          + standings.size()
          + queueUsage.size()
          + incarnations.size()
          + events.size()
          + endedNotifications.size()
          + notifications.size()
          + endedAnswers.size()
          + answers.size();
    }

    public StoreTransaction build() {
      return new StoreTransaction(
          forgottenJobs,
          deletedRows,
          List.copyOf(rows.values()),
          attempts,
          endedPauses,
          List.copyOf(pauses.values()),
          endedHolds,
          List.copyOf(holds.values()),
          endedLimits,
          List.copyOf(limits.values()),
          endedBrakes,
          List.copyOf(brakes.values()),
          endedRollouts,
          List.copyOf(rollouts.values()),
          endedQuarantines,
          List.copyOf(quarantines.values()),
          List.copyOf(standings.values()),
          queueUsage,
          incarnations,
          events,
          endedNotifications,
          List.copyOf(notifications.values()),
          endedAnswers,
          List.copyOf(answers.values()));
    }
  }
}
