package io.espalier.core.scheduling.capacity;

import io.espalier.core.scheduling.gate.Scope;
import java.util.Set;

/**
 * Lowers limits to a share of themselves, rounded up. Of several factors for the same limit the
 * smallest counts.
 *
 * @param id identifies the factor
 * @param scope all nodes, a level, or a node with everything below it
 * @param resources the names of the resources; empty: all. Resources of workers are none of nodes,
 *     so their limits stay
 * @param millionths the share, from 0 to {@link #ONE}
 * @param author the operator; empty: nobody, or not given
 * @param reason what the author says; may be empty
 * @param sinceMillis when it was set, epoch milliseconds; 0: not known
 * @param untilMillis when it is to be removed, epoch milliseconds; the caller must remove it then.
 *     0: not known
 */
public record LimitFactor(
    String id,
    Scope scope,
    Set<String> resources,
    int millionths,
    String author,
    String reason,
    long sinceMillis,
    long untilMillis) {
  /** The share that lowers nothing. */
  public static final int ONE = 1_000_000;

  public LimitFactor {
    resources = Set.copyOf(resources);
    if (millionths < 0 || millionths > ONE || isOfJobs(scope)) {
      throw new IllegalArgumentException("a factor of " + millionths + " for " + scope);
    }
  }

  private static boolean isOfJobs(Scope scope) {
    return scope.kind() == Scope.Kind.JOB || scope.kind() == Scope.Kind.QUEUE;
  }

  /** Returns whether it concerns a resource where its scope has it. */
  public boolean concerns(String resource) {
    return resources.isEmpty() || resources.contains(resource);
  }

  /** Returns whether another factor has the same scope and resources. */
  public boolean hasTargetOf(LimitFactor other) {
    return scope.equals(other.scope) && resources.equals(other.resources);
  }

  /** Returns a share of a limit, rounded up. */
  static int share(int limit, int millionths) {
    return (int) (((long) limit * millionths + ONE - 1) / ONE);
  }
}
