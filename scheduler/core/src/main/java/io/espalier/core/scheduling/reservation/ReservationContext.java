package io.espalier.core.scheduling.reservation;

import io.espalier.core.scheduling.capacity.NodeCapacity;
import io.espalier.core.scheduling.index.StartableIndex;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.scheduling.queue.QueueTable;
import io.espalier.core.scheduling.task.JobThrottle;
import io.espalier.core.scheduling.task.TaskTable;
import io.espalier.core.scheduling.worker.WorkerIndex;
import io.espalier.core.scheduling.worker.WorkerTable;
import io.espalier.core.topology.Topology;

/**
 * What reservations ask of the rest of the scheduling state. Parts that are made after the
 * reservations are there once the state is complete.
 */
public interface ReservationContext {
  Topology topology();

  JobTable jobs();

  NodeCapacity ledger();

  StartableIndex index();

  TaskTable tasks();

  JobThrottle caps();

  QueueTable queues();

  WorkerIndex workers();

  WorkerTable workerTable();

  /** Bits of the jobs of which a task may start now. */
  long openJobs(int word);

  /** Whether nodes are kept free for a job. */
  boolean holdsNodes(int job);

  /** Whether a worker is kept for a job, or may be once the job has waited long enough. */
  boolean mayGetWorker(int job);
}
