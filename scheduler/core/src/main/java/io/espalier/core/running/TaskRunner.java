package io.espalier.core.running;

import io.espalier.core.config.KillRequest;
import java.util.List;
import java.util.Map;

/**
 * Starts and kills tasks.
 *
 * <p>Contract: every {@link #start}, and every invocation given to {@link #resume}, is followed by
 * exactly one {@link TaskResult} for that invocation, whatever happens; failures to start are ends,
 * not exceptions. Calls return without waiting for processes and may come from the scheduler thread
 * only; the listener is called on any thread.
 */
public interface TaskRunner extends AutoCloseable {
  /** The word of {@code --runner}. */
  String name();

  /** Shown as {@code worker_shard} and {@code worker_host} of the tasks it runs. */
  String shard();

  /**
   * @param listener called before the first start, once
   */
  void open(TaskListener listener);

  /**
   * Whether invocations may outlive the scheduler process: then those that were recorded without an
   * end are given to {@link #resume} after a restart; otherwise they are known to be dead.
   */
  default boolean outlivesScheduler() {
    return false;
  }

  /**
   * Takes over invocations that an earlier scheduler process recorded as started, with no end. Only
   * when {@link #outlivesScheduler}.
   */
  default void resume(List<Assignment> unconfirmed) {
    throw new UnsupportedOperationException(name() + " has nothing to resume");
  }

  void start(LaunchSpec launch);

  /**
   * Asks for a running invocation to be stopped; returns once the request is queued.
   *
   * @return whether this invocation is known and not yet ended
   */
  boolean kill(String job, String node, Invocation invocation, KillRequest how);

  /**
   * Moves the time limits of a running invocation; returns once the request is queued.
   *
   * @param millis added to its timeout and its deadline, where it has them
   * @return whether this invocation is known, not yet ended, and can be extended
   */
  default boolean extend(String job, String node, Invocation invocation, long millis) {
    return false;
  }

  /**
   * Whether the invocation may be alive, for the supervisor's second look.
   *
   * @return false only if this runner is certain that it was ended or never arrived, and that its
   *     end, if there was one, has been told
   */
  default boolean mayBeAlive(String job, String node, Invocation invocation) {
    return true;
  }

  /**
   * What the runner's own host offers, with the names of {@link WorkerInfo#physical}; of runners
   * without a pool, asked once before the first start.
   */
  default Map<String, Long> physical() {
    return Map.of();
  }

  /**
   * All that operators say of workers at this time: once before the first start, and after each
   * change. Placement heeds it by itself; a runner may tell its workers.
   */
  default void holds(List<WorkerCordon> holds) {}

  /** The end, or late end, is durable: the runner may acknowledge it and forget the invocation. */
  default void recorded(TaskResult end) {}

  /**
   * When a worker was last heard of, epoch milliseconds; from any thread. The list of workers is
   * told when a worker changes, not whenever one is heard of.
   *
   * @return 0: not known
   */
  default long lastSeenMillis(WorkerRef worker) {
    return 0;
  }

  /** Stops all tasks, each in its own way, waits for their ends within its bound, then returns. */
  @Override
  void close();
}
