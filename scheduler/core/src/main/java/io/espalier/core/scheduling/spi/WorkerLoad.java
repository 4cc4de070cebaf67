package io.espalier.core.scheduling.spi;

/** How much of a worker is in use, for a {@link WorkerSelector}; valid during the call only. */
public interface WorkerLoad {
  /** How many tasks hold it. */
  int tasks();

  /** How many tasks it runs at once at most; 0: as many as its resources allow. */
  int maxTasks();

  /** How many resources workers have; they are numbered from 0, in the order of the settings. */
  int resources();

  /** Of one resource, from its settings. */
  int weight(int resource);

  /** Slots of a resource in all. */
  int limit(int resource);

  /** Slots left, negative where more is in use than the limit. */
  int free(int resource);
}
