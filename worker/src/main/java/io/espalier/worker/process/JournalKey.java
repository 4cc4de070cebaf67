package io.espalier.worker.process;

import io.espalier.core.running.Invocation;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult;
import org.jspecify.annotations.Nullable;

/** The key of one attempt of one task. */
public record JournalKey(String job, String node, Invocation invocation) {
  public static JournalKey of(LaunchSpec launch) {
    return new JournalKey(launch.job(), launch.node(), launch.invocation());
  }

  /** Returns the end of this invocation. */
  public TaskResult end(TaskResult.Kind kind) {
    return TaskResult.of(job, node, invocation, kind);
  }

  // By hand, as in TaskKey.

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof JournalKey key
        && invocation.equals(key.invocation)
        && node.equals(key.node)
        && job.equals(key.job);
  }

  @Override
  public int hashCode() {
    return 31 * (31 * job.hashCode() + node.hashCode()) + invocation.hashCode();
  }
}
