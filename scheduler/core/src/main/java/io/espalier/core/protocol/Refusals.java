package io.espalier.core.protocol;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Workers that were refused recently, for display; limited in number. */
final class Refusals {
  private static final int MOST = 20;

  private final Map<String, Refusal> byShard = new LinkedHashMap<>();

  private record Refusal(String why, long untilMillis) {}

  /**
   * Adds a refusal, unless there are too many.
   *
   * @return true when the refusal is new
   */
  boolean add(String shard, String why, long untilMillis) {
    Refusal before = byShard.get(shard);
    if (before == null && byShard.size() >= MOST) {
      return false;
    }
    byShard.put(shard, new Refusal(why, untilMillis));
    return before == null || !before.why().equals(why);
  }

  /** All of them in one line; empty when there are none. */
  Optional<String> told(long nowMillis) {
    byShard.values().removeIf(refusal -> nowMillis >= refusal.untilMillis());
    return byShard.entrySet().stream()
        .map(each -> "worker " + each.getKey() + " is refused: " + each.getValue().why())
        .reduce((some, more) -> some + "; " + more);
  }
}
