package io.espalier.core.loop;

import io.espalier.core.notification.Notification;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.running.WorkerCordon;
import io.espalier.core.status.store.Brake;
import io.espalier.core.status.store.JobDurations;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.core.status.store.Pause;
import io.espalier.core.status.store.Quarantine;
import io.espalier.core.status.store.QueueUsage;
import io.espalier.core.status.store.RolloutRow;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.status.store.StatusStore;
import java.util.List;

/**
 * What outlives a scheduler process, apart from the statuses of tasks at rest, which come with a
 * {@link PreparedUpdate}.
 *
 * @param pauses pauses of jobs
 * @param jobStates states in which jobs were when the earlier process ended; failed jobs start
 *     nothing from the first step on
 * @param limits limit overrides
 * @param brakes brakes
 * @param rollouts rows of roll-outs; their later stages stay closed from the first step on
 * @param quarantines quarantines
 * @param queueUsage past usage of queues
 * @param durations how long the tasks of jobs with windows have taken
 * @param cordons cordons of workers
 * @param running rows with the status running, of any job: all of them if the runner outlives its
 *     scheduler, otherwise only calls; the runner must report an end for each of them. Even an
 *     empty list has an effect: a runner with workers answers them from then on.
 * @param notifications what is still to be sent, in the order of their sequences
 */
public record RestoredState(
    List<Pause> pauses,
    List<JobStateRecord> jobStates,
    List<LimitOverride> limits,
    List<Brake> brakes,
    List<RolloutRow> rollouts,
    List<Quarantine> quarantines,
    List<QueueUsage> queueUsage,
    List<JobDurations> durations,
    List<WorkerCordon> cordons,
    List<StatusRow> running,
    List<Notification> notifications) {

  private static List<StatusRow> running(StatusStore store, boolean outlives) {
    List<StatusRow> rows = store.running();
    return outlives ? rows : rows.stream().filter(row -> row.call() != null).toList();
  }

  /**
   * Reads the state.
   *
   * @param outlives whether tasks outlive the scheduler
   * @throws io.espalier.core.status.store.StoreException when the store cannot be read
   */
  public static RestoredState of(StatusStore store, boolean outlives) {
    return new RestoredState(
        store.pauses(),
        store.jobStates(),
        store.limits(),
        store.brakes(),
        store.rollouts(),
        store.quarantines(),
        store.queueUsage(),
        store.durations(),
        store.cordons(),
        running(store, outlives),
        store.notifications());
  }
}
