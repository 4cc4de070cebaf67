package io.espalier.worker;

import io.espalier.core.config.task.KillRequest;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskListener;
import io.espalier.core.running.TaskRunner;

/**
 * A dry run: starts no process and completes every task at once as done
 * (docs/design/bistro.md#ways-to-run-tasks).
 */
public final class DryRunRunner implements TaskRunner {
  private final SimulatedTasks tasks;

  public DryRunRunner(String shard) {
    this.tasks = new SimulatedTasks(shard);
  }

  @Override
  public String name() {
    return "dry-run";
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
    tasks.start(launch, 0, "done");
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
