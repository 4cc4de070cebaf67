package io.espalier.core.config.task;

import java.util.Optional;

/**
 * Which tasks of a job one process may run together (docs/batches.md). Immutable.
 *
 * @param max the most tasks of a batch, from 2 to {@link #MOST}
 * @param under the level of the node under which the tasks of a batch lie, above that of the tasks;
 *     empty: the instance
 */
public record BatchSpec(int max, Optional<Integer> under) {
  /** The most tasks that a batch may have. */
  public static final int MOST = 256;

  /** The index of the level of the node under which the tasks of a batch lie. */
  public int level() {
    return under.orElse(0);
  }
}
