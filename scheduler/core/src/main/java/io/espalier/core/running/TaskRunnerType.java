package io.espalier.core.running;

import java.util.List;

/**
 * A way to run tasks, which {@code --runner} names. Runners of plug-ins are found through {@link
 * java.util.ServiceLoader}; each takes one file, plus one test that extends {@code
 * TaskRunnerContract}.
 *
 * <p>Tasks of such a runner end with the scheduler process: {@link TaskRunner#close} stops them,
 * and {@link TaskRunner#outlivesScheduler} must be false. A runner whose tasks survive a crash of
 * the process must find and end them before {@link #create} returns, because the scheduler takes
 * them for dead.
 */
public interface TaskRunnerType {
  /** Returns the value of {@code --runner}: lower-case letters, digits and hyphens. */
  String name();

  /**
   * Creates a runner, which is not open yet.
   *
   * @throws RuntimeException when it cannot run tasks here; the message tells the operator why
   */
  TaskRunner create(Context context);

  /**
   * The environment of a runner.
   *
   * @param shard what {@link TaskRunner#shard} is to return
   * @param configDirectory base directory for relative paths of commands
   * @param dataDirectory data directory of the scheduler, which exists
   * @param workerCommand argv prefix of jobs without a command; empty: none
   * @param seed seed of all randomness of the runner
   */
  record Context(
      String shard,
      String configDirectory,
      String dataDirectory,
      List<String> workerCommand,
      long seed) {
    public Context {
      workerCommand = List.copyOf(workerCommand);
    }
  }
}
