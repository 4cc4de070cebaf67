package io.espalier.worker.process;

import io.espalier.core.running.Invocation;
import io.espalier.core.running.ResourceUsage;
import io.espalier.worker.cgroup.TaskGroup;
import io.espalier.worker.resources.SampledTask;
import io.espalier.worker.resources.TaskUsageReader;
import java.io.IOException;
import java.util.Set;

/** A handle to inspect a task that has no end yet. All methods are safe from any thread. */
public final class LiveTask implements SampledTask {
  private static final TaskUsageReader READER = new TaskUsageReader();

  private final SupervisedTask task;

  LiveTask(SupervisedTask task) {
    this.task = task;
  }

  @Override
  public String job() {
    return task.key().job();
  }

  @Override
  public String node() {
    return task.key().node();
  }

  @Override
  public Invocation invocation() {
    return task.key().invocation();
  }

  /** Returns the pid of the started process; 0 before its start. It may have ended. */
  public long pid() {
    return task.pid();
  }

  /**
   * Returns what it has used so far: by all its processes if it has control groups, otherwise by
   * the started process and its children. The call reads a few small files; the end of the task
   * reports the highest memory peak that any call has read.
   */
  @Override
  public ResourceUsage usage() {
    return task.sample(READER);
  }

  @Override
  public Set<Long> pids() {
    TaskGroup group = task.group();
    long pid = task.pid();
    try {
      return group != null ? group.pids() : pid > 0 ? READER.family(pid) : Set.of();
    } catch (IOException e) {
      return Set.of();
    }
  }
}
