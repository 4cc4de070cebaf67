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
 * <p>They are applied in this order: forgotten jobs, deleted rows, rows, attempts, then the others
 * in the order of the parameters; none of these depends on another.
 *
 * @param forgottenJobs jobs whose rows and states are all deleted
 * @param deletedRows rows to delete; missing rows are not an error
 * @param rows rows to write, one per task, replacing older ones
 * @param attempts attempts to append to the history of their tasks, in this order; attempts of
 *     tasks without a row are dropped
 * @param pauses pauses of jobs, by job
 * @param cordons cordons of workers, by shard
 * @param limits overrides of limits
 * @param brakes brakes
 * @param quarantines quarantines
 * @param endedRollouts jobs all of whose roll-out rows are deleted
 * @param rollouts rows of roll-outs, replacing older ones with the same key
 * @param jobStates states of jobs, replacing older ones
 * @param queueUsage usage of queues: replaces everything stored; empty: changes nothing
 * @param durations how long the tasks of jobs take, replacing older ones
 * @param incarnations creation times of the jobs to which the stored rows belong, by job
 * @param events events to append to the event log, with ascending sequences above all stored ones
 * @param notifications notifications to be sent; a removed one need not be sent any more
 * @param answers answers to requests with a key, by that key
 */
public record StoreTransaction(
    Set<String> forgottenJobs,
    Set<TaskKey> deletedRows,
    List<StatusRow> rows,
    List<Attempt> attempts,
    RowChanges<String, Pause> pauses,
    RowChanges<String, WorkerCordon> cordons,
    RowChanges<LimitOverride.Key, LimitOverride> limits,
    RowChanges<Brake.Key, Brake> brakes,
    RowChanges<Quarantine.Key, Quarantine> quarantines,
    Set<String> endedRollouts,
    List<RolloutRow> rollouts,
    List<JobStateRecord> jobStates,
    List<QueueUsage> queueUsage,
    List<JobDurations> durations,
    Map<String, Long> incarnations,
    List<Event> events,
    RowChanges<Notification.Key, Notification> notifications,
    RowChanges<String, KeyedAnswer> answers) {

  /** A transaction without changes. */
  public static final StoreTransaction EMPTY = new Builder().build();

  public StoreTransaction {
    forgottenJobs = Set.copyOf(forgottenJobs);
    deletedRows = Set.copyOf(deletedRows);
    rows = List.copyOf(rows);
    attempts = List.copyOf(attempts);
    endedRollouts = Set.copyOf(endedRollouts);
    rollouts = List.copyOf(rollouts);
    jobStates = List.copyOf(jobStates);
    queueUsage = List.copyOf(queueUsage);
    durations = List.copyOf(durations);
    incarnations = Map.copyOf(incarnations);
    events = List.copyOf(events);
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

  /** Returns this transaction with other rows and events. */
  public StoreTransaction with(List<StatusRow> otherRows, List<Event> otherEvents) {
    return new StoreTransaction(
        forgottenJobs,
        deletedRows,
        otherRows,
        attempts,
        pauses,
        cordons,
        limits,
        brakes,
        quarantines,
        endedRollouts,
        rollouts,
        jobStates,
        queueUsage,
        durations,
        incarnations,
        otherEvents,
        notifications,
        answers);
  }

  /** The number of changes; 0 for an empty transaction. */
  public int size() {
    return forgottenJobs.size()
        + deletedRows.size()
        + rows.size()
        + attempts.size()
        + pauses.size()
        + cordons.size()
        + limits.size()
        + brakes.size()
        + quarantines.size()
        + endedRollouts.size()
        + rollouts.size()
        + jobStates.size()
        + queueUsage.size()
        + durations.size()
        + incarnations.size()
        + events.size()
        + notifications.size()
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
    private final RowChanges.Builder<String, Pause> pauses = new RowChanges.Builder<>();
    private final RowChanges.Builder<String, WorkerCordon> cordons = new RowChanges.Builder<>();
    private final RowChanges.Builder<LimitOverride.Key, LimitOverride> limits =
        new RowChanges.Builder<>();
    private final RowChanges.Builder<Brake.Key, Brake> brakes = new RowChanges.Builder<>();
    private final RowChanges.Builder<Quarantine.Key, Quarantine> quarantines =
        new RowChanges.Builder<>();
    private final Set<String> endedRollouts = new LinkedHashSet<>();
    private final Map<RolloutRow.Key, RolloutRow> rollouts = new LinkedHashMap<>();
    private final Map<String, JobStateRecord> jobStates = new LinkedHashMap<>();
    private List<QueueUsage> queueUsage = List.of();
    private final Map<String, JobDurations> durations = new LinkedHashMap<>();
    private final Map<String, Long> incarnations = new LinkedHashMap<>();
    private final List<Event> events = new ArrayList<>();
    private final RowChanges.Builder<Notification.Key, Notification> notifications =
        new RowChanges.Builder<>();
    private final RowChanges.Builder<String, KeyedAnswer> answers = new RowChanges.Builder<>();

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
      jobStates.remove(job);
      durations.remove(job);
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

    public Builder cordon(WorkerCordon cordon) {
      cordons.put(cordon.shard(), cordon);
      return this;
    }

    /** Removes the cordon of a worker. */
    public Builder uncordon(String shard) {
      cordons.remove(shard);
      return this;
    }

    public Builder limit(LimitOverride override) {
      limits.put(override.key(), override);
      return this;
    }

    /** Ends an override: the configured limit, or that of the level, is in force again. */
    public Builder endLimit(LimitOverride.Key key) {
      limits.remove(key);
      return this;
    }

    public Builder brake(Brake brake) {
      brakes.put(brake.key(), brake);
      return this;
    }

    public Builder endBrake(Brake.Key key) {
      brakes.remove(key);
      return this;
    }

    public Builder quarantine(Quarantine quarantine) {
      quarantines.put(quarantine.key(), quarantine);
      return this;
    }

    public Builder endQuarantine(Quarantine.Key key) {
      quarantines.remove(key);
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

    public Builder jobState(JobStateRecord state) {
      jobStates.put(state.job(), state);
      return this;
    }

    /** Replaces the entire stored usage of queues. */
    public Builder queueUsage(List<QueueUsage> all) {
      queueUsage = List.copyOf(all);
      return this;
    }

    public Builder durations(JobDurations ofJob) {
      durations.put(ofJob.job(), ofJob);
      return this;
    }

    public Builder pause(Pause pause) {
      pauses.put(pause.job(), pause);
      return this;
    }

    public Builder resume(String job) {
      pauses.remove(job);
      return this;
    }

    public Builder append(Event event) {
      events.add(event);
      return this;
    }

    public Builder notification(Notification notification) {
      notifications.put(notification.key(), notification);
      return this;
    }

    public Builder endNotification(Notification.Key key) {
      notifications.remove(key);
      return this;
    }

    public Builder answer(KeyedAnswer answer) {
      answers.put(answer.key(), answer);
      return this;
    }

    public Builder endAnswer(String key) {
      answers.remove(key);
      return this;
    }

    /** Adds the changes of another batch after those collected so far. */
    public Builder add(StoreTransaction later) {
      later.forgottenJobs.forEach(this::forget);
      later.deletedRows.forEach(key -> delete(key.job(), key.node()));
      later.rows.forEach(this::put);
      attempts.addAll(later.attempts);
      pauses.add(later.pauses);
      cordons.add(later.cordons);
      limits.add(later.limits);
      brakes.add(later.brakes);
      quarantines.add(later.quarantines);
      later.endedRollouts.forEach(this::endRollout);
      later.rollouts.forEach(this::rollout);
      later.jobStates.forEach(this::jobState);
      if (!later.queueUsage.isEmpty()) {
        queueUsage = later.queueUsage;
      }
      later.durations.forEach(this::durations);
      incarnations.putAll(later.incarnations);
      events.addAll(later.events);
      notifications.add(later.notifications);
      answers.add(later.answers);
      return this;
    }

    /** The number of changes collected so far. */
    public int size() {
      return forgottenJobs.size()
          + deletedRows.size()
          + rows.size()
          + attempts.size()
          + pauses.size()
          + cordons.size()
          + limits.size()
          + brakes.size()
          + quarantines.size()
          + endedRollouts.size()
          + rollouts.size()
          + jobStates.size()
          + queueUsage.size()
          + durations.size()
          + incarnations.size()
          + events.size()
          + notifications.size()
          + answers.size();
    }

    public StoreTransaction build() {
      return new StoreTransaction(
          forgottenJobs,
          deletedRows,
          List.copyOf(rows.values()),
          attempts,
          pauses.build(),
          cordons.build(),
          limits.build(),
          brakes.build(),
          quarantines.build(),
          endedRollouts,
          List.copyOf(rollouts.values()),
          List.copyOf(jobStates.values()),
          queueUsage,
          List.copyOf(durations.values()),
          incarnations,
          events,
          notifications.build(),
          answers.build());
    }
  }
}
