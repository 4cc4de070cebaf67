package io.espalier.core.status.store;

import io.espalier.core.status.Attempt;
import java.util.List;

/**
 * The stored history of one task's ended invocations.
 *
 * @param ended total number of ended invocations
 * @param cpuMillis CPU time of all of them, as far as known
 * @param attempts the newest {@link StatusStore#KEPT_ATTEMPTS}, oldest first
 */
public record TaskHistory(long ended, long cpuMillis, List<Attempt> attempts) {
  /** The history of a task that never ran to an end. */
  public static final TaskHistory EMPTY = new TaskHistory(0, 0, List.of());

  public TaskHistory {
    attempts = List.copyOf(attempts);
  }
}
