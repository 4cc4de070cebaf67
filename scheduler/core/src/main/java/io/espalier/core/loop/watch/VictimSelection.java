package io.espalier.core.loop.watch;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Chooses whom to kill where more than a limit is in use: the youngest, until what the others hold
 * is within it. Those that are being killed already give their slots back anyway. Pure.
 */
final class VictimSelection {
  private VictimSelection() {}

  /**
   * Who holds slots.
   *
   * @param startMillis of the invocation
   * @param slots at least 1
   * @param isGoing whether it has been told to end
   */
  record Holder(String job, String node, long startMillis, int slots, boolean isGoing) {}

  /**
   * @param over how many slots more are in use than there are
   * @return whom to kill, the youngest first; of the same age the last by name
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
