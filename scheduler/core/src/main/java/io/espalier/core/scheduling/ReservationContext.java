package io.espalier.core.scheduling;

import io.espalier.core.topology.Topology;

/**
 * What reservations ask of the rest of the scheduling state. Parts that are made after the
 * reservations are there once the state is complete.
 */
interface ReservationContext {
  Topology topology();

  JobTable jobs();

  Ledger ledger();

  OpenIndex index();

  TaskTable tasks();

  JobCaps caps();

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
