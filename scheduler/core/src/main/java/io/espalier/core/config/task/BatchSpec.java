package io.espalier.core.config.task;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Which tasks of a job one process may run together (docs/batches.md). Immutable.
 *
 * @param max the most tasks of a batch, from 2 to {@link #MOST}
 * @param under the level of the node under which the tasks of a batch lie, above that of the tasks;
 *     empty: the instance
 * @param waitTime how long a task that can start waits for others to start with it
 * @param perBatch the names of the resources of which a batch is charged once, for all its tasks
 *     together; of levels not below that of {@code under}
 */
public record BatchSpec(
    int max, Optional<Integer> under, Duration waitTime, List<String> perBatch) {
  /** The most tasks that a batch may have. */
  public static final int MOST = 256;

  /** How long a task waits for others, unless the job says otherwise. */
  public static final Duration USUAL_WAIT = Duration.ofMillis(50);

  public BatchSpec {
    perBatch = List.copyOf(perBatch);
  }

  /** Creates a batch of which each task is charged for everything that it needs. */
  public BatchSpec(int max, Optional<Integer> under, Duration waitTime) {
    this(max, under, waitTime, List.of());
  }

  /** The index of the level of the node under which the tasks of a batch lie. */
  public int level() {
    return under.orElse(0);
  }
}
