package io.espalier.core.running;

import io.espalier.core.config.task.KillRequest;
import java.util.List;
import java.util.Map;

/**
 * Starts and kills tasks.
 *
 * <p>Contract: every {@link #start}, every member of a {@link #startBatch} and every invocation
 * given to {@link #resume} is followed by exactly one {@link TaskResult} for that invocation,
 * whatever happens; failures to start are ends, not exceptions. Calls return without waiting for
 * processes and may come from the scheduler thread only; the listener is called on any thread.
 */
public interface TaskRunner extends AutoCloseable {
  /** The value of {@code --runner}. */
  String name();

  /** The {@code worker_shard} of the tasks it runs. */
  String shard();

  /**
   * Opens the runner.
   *
   * @param listener receiver of notifications; this method is called once, before the first start
   */
  void open(TaskListener listener);

  /**
   * Returns true when invocations may outlive the scheduler process: those recorded without an end
   * are then given to {@link #resume} after a restart; otherwise they are known to be dead.
   */
  default boolean outlivesScheduler() {
    return false;
  }

  /**
   * Takes over invocations that an earlier scheduler process recorded as started and that have no
   * recorded end. Only called when {@link #outlivesScheduler}.
   */
  default void resume(List<Assignment> unconfirmed) {
    throw new UnsupportedOperationException(name() + " has nothing to resume");
  }

  void start(LaunchSpec launch);

  /**
   * Starts tasks of one batch in one process. Each member ends by itself, as if it had been started
   * alone. A runner without batches starts each alone.
   *
   * @param members two or more, of one job, on one worker, with the same {@link LaunchSpec#batch}
   */
  default void startBatch(List<LaunchSpec> members) {
    members.forEach(this::start);
  }

  /**
   * Says whether {@link TaskListener#started} is wanted from now on.
   *
   * @return false when this runner does not confirm starts: each counts as confirmed at once
   */
  default boolean confirmStarts(boolean wanted) {
    return false;
  }

  /**
   * Takes over the call of a service that somebody else has sent, or may have sent: a lost worker,
   * an earlier scheduler process. The runner asks the service about it, and never sends it.
   *
   * @param launch with a call, and without an argument: that was sent
   * @return false when this runner makes no calls: the task stays running, until the scheduler ends
   *     and another one asks
   */
  default boolean adopt(LaunchSpec launch) {
    return false;
  }

  /**
   * Lets go of a call whose end its service has reported: nobody asks about it any more. Its end,
   * of any kind, still follows.
   */
  default void letGo(String job, String node, Invocation invocation) {}

  /**
   * Requests that a running invocation be stopped; returns once the request is queued.
   *
   * @return true when this invocation is known and has not ended
   */
  boolean kill(String job, String node, Invocation invocation, KillRequest how);

  /**
   * Takes starts back: of these invocations, those that have not begun never will, and end as
   * {@link TaskResult.Kind#NOT_STARTED}. {@link TaskListener#recalled} follows for each that has no
   * end by then.
   *
   * @return false when there is nothing to wait for: it is decided by now, or this runner takes
   *     nothing back
   */
  default boolean recall(List<LaunchSpec> launches) {
    return false;
  }

  /**
   * Extends the time limits of a running invocation; returns once the request is queued.
   *
   * @param millis extension of its timeout and its deadline, if it has them
   * @return true when this invocation is known, has not ended, and can be extended
   */
  default boolean extend(String job, String node, Invocation invocation, long millis) {
    return false;
  }

  /**
   * Tells a running task how fast to work; returns once the request is queued. A newer one replaces
   * an older one. Where nobody can be told, nothing happens.
   */
  default void throttle(String job, String node, Invocation invocation, Throttle throttle) {}

  /**
   * Returns whether the invocation may be alive, for checks by the watchdog.
   *
   * @return false only if this runner is certain that the invocation ended or never arrived, and
   *     that its end, if there was one, has been reported
   */
  default boolean mayBeAlive(String job, String node, Invocation invocation) {
    return true;
  }

  /**
   * The physical resources of the runner's own host, with the names of {@link WorkerInfo#physical}.
   * Called once before the first start, for runners without a pool.
   */
  default Map<String, Long> physical() {
    return Map.of();
  }

  /**
   * Receives all current cordons: once before the first start, and after each change. Placement
   * applies them by itself; a runner may forward them to its workers.
   */
  default void cordons(List<WorkerCordon> cordons) {}

  /** The end, or late end, is durable: the runner may acknowledge it and forget the invocation. */
  default void recorded(TaskResult end) {}

  /**
   * When a worker was last heard from, epoch milliseconds; any thread may call. The list of workers
   * is only sent when a worker changes, not each time one is heard from.
   *
   * @return 0: unknown
   */
  default long lastSeenMillis(WorkerRef worker) {
    return 0;
  }

  /**
   * Stops all tasks, each in its configured way, waits a bounded time for their ends, then returns.
   */
  @Override
  void close();
}
