package io.espalier.worker;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskListener;
import io.espalier.core.running.TaskRunner;
import java.util.SplittableRandom;

/**
 * Simulates tasks without starting a process. Each task takes a random time, uniform in [0, 2 x
 * mean], and then is done or, at the failure rate, reports {@code error_backoff}
 * (docs/design/bistro.md#ways-to-run-tasks). The seed and the order of the starts determine all
 * times and failures.
 */
public final class SimulatedRunner implements TaskRunner {
  private final SimulatedTasks tasks;
  private final long meanMillis;
  private final double failureRate;
  private final SplittableRandom random;

  /**
   * @param meanMillis mean duration of a task, 0 or more
   * @param failureRate from 0 (all tasks succeed) to 1 (all fail)
   */
  public SimulatedRunner(String shard, long meanMillis, double failureRate, long seed) {
    if (meanMillis < 0) {
      throw new IllegalArgumentException("the mean length of a task is negative: " + meanMillis);
    }
    if (!(failureRate >= 0 && failureRate <= 1)) {
      throw new IllegalArgumentException("a failure rate is from 0 to 1, not " + failureRate);
    }
    this.tasks = new SimulatedTasks(shard);
    this.meanMillis = meanMillis;
    this.failureRate = failureRate;
    this.random = new SplittableRandom(seed);
  }

  @Override
  public String name() {
    return "simulated";
  }

  @Override
  public String shard() {
    return tasks.shard();
  }

  @Override
  public void open(TaskListener ends) {
    tasks.open(ends);
  }

  @Override
  public void start(LaunchSpec launch) {
    long micros = meanMillis == 0 ? 0 : random.nextLong(2000 * meanMillis + 1);
    boolean fails = random.nextDouble() < failureRate;
    tasks.start(launch, micros, fails ? "error_backoff" : "done");
  }

  @Override
  public boolean kill(String job, String node, Invocation invocation, KillRequest how) {
    return tasks.kill(job, node, invocation);
  }

  @Override
  public void close() {
    tasks.close();
  }
}
