package io.espalier.core.loop;

import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.running.WorkerCordon;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.core.status.store.Pause;
import io.espalier.core.status.store.QueueUsage;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.status.store.StatusStore;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What outlives a scheduler process, apart from the statuses of tasks at rest, which come with a
 * {@link PreparedUpdate}.
 *
 * @param pauses pauses of jobs
 * @param jobStates states in which jobs were when the earlier process ended; failed jobs start
 *     nothing from the first step on
 * @param limits limit overrides
 * @param queueUsage past usage of queues
 * @param cordons cordons of workers
 * @param running all rows with the status running, of any job, if the runner outlives its
 *     scheduler: it must report an end for each of them; null: tasks end with the scheduler. Even
 *     an empty list has an effect: the runner answers workers from then on.
 */
public record RestoredState(
    List<Pause> pauses,
    List<JobStateRecord> jobStates,
    List<LimitOverride> limits,
    List<QueueUsage> queueUsage,
    List<WorkerCordon> cordons,
    @Nullable List<StatusRow> running) {

  /**
   * Reads the state.
   *
   * @param outlives whether tasks outlive the scheduler
   * @throws io.espalier.core.status.store.StoreException when the store cannot be read
   */
  public static RestoredState of(StatusStore store, boolean outlives) {
    return new RestoredState(
        store.pauses(),
        store.standings(),
        store.limits(),
        store.queueUsage(),
        store.holds(),
        outlives ? store.running() : null);
  }
}
