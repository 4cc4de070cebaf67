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
 * The part of the scheduling state that reservations use. The methods work once the state is
 * complete, because some parts are created after the reservations.
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

  /** Returns whether a gate closes the node for a job. */
  boolean isClosed(int node, int job);

  /** Returns the bits of the jobs that may start a task now. */
  long openJobs(int word);

  /** Returns whether any node is reserved for a job. */
  boolean holdsNodes(int job);

  /**
   * Returns whether a worker is reserved for a job, or may be once the job has waited long enough.
   */
  boolean mayGetWorker(int job);
}
