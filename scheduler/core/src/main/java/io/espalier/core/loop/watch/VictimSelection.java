package io.espalier.core.loop.watch;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Chooses the tasks to kill where more slots than the limit are in use: the youngest, until the
 * remaining usage is within the limit. Tasks that are already being killed count as released. Pure.
 */
final class VictimSelection {
  private VictimSelection() {}

  /**
   * A task that holds slots.
   *
   * @param startMillis start of the invocation
   * @param slots number of slots, at least 1
   * @param isGoing whether its end has been requested
   */
  record Holder(String job, String node, long startMillis, int slots, boolean isGoing) {}

  /**
   * Chooses the tasks to kill.
   *
   * @param over number of slots in use beyond the limit
   * @return tasks to kill, the youngest first; among tasks of the same age the last by name first
   */
  static List<Holder> choose(List<Holder> holders, long over) {
    long left = over;
    List<Holder> sorted = new ArrayList<>();
    for (Holder holder : holders) {
      if (holder.isGoing()) {
        left -= holder.slots();
      } else {
        sorted.add(holder);
      }
    }
    List<Holder> chosen = new ArrayList<>();
    if (left <= 0) {
      return chosen;
    }
    sorted.sort(
        Comparator.comparingLong(Holder::startMillis)
            .thenComparing(Holder::job)
            .thenComparing(Holder::node)
            .reversed());
    for (Holder holder : sorted) {
      if (left <= 0) {
        break;
      }
      chosen.add(holder);
      left -= holder.slots();
    }
    return chosen;
  }
}
