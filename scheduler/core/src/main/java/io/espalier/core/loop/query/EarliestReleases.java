package io.espalier.core.loop.query;

import io.espalier.core.api.view.ResourceHolder;
import io.espalier.core.loop.state.LiveTasks.Live;
import io.espalier.core.loop.state.Throughput;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/** Finds the holders of slots that are expected to end first. */
final class EarliestReleases {
  /** More holders are remembered than shown, to compute when enough of them will have ended. */
  private static final int REMEMBERED = 200;

  /**
   * When a very large number of tasks holds the same resource, it is enough to compare this many.
   */
  private static final int COMPARED = 5_000;

  private static final Comparator<ResourceHolder> FIRST_TO_END =
      Comparator.comparingLong(
              (ResourceHolder h) ->
                  h.expectedEndMillis() == 0 ? Long.MAX_VALUE : h.expectedEndMillis())
          .thenComparingLong(ResourceHolder::sinceMillis)
          .thenComparing(ResourceHolder::job)
          .thenComparing(ResourceHolder::node)
          .thenComparing(ResourceHolder::resource);

  private final PriorityQueue<ResourceHolder> last = new PriorityQueue<>(FIRST_TO_END.reversed());
  private long total;

  /**
   * Adds a holder.
   *
   * @param task null for a run that only the core knows; it is only counted
   */
  void add(@Nullable Live task, String resource, int slots, Throughput throughput, long nowMillis) {
    total++;
    if (task == null || total > COMPARED) {
      return;
    }
    ResourceHolder holder =
        new ResourceHolder(
            task.key.job(),
            task.key.node(),
            resource,
            slots,
            task.startedMillis(),
            throughput.expectedEnd(task, nowMillis));
    if (last.size() == REMEMBERED) {
      if (FIRST_TO_END.compare(holder, last.element()) >= 0) {
        return;
      }
      last.remove();
    }
    last.add(holder);
  }

  long total() {
    return total;
  }

  /** The holders expected to end first, in that order. */
  List<ResourceHolder> first(int limit) {
    List<ResourceHolder> sorted = new ArrayList<>(last);
    sorted.sort(FIRST_TO_END);
    return sorted.subList(0, Math.min(limit, sorted.size()));
  }

  /** When this many slots are expected to be free; 0: unknown. */
  long freeAt(long missing) {
    long back = 0;
    for (ResourceHolder holder : first(REMEMBERED)) {
      back += holder.slots();
      if (holder.expectedEndMillis() == 0) {
        return 0;
      }
      if (back >= missing) {
        return holder.expectedEndMillis();
      }
    }
    return 0;
  }
}
