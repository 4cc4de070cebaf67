package io.espalier.worker.agent;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.protocol.RunId;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskListener;
import io.espalier.core.running.Throttle;
import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * Executes the tasks of a worker. Calls come from one thread and do not wait for processes.
 *
 * <p>Every start is followed by exactly one end, which is delivered once all processes of the task
 * are verified dead.
 */
public interface TaskExecutor extends AutoCloseable {
  /** Opens the executor; must be the first call. */
  void open(TaskListener listener);

  void start(LaunchSpec launch);

  /**
   * Starts tasks of one batch in one process. Each member ends by itself, as if it had been started
   * alone. An executor without batches starts each alone.
   *
   * @param members two or more, of one job, with the same {@link LaunchSpec#batch}
   */
  default void startBatch(List<LaunchSpec> members) {
    members.forEach(this::start);
  }

  void kill(RunId run, KillRequest how);

  /**
   * Starts a task no more if it has not begun, which is decided before the call returns: it then
   * ends as never started.
   */
  default void recall(RunId run) {
    // Where nothing waits to begin, there is nothing to take back.
  }

  void extend(RunId run, long millis);

  /** Tells a task how fast to work. */
  default void throttle(RunId run, Throttle throttle) {
    // Not every task can be told.
  }

  /**
   * Ends a task because the worker may not run it any longer: kills its process as requested, or
   * lets go of its call, which only its service can end.
   */
  default void giveUp(RunId run, KillRequest how) {
    kill(run, how);
  }

  /** Asks no more about a call, whose end the scheduler knows; it ends here as lost. */
  default void letGo(RunId run) {
    // Processes are held on to.
  }

  /**
   * Sets the expiry of the lease. When the earlier of the two instants is reached, everything alive
   * is killed and nothing more is started, even if this process is frozen, until a new lease is
   * set.
   *
   * @param uptimeHundredths as {@code /proc/uptime} counts
   * @param clockMillis epoch milliseconds
   */
  void lease(long uptimeHundredths, long clockMillis);

  /**
   * Returns a stage that completes once all leases set so far are in force and no expired lease is
   * still causing kills.
   */
  CompletionStage<Void> leaseInForce();

  /** Returns why nobody would kill the tasks if this process froze; empty: a guard would. */
  String guardProblem();

  /**
   * Returns whether the survivors of the last process on the data directory were searched for and
   * are dead.
   */
  boolean lookedForSurvivors();

  /** Returns a description, for people, of how tasks are run. */
  String description();

  /** Stops all tasks and delivers their ends, within a time limit. */
  @Override
  void close();
}
