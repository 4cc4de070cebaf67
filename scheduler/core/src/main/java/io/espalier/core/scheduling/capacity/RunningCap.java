package io.espalier.core.scheduling.capacity;

import io.espalier.core.scheduling.gate.Scope;

/**
 * A limit, set while the scheduler runs, on how many tasks of a job, or of the jobs of a queue, run
 * at once. It names its job or queue, which need not be known.
 *
 * @param id identifies it: a cap replaces an older one of the same id
 * @param scope a job or a queue
 * @param most the number of tasks, from 1
 * @param author the operator; empty: nobody, or not given
 * @param reason what the author says; may be empty
 * @param untilMillis when it is to be removed, epoch milliseconds; the caller must remove it then.
 *     0: not known
 */
public record RunningCap(
    String id, Scope scope, int most, String author, String reason, long untilMillis) {
  public RunningCap {
    boolean counts = scope.kind() == Scope.Kind.JOB || scope.kind() == Scope.Kind.QUEUE;
    if (most < 1 || !counts) {
      throw new IllegalArgumentException("a cap of " + most + " for " + scope);
    }
  }
}
