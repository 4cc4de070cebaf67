package io.espalier.core.scheduling.spi;

/**
 * Which of the workers that may take a task gets it; found through {@link java.util.ServiceLoader}.
 * One file each, plus one test that extends {@code WorkerSelectorContract}.
 *
 * <p>A selector is an order and nothing else: whether a worker may take the task (healthy, on the
 * required host, passes the filter, has room) is decided elsewhere, so no selector can overload
 * one. The order is kept, not computed per task: a rank is asked for again only when the worker's
 * load has changed. What a task needs is no part of it, since it is the same on every worker.
 *
 * <p>Contract: stateless and deterministic; never throws. Of equal ranks the worker that joined the
 * pool first comes first.
 */
public interface WorkerSelector {
  /** The word in {@code "remote_worker_selector"}. */
  String name();

  /** Workers with a smaller rank are taken first. */
  long rank(WorkerLoad worker);

  /**
   * Whether the search goes on behind the worker that was taken last, and from the last one to the
   * first: each pool (all workers, those of one host) has a place of its own where it goes on.
   */
  default boolean rotates() {
    return false;
  }
}
