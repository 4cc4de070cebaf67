package io.espalier.core.loop.notify;

import io.espalier.core.event.EventKind;
import io.espalier.core.json.Json;
import io.espalier.core.loop.state.LoopEvents;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Records problems of the scheduler as events. What comes and goes within seconds is not recorded.
 * Not thread-safe.
 */
public final class ProblemEvents {
  /** How long a problem must last, or be over, until that is recorded. */
  static final long SETTLED_MILLIS = 10_000;

  private static final long PERIOD_MILLIS = 1_000;

  private final LoopEvents events;
  private final Set<String> raised = new HashSet<>();

  /** Since when sources differ from what is recorded. */
  private final Map<String, Long> since = new HashMap<>();

  private long next;

  public ProblemEvents(LoopEvents events) {
    this.events = events;
  }

  /** Whether it is time for {@link #step}, which costs a little. */
  public boolean isDue(long nowMillis) {
    return nowMillis >= next;
  }

  /**
   * Compares the problems with what is recorded.
   *
   * @param problems current problems by source
   */
  public void step(Map<String, String> problems, long nowMillis) {
    next = nowMillis + PERIOD_MILLIS;
    since.keySet().removeIf(source -> problems.containsKey(source) == raised.contains(source));
    problems.forEach(
        (source, message) -> {
          if (!raised.contains(source) && hasSettled(source, nowMillis)) {
            raised.add(source);
            events.add(
                nowMillis,
                EventKind.PROBLEM_RAISED,
                Json.object().put("source", source).put("message", message).build());
          }
        });
    for (String source : Set.copyOf(raised)) {
      if (!problems.containsKey(source) && hasSettled(source, nowMillis)) {
        raised.remove(source);
        events.add(
            nowMillis, EventKind.PROBLEM_CLEARED, Json.object().put("source", source).build());
      }
    }
  }

  private boolean hasSettled(String source, long nowMillis) {
    boolean settled =
        nowMillis - since.computeIfAbsent(source, fresh -> nowMillis) >= SETTLED_MILLIS;
    if (settled) {
      since.remove(source);
    }
    return settled;
  }
}
