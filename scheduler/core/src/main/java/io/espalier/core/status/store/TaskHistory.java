package io.espalier.core.status.store;

import io.espalier.core.status.Attempt;
import java.util.List;

/**
 * The stored history of one task's ended invocations.
 *
 * @param totals what all ended invocations add up to
 * @param attempts the newest {@link StatusStore#KEPT_ATTEMPTS}, oldest first
 */
public record TaskHistory(TaskTotals totals, List<Attempt> attempts) {
  /** The history of a task that never ran to an end. */
  public static final TaskHistory EMPTY = new TaskHistory(TaskTotals.NONE, List.of());

  public TaskHistory {
    attempts = List.copyOf(attempts);
  }
}
