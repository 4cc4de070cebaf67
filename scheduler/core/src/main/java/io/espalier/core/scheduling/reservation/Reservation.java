package io.espalier.core.scheduling.reservation;

import io.espalier.core.api.Explanation.Reserved;
import org.jspecify.annotations.Nullable;

/**
 * A node that is kept free for a task of a heavy job
 * (docs/design/design.md#room-kept-for-heavy-tasks).
 *
 * @param level the node's, by name
 * @param task the node of a task of the job that waits there; absent: not known
 * @param sinceMillis since when it has been kept free
 * @param waitsSinceMillis since when the job has been waiting there
 * @param idleSlots free slots of the node that others do not get
 */
public record Reservation(
    String level,
    String node,
    String job,
    @Nullable String task,
    long sinceMillis,
    long waitsSinceMillis,
    long idleSlots) {
  /** As answers show it; null: the node is kept free for nobody. */
  public static @Nullable Reserved shown(@Nullable Reservation kept) {
    return kept == null
        ? null
        : new Reserved(kept.job(), kept.task(), kept.sinceMillis(), kept.idleSlots());
  }
}
