package io.espalier.core.config.task;

import java.time.Duration;
import java.util.Optional;

/**
 * Which tasks of a job one process may run together (docs/batches.md). Immutable.
 *
 * @param max the most tasks of a batch, from 2 to {@link #MOST}
 * @param under the level of the node under which the tasks of a batch lie, above that of the tasks;
 *     empty: the instance
 * @param waitTime how long a task that can start waits for others to start with it
 */
public record BatchSpec(int max, Optional<Integer> under, Duration waitTime) {
  /** The most tasks that a batch may have. */
  public static final int MOST = 256;

  /** How long a task waits for others, unless the job says otherwise. */
  public static final Duration USUAL_WAIT = Duration.ofMillis(50);

  /** The index of the level of the node under which the tasks of a batch lie. */
  public int level() {
    return under.orElse(0);
  }
}
