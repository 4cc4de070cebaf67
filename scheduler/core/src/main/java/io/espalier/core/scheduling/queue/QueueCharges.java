package io.espalier.core.scheduling.queue;

import io.espalier.core.config.Resource;
import io.espalier.core.scheduling.capacity.NodeCapacity;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.scheduling.task.RunPlacements;
import io.espalier.core.scheduling.worker.WorkerIndex;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The slots that the running tasks of queues hold. Nearly all tasks hold exactly what their job
 * needs, so a start or an end only counts the task for its job; {@link #settle} turns the counts
 * into slots. What other tasks hold is added at once.
 */
final class QueueCharges {
  private final JobTable jobs;
  private final NodeCapacity ledger;
  private final WorkerIndex workers;
  private final int[] levelOf;
  private final int workerLevel;

  /**
   * By job: how many of its tasks that hold what it needs have started since it was settled, minus
   * those that have ended.
   */
  private final int[] pending;

  /** By job: the queue to settle; null: no task has started or ended since it was settled. */
  private final @Nullable QueueState[] queues;

  /** The jobs to settle, in no order. */
  private final int[] touched;

  private int count;

  /** The number of jobs settled so far. */
  private long work;

  QueueCharges(
      JobTable jobs, NodeCapacity ledger, WorkerIndex workers, int[] levelOf, int workerLevel) {
    this.jobs = jobs;
    this.ledger = ledger;
    this.workers = workers;
    this.levelOf = levelOf;
    this.workerLevel = workerLevel;
    pending = new int[jobs.count()];
    queues = new @Nullable QueueState[jobs.count()];
    touched = new int[jobs.count()];
  }

  /** Returns the slots that a task of a job uses on its path or its worker. */
  int need(int job, int resource) {
    // When tasks need no workers, worker resources limit nothing.
    boolean counts =
        levelOf[resource] == workerLevel
            ? workers.isActive()
            : levelOf[resource] <= jobs.levels[job];
    return counts ? jobs.needs[job][resource] : 0;
  }

  /**
   * Charges or releases a running task; {@link #settle} must follow before the slots of its queue
   * are read.
   */
  void change(QueueState queue, int job, int run, RunPlacements places, int sign) {
    if (queues[job] == null) {
      queues[job] = queue;
      touched[count++] = job;
    }
    if (holdsNeeds(job, run, places)) {
      pending[job] += sign;
    } else {
      changeNow(queue, run, places, sign);
    }
  }

  private boolean holdsNeeds(int job, int run, RunPlacements places) {
    boolean holds =
        places.amounts(run) == jobs.needs[job] && places.worker(run) >= 0 == workers.isActive();
    for (int level = 0; level < workerLevel; level++) {
      holds &= places.node(run, level) >= 0 == level <= jobs.levels[job];
    }
    return holds;
  }

  private void changeNow(QueueState queue, int run, RunPlacements places, int sign) {
    int[] amounts = places.amounts(run);
    for (int level = 0; level < workerLevel; level++) {
      if (places.node(run, level) >= 0) {
        for (int r : ledger.resources(level)) {
          queue.held[r] += (long) sign * amounts[r];
        }
      }
    }
    if (places.worker(run) >= 0) {
      List<Resource> ofWorkers = workers.capacity().resources();
      for (int k = 0; k < ofWorkers.size(); k++) {
        int r = ofWorkers.get(k).index();
        queue.held[r] += (long) sign * amounts[r];
      }
    }
  }

  /**
   * Brings the slots of a queue up to date as far as one of its jobs is concerned.
   *
   * @return the queue; null when the slots of all queues are up to date
   */
  @Nullable QueueState settle() {
    if (count == 0) {
      return null;
    }
    work++;
    int job = touched[--count];
    QueueState queue = queues[job];
    queues[job] = null;
    if (queue != null && pending[job] != 0) {
      for (int r = 0; r < levelOf.length; r++) {
        queue.held[r] += (long) pending[job] * need(job, r);
      }
      pending[job] = 0;
    }
    return queue;
  }

  /** Returns the number of times that a job was settled. */
  long work() {
    return work;
  }
}
