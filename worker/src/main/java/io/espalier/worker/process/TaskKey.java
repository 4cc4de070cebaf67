package io.espalier.worker.process;

import io.espalier.core.running.Invocation;
import io.espalier.core.running.Launch;
import io.espalier.core.running.TaskEnd;

/** What names one attempt of one task. */
public record TaskKey(String job, String node, Invocation invocation) {
  public static TaskKey of(Launch launch) {
    return new TaskKey(launch.job(), launch.node(), launch.invocation());
  }

  /** The end of this invocation. */
  public TaskEnd end(TaskEnd.Kind kind) {
    return TaskEnd.of(job, node, invocation, kind);
  }
}
