package io.espalier.core.scheduling.spi;

import io.espalier.core.running.MeasuredLoad;

/** The load of a worker, for a {@link WorkerSelector}; valid only during the call. */
public interface WorkerLoad {
  /** Returns the number of tasks on the worker. */
  int tasks();

  /** Returns the maximum number of concurrent tasks; 0: only the resources limit it. */
  int maxTasks();

  /**
   * Returns the number of worker resources; they are numbered from 0, in the order of the settings.
   */
  int resources();

  /** Returns the weight of a resource, from its settings. */
  int weight(int resource);

  /** Returns the limit of a resource. */
  int limit(int resource);

  /**
   * Returns how busy the worker has measured itself to be: for selectors that {@link
   * WorkerSelector#readsMeasurements say so}. A new measurement does not update the order in which
   * workers are kept, so only selectors that draw two workers may use it.
   */
  MeasuredLoad measured();

  /** Returns the free slots; negative when usage exceeds the limit. */
  int free(int resource);
}
