package io.espalier.server.nodes;

import io.espalier.core.problem.Problem;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.stream.Collectors;
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

  private static final int SHOWN = 5;

  public NodesState {
    problems = List.copyOf(problems);
  }

  /** The age of the nodes in force. */
  public Duration age(Instant now) {
    return Duration.between(confirmedAt, now);
  }

  /** What the tree in force lacks although all sources answered well; null: nothing. */
  public @Nullable String lacking() {
    String warnings =
        problems.stream()
            .filter(p -> !p.isError() && p.path().equals("bistro_settings.nodes"))
            .map(Problem::message)
            .collect(Collectors.joining(" | "));
    return warnings.isEmpty() ? null : warnings;
  }

  /** What is wrong, with the age of the nodes in force; null if nothing is. */
  public @Nullable String problem(Instant now) {
    if (!failing) {
      return null;
    }
    String errors =
        problems.stream()
            .filter(Problem::isError)
            .limit(SHOWN)
            .map(Problem::toString)
            .collect(Collectors.joining(" | "));
    // In whole minutes, so that it is not news every second.
    String age =
        snapshot == null
            ? "there are no nodes yet"
            : "the latest nodes without a problem are of %s, %d min ago"
                .formatted(confirmedAt.truncatedTo(ChronoUnit.SECONDS), age(now).toMinutes());
    return errors.isEmpty() ? age : errors + " (" + age + ")";
  }
}
