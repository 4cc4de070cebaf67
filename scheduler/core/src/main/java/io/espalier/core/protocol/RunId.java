package io.espalier.core.protocol;

import io.espalier.core.running.Invocation;
import io.espalier.core.running.Launch;
import io.espalier.core.running.TaskEnd;

/** One invocation of one task, as messages name it. */
public record RunId(String job, String node, Invocation invocation) {
  public static RunId of(Launch launch) {
    return new RunId(launch.job(), launch.node(), launch.invocation());
  }

  public static RunId of(TaskEnd end) {
    return new RunId(end.job(), end.node(), end.invocation());
  }

  @Override
  public String toString() {
    return job + " on " + node + " (" + invocation.token() + ")";
  }
}
