package io.espalier.core.scheduling.spi;

/**
 * Ranks the workers that may take a task. Selectors are found through {@link
 * java.util.ServiceLoader}; each takes one file, plus one test that extends {@code
 * WorkerSelectorContract}.
 *
 * <p>A selector only defines an order. Other classes decide whether a worker may take the task (it
 * is healthy, on the required host, passes the filter and has capacity), so no selector can
 * overload a worker. The order is maintained, not computed per task: the rank is queried again only
 * when the worker's load has changed. The needs of the task play no part, because they are the same
 * on every worker.
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
   * Returns whether each search starts after the last worker taken and wraps around. Each pool (all
   * workers, or those of one host) has its own position.
   */
  default boolean rotates() {
    return false;
  }
}
