package io.espalier.core.protocol;

import io.espalier.core.running.Invocation;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult;

/** Identifies one invocation of one task in messages. */
public record RunId(String job, String node, Invocation invocation) {
  public static RunId of(LaunchSpec launch) {
    return new RunId(launch.job(), launch.node(), launch.invocation());
  }

  public static RunId of(TaskResult end) {
    return new RunId(end.job(), end.node(), end.invocation());
  }

  @Override
  public String toString() {
    return job + " on " + node + " (" + invocation.token() + ")";
  }
}
