package io.espalier.core.loop;

import io.espalier.core.api.Holder;
import io.espalier.core.loop.LiveTasks.Live;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/** Of all who hold something, those that are expected to end first. */
final class HolderPick {
  /** More are remembered than are shown, to tell when enough of them will have ended. */
  private static final int REMEMBERED = 200;

  /** Where a whole fleet holds one thing, the first of these to end is soon enough. */
  private static final int COMPARED = 5_000;

  private static final Comparator<Holder> FIRST_TO_END =
      Comparator.comparingLong(
              (Holder h) -> h.expectedEndMillis() == 0 ? Long.MAX_VALUE : h.expectedEndMillis())
          .thenComparingLong(Holder::sinceMillis)
          .thenComparing(Holder::job)
          .thenComparing(Holder::node)
          .thenComparing(Holder::resource);

  private final PriorityQueue<Holder> last = new PriorityQueue<>(FIRST_TO_END.reversed());
  private long total;

  /**
   * @param task null: the core knows it and nobody else; it is only counted
   */
  void add(@Nullable Live task, String resource, int slots, Paces paces, long nowMillis) {
    total++;
    if (task == null || total > COMPARED) {
      return;
    }
    Holder holder =
        new Holder(
            task.key.job(),
            task.key.node(),
            resource,
            slots,
            task.startedMillis(),
            paces.expectedEnd(task, nowMillis));
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

  /** The first to end, in that order. */
  List<Holder> first(int limit) {
    List<Holder> sorted = new ArrayList<>(last);
    sorted.sort(FIRST_TO_END);
    return sorted.subList(0, Math.min(limit, sorted.size()));
  }

  /** When so many slots are expected to be given back; 0: unknown. */
  long freeAt(long missing) {
    long back = 0;
    for (Holder holder : first(REMEMBERED)) {
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
