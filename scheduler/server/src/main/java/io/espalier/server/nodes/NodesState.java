package io.espalier.server.nodes;

import io.espalier.core.problem.Problem;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How fresh the nodes are.
 *
 * @param snapshot the last good one, whatever happened since; absent before the first
 * @param confirmedAt when a refresh last found the snapshot's nodes; {@link Instant#EPOCH} before
 *     the first
 * @param failing whether the latest refresh failed, so that the snapshot grows old
 * @param problems what the latest refresh found: errors if it failed, else warnings
 */
public record NodesState(
    @Nullable NodeSnapshot snapshot, Instant confirmedAt, boolean failing, List<Problem> problems) {
  /** Nothing was tried yet. */
  public static final NodesState NONE = new NodesState(null, Instant.EPOCH, false, List.of());

  public NodesState {
    problems = List.copyOf(problems);
  }

  /** The age of the nodes in force. */
  public Duration age(Instant now) {
    return Duration.between(confirmedAt, now);
  }
}
