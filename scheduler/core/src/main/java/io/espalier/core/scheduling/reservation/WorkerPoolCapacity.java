package io.espalier.core.scheduling.reservation;

import io.espalier.core.config.Job;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.scheduling.queue.QueueTable;
import io.espalier.core.scheduling.worker.WorkerIndex;
import io.espalier.core.scheduling.worker.WorkerTable;
import org.jspecify.annotations.Nullable;

/**
 * The slots of workers as reservable capacity, where each worker is a place. It excludes jobs that
 * are placed on the host of a node of their path, because their shortages are found in the tree,
 * for each host separately.
 */
final class WorkerPoolCapacity implements ReservableCapacity {
  private final WorkerIndex workers;
  private final WorkerTable table;
  private final QueueTable queues;
  private final long[] heavy;

  WorkerPoolCapacity(WorkerIndex workers, WorkerTable table, QueueTable queues, JobTable jobs) {
    this.workers = workers;
    this.table = table;
    this.queues = queues;
    heavy = new long[jobs.words];
    if (workers.isActive()) {
      compare(jobs);
    }
  }

  private void compare(JobTable jobs) {
    StarvationAnalysis others = new StarvationAnalysis(workers.resources().size());
    for (int job = 0; job < jobs.count(); job++) {
      if (jobs.job(job) != null) {
        others.add(needs(job));
      }
    }
    for (int job = 0; job < jobs.count(); job++) {
      Job configured = jobs.job(job);
      if (configured != null
          && configured.scheduling().reserveAfter().isPresent()
          && workers.placementLevel(job) < 0
          && others.isStarved(needs(job))) {
        heavy[job >>> 6] |= 1L << job;
      }
    }
  }

  private int[] needs(int job) {
    int[] needs = new int[workers.resources().size()];
    for (int k = 0; k < needs.length; k++) {
      needs[k] = workers.need(job, k);
    }
    return needs;
  }

  @Override
  public long heavy(int word) {
    return heavy[word];
  }

  @Override
  public long open(int word) {
    return workers.open(word);
  }

  @Override
  public long before(int word) {
    return queues.open(word);
  }

  /** Returns the worker with the smallest shortfall of slots; among equals, the first by name. */
  @Override
  public int placeFor(int job) {
    int best = -1;
    long bestMissing = Long.MAX_VALUE;
    for (int worker = 0; worker < table.high(); worker++) {
      if (workers.keptFor(worker) < 0 && canTake(worker, job)) {
        long missing = missing(worker, job);
        if (missing < bestMissing
            || (missing == bestMissing && table.shard(worker).compareTo(table.shard(best)) < 0)) {
          best = worker;
          bestMissing = missing;
        }
      }
    }
    return best;
  }

  private boolean canTake(int worker, int job) {
    WorkerInfo info = table.info(worker);
    @Nullable String host = workers.pinnedTo(job);
    if (info == null
        || !workers.isKnown(worker)
        || !info.takesTasks()
        || !workers.passes(job, worker)
        || (host != null && !host.equals(info.host()))) {
      return false;
    }
    for (int k = 0; k < workers.resources().size(); k++) {
      if (workers.need(job, k) > workers.limitOf(worker, k)) {
        return false;
      }
    }
    return true;
  }

  private long missing(int worker, int job) {
    long slots = workers.isFull(worker) ? 1 : 0;
    for (int k = 0; k < workers.resources().size(); k++) {
      int need = workers.need(job, k);
      slots += need == 0 ? 0 : Math.max(0, (long) need - workers.freeOf(worker, k));
    }
    return slots;
  }

  @Override
  public boolean isKept(int place, int job) {
    return workers.keptFor(place) == job;
  }

  @Override
  public boolean suits(int place, int job) {
    return isKept(place, job) && canTake(place, job);
  }

  @Override
  public void keep(int place, int job) {
    workers.keepFor(place, job);
  }

  @Override
  public void free(int place, int job) {
    if (isKept(place, job)) {
      workers.keepFor(place, -1);
    }
  }

  @Override
  public String name(int place) {
    return table.shard(place);
  }

  @Override
  public int again(String name, int job) {
    for (int worker = 0; worker < table.high(); worker++) {
      if (table.shard(worker).equals(name) && workers.keptFor(worker) < 0 && canTake(worker, job)) {
        return worker;
      }
    }
    return -1;
  }
}
