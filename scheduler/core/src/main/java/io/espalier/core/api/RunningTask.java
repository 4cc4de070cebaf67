package io.espalier.core.api;

import io.espalier.core.running.Invocation;
import io.espalier.core.running.Usage;
import org.jspecify.annotations.Nullable;

/**
 * A live invocation as monitors see it.
 *
 * @param usage the newest sample of what it has used; null before the first
 */
public record RunningTask(
    String job,
    String node,
    Invocation invocation,
    int attempt,
    String workerShard,
    @Nullable Usage usage) {
  /** One of which nothing has been sampled. */
  public RunningTask(
      String job, String node, Invocation invocation, int attempt, String workerShard) {
    this(job, node, invocation, attempt, workerShard, null);
  }
}
