package io.espalier.core.event;

import io.espalier.core.json.Json;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Says which events a reader wants: those that fit all conditions.
 *
 * @param jobs the jobs whose events are wanted; null: none if there are {@code sets}, otherwise
 *     events about no job fit too
 * @param sets the sets whose events are wanted, beside those of {@code jobs}: of their brakes
 * @param nodes names of nodes; empty: all events
 * @param kinds as in events; empty: all
 * @param sinceMillis the time of the first event, epoch milliseconds; 0: any
 */
public record EventFilter(
    @Nullable Predicate<String> jobs,
    Set<String> sets,
    Set<String> nodes,
    Set<String> kinds,
    long sinceMillis) {
  /** Fits all events. */
  public static final EventFilter ALL = new EventFilter(null, Set.of(), Set.of(), Set.of(), 0);

  public EventFilter {
    sets = Set.copyOf(sets);
    nodes = Set.copyOf(nodes);
    kinds = Set.copyOf(kinds);
  }

  /** Whether some events may not fit. */
  public boolean isNarrow() {
    return isOfSome() || !nodes.isEmpty() || !kinds.isEmpty() || sinceMillis > 0;
  }

  /** Whether an event is wanted. */
  public boolean fits(Event event) {
    return event.timeMillis() >= sinceMillis
        && (kinds.isEmpty() || kinds.contains(event.kind()))
        && (!isOfSome() || isAboutJob(event.data()) || isAboutSet(event.data()))
        && (nodes.isEmpty() || isAboutNode(event.data()));
  }

  /** Whether only events of some jobs and sets are wanted. */
  private boolean isOfSome() {
    return jobs != null || !sets.isEmpty();
  }

  private boolean isAboutJob(Json.Obj data) {
    return jobs != null && (anyFits(data.get("job"), jobs) || anyFits(data.get("jobs"), jobs));
  }

  private boolean isAboutSet(Json.Obj data) {
    return anyFits(data.get("set"), sets::contains);
  }

  /**
   * An event about many tasks names them in {@code tasks}, each alone or as the first of a list.
   */
  private boolean isAboutNode(Json.Obj data) {
    return anyFits(data.get("node"), nodes::contains)
        || anyFits(data.get("tasks"), nodes::contains);
  }

  private static boolean anyFits(@Nullable Json names, Predicate<String> wanted) {
    if (names instanceof Json.Arr several) {
      for (Json each : several.items()) {
        List<Json> parts = each instanceof Json.Arr task ? task.items() : List.of(each);
        if (!parts.isEmpty() && anyFits(parts.get(0), wanted)) {
          return true;
        }
      }
      return false;
    }
    return names instanceof Json.Str name && wanted.test(name.value());
  }
}
