package io.espalier.core.scheduling.spi;

/**
 * Ranks the workers that may take a task. Selectors are found through {@link
 * java.util.ServiceLoader}; each takes one file, plus one test that extends {@code
 * WorkerSelectorContract}.
 *
 * <p>A selector only defines an order. Other classes decide whether a worker may take the task (it
 * is healthy, on the required host, passes the filter and has capacity), so no selector can
 * overload a worker. The order is maintained, not computed per task: the rank is queried again only
 * when the worker's load has changed, unless two workers are drawn for each task. The needs of the
 * task play no part, because they are the same on every worker. A worker is chosen once for each
 * batch (docs/batches.md), which then gets as many tasks as that worker has room for.
 *
 * <p>Contract: a selector is stateless and deterministic, and never throws. Among equal ranks, the
 * worker that joined the pool first comes first.
 */
public interface WorkerSelector {
  /** Returns the selector's name in the setting {@code "remote_worker_selector"}. */
  String name();

  /** Returns the rank of a worker; workers with smaller ranks are taken first. */
  long rank(WorkerLoad worker);

  /**
   * Returns whether {@link #rank} reads {@link WorkerLoad#measured}. Otherwise the core is not told
   * what workers measure.
   */
  default boolean readsMeasurements() {
    return false;
  }

  /** Returns how the core searches among the workers that may take the task. */
  default Search search() {
    return Search.LEAST_RANK;
  }

  /**
   * Ways to search. The core keeps positions and draws random numbers, from the seed of the
   * scheduler, so that a recording can be repeated.
   */
  enum Search {
    /** The worker with the smallest rank. */
    LEAST_RANK,

    /**
     * The next one after the last worker taken, in the order of ranks, and then from the first.
     * Each pool (all workers, or those of one host) has its own position.
     */
    IN_TURN,

    /** Of two random workers the one with the smaller rank; only these two are ranked. */
    BETTER_OF_TWO
  }
}
