package io.espalier.core.status;

import java.util.List;

/**
 * What is kept of the invocations of one task that have ended.
 *
 * @param ended how many there were in all
 * @param cpuMillis what all of them used, as far as it is known
 * @param attempts the newest {@link StatusStore#KEPT_ATTEMPTS}, oldest first
 */
public record TaskHistory(long ended, long cpuMillis, List<Attempt> attempts) {
  /** Of a task that never ran to an end. */
  public static final TaskHistory EMPTY = new TaskHistory(0, 0, List.of());

  public TaskHistory {
    attempts = List.copyOf(attempts);
  }
}
