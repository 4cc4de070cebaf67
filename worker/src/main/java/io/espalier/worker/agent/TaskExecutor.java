package io.espalier.worker.agent;

import io.espalier.core.config.KillRequest;
import io.espalier.core.protocol.RunId;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskListener;
import java.util.concurrent.CompletionStage;

/**
 * What runs the tasks of a worker. Calls come from one thread and do not wait for processes.
 *
 * <p>Every start is followed by exactly one end, which is told once all processes of the task are
 * verified dead.
 */
public interface TaskExecutor extends AutoCloseable {
  /** Before anything else. */
  void open(TaskListener listener);

  void start(LaunchSpec launch);

  void kill(RunId run, KillRequest how);

  void extend(RunId run, long millis);

  /**
   * Whatever lives is killed, and nothing is started, once one of these instants comes, also when
   * this process is frozen; until told anew.
   *
   * @param uptimeHundredths as {@code /proc/uptime} counts
   * @param clockMillis epoch milliseconds
   */
  void lease(long uptimeHundredths, long clockMillis);

  /** Completes once all leases told so far are in force and nothing is being killed for one. */
  CompletionStage<Void> leaseInForce();

  /** Why nobody would kill the tasks if this process froze; empty: there is a guard. */
  String guardProblem();

  /** Whether what the last process on the data directory left was looked for, and is dead. */
  boolean lookedForSurvivors();

  /** How tasks are run, for people. */
  String description();

  /** Stops all tasks, delivers their ends, within a bound. */
  @Override
  void close();
}
