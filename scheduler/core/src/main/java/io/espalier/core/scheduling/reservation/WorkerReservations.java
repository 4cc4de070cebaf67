package io.espalier.core.scheduling.reservation;

import io.espalier.core.running.WorkerInfo;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.scheduling.queue.QueueTable;
import io.espalier.core.scheduling.worker.WorkerIndex;
import io.espalier.core.scheduling.worker.WorkerTable;
import java.util.stream.IntStream;

/**
 * Reservations of workers, which come last. Jobs that are placed on the host of a node of their
 * path have none, because their shortages are found in the tree, for each host separately.
 */
final class WorkerReservations extends CapacityReservations {
  private final WorkerIndex workers;
  private final WorkerTable table;
  private final QueueTable queues;

  WorkerReservations(ReservationContext context) {
    super(context, CapacityReservation.Kind.WORKER);
    workers = context.workers();
    table = context.workerTable();
    queues = context.queues();
    if (workers.isActive()) {
      findHeavy(context.jobs());
    }
  }

  private void findHeavy(JobTable jobs) {
    int resources = workers.capacity().resources().size();
    StarvableJobs.mark(
        heavy,
        jobs,
        IntStream.range(0, jobs.count()).toArray(),
        job -> IntStream.range(0, resources).map(k -> workers.need(job, k)).toArray());
    for (int job = 0; job < jobs.count(); job++) {
      if (workers.placementLevel(job) >= 0) {
        heavy[job >>> 6] &= ~(1L << job);
      }
    }
  }

  @Override
  long open(int word) {
    return workers.open(word);
  }

  @Override
  long before(int word) {
    return queues.open(word);
  }

  @Override
  int places() {
    return table.high();
  }

  @Override
  String name(int place) {
    return table.shard(place);
  }

  @Override
  int holder(int place) {
    return workers.keptFor(place);
  }

  @Override
  void keepFor(int place, int job) {
    workers.keepFor(place, job);
  }

  @Override
  boolean isEnough(int worker, int job) {
    WorkerInfo info = table.info(worker);
    String host = workers.pinnedTo(job);
    if (info == null
        || !workers.isKnown(worker)
        || !info.takesTasks()
        || !workers.passes(job, worker)
        || (host != null && !host.equals(info.host()))) {
      return false;
    }
    for (int k = 0; k < workers.capacity().resources().size(); k++) {
      if (workers.need(job, k) > workers.capacity().limit(worker, k)) {
        return false;
      }
    }
    return true;
  }

  /** Returns the worker with the smallest shortfall of slots; among equals, the first by name. */
  @Override
  int placeFor(int job) {
    int best = -1;
    long bestMissing = Long.MAX_VALUE;
    for (int worker = 0; worker < table.high(); worker++) {
      if (holder(worker) < 0 && isEnough(worker, job)) {
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

  private long missing(int worker, int job) {
    long slots = workers.capacity().isFull(worker) ? 1 : 0;
    for (int k = 0; k < workers.capacity().resources().size(); k++) {
      int need = workers.need(job, k);
      slots += need == 0 ? 0 : Math.max(0, (long) need - workers.capacity().free(worker, k));
    }
    return slots;
  }
}
