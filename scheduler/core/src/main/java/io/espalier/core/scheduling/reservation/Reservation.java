package io.espalier.core.scheduling.reservation;

import io.espalier.core.api.view.Explanation.Reserved;
import org.jspecify.annotations.Nullable;

/**
 * The reservation of a node for a task of a heavy job
 * (docs/design/design.md#room-kept-for-heavy-tasks).
 *
 * @param level the name of the node's level
 * @param task the node of a task of the job that waits there; null: unknown
 * @param sinceMillis since when the node has been reserved
 * @param waitsSinceMillis since when the job has been waiting there
 * @param idleSlots the free slots of the node that other jobs cannot use
 */
public record Reservation(
    String level,
    String node,
    String job,
    @Nullable String task,
    long sinceMillis,
    long waitsSinceMillis,
    long idleSlots) {
  /** Converts a reservation for API answers; null: no reservation. */
  public static @Nullable Reserved shown(@Nullable Reservation kept) {
    return kept == null
        ? null
        : new Reserved(kept.job(), kept.task(), kept.sinceMillis(), kept.idleSlots());
  }
}
