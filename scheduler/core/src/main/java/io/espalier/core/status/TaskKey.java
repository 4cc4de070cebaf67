package io.espalier.core.status;

import org.jspecify.annotations.Nullable;

/** Identifies one task: a job and a node of its task level. */
public record TaskKey(String job, String node) {
  // Stores look up several keys per task, and what a record has by itself is a chain of method
  // handles, which is several times slower with the first compiler of the JVM.

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof TaskKey key && node.equals(key.node) && job.equals(key.job);
  }

  @Override
  public int hashCode() {
    return 31 * job.hashCode() + node.hashCode();
  }
}
