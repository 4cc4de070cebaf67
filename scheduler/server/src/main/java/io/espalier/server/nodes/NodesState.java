package io.espalier.server.nodes;

import io.espalier.core.problem.Problem;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Describes how up to date the nodes are.
 *
 * @param snapshot the last good snapshot, whatever happened since; null before the first
 * @param confirmedAt when a refresh last found the snapshot's nodes; {@link Instant#EPOCH} before
 *     the first
 * @param failing whether the latest refresh failed, so that the snapshot gets outdated
 * @param problems of the latest refresh: errors if it failed, else warnings
 */
public record NodesState(
    @Nullable NodeSnapshot snapshot, Instant confirmedAt, boolean failing, List<Problem> problems) {
  /** The state before the first fetch. */
  public static final NodesState NONE = new NodesState(null, Instant.EPOCH, false, List.of());

  private static final int SHOWN = 5;

  public NodesState {
    problems = List.copyOf(problems);
  }

  /** Returns the age of the nodes in force. */
  public Duration age(Instant now) {
    return Duration.between(confirmedAt, now);
  }

  /** Describes what the tree in force lacks although all sources answered well; null: nothing. */
  public @Nullable String lacking() {
    String warnings =
        problems.stream()
            .filter(p -> !p.isError() && p.path().equals("bistro_settings.nodes"))
            .map(Problem::message)
            .collect(Collectors.joining(" | "));
    return warnings.isEmpty() ? null : warnings;
  }

  /** Describes the current problem, with the age of the nodes in force; null if there is none. */
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
    // In whole minutes, so that the text does not change every second.
    String age =
        snapshot == null
            ? "there are no nodes yet"
            : "the latest nodes without a problem are of %s, %d min ago"
                .formatted(confirmedAt.truncatedTo(ChronoUnit.SECONDS), age(now).toMinutes());
    return errors.isEmpty() ? age : errors + " (" + age + ")";
  }
}
