package io.espalier.worker.process;

import io.espalier.core.running.Invocation;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.ResourceUsage;
import io.espalier.worker.cgroup.TaskGroup;
import io.espalier.worker.resources.SampledTask;
import io.espalier.worker.resources.TaskUsageReader;
import java.io.IOException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A task without an end, to be looked at from outside. All methods are safe from any thread. */
public final class LiveTask implements SampledTask {
  private static final TaskUsageReader READER = new TaskUsageReader();

  private final RunningTask task;

  LiveTask(RunningTask task) {
    this.task = task;
  }

  public JournalKey key() {
    return task.key();
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

  public LaunchSpec launch() {
    return task.launch();
  }

  /** The process that was started; 0 until it is there. It may be gone. */
  public long pid() {
    return task.pid();
  }

  /** Its control groups; null when it has none. */
  public @Nullable TaskGroup group() {
    return task.group();
  }

  /**
   * What it has used so far: of all its processes when it has control groups, otherwise of the one
   * that was started and its children. Reads a few small files; the highest peak of memory that was
   * ever read here is what its end tells.
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
