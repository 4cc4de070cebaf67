package io.espalier.core.api;

import io.espalier.core.running.WorkerCordon;
import io.espalier.core.running.WorkerRef;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A worker as monitors see it.
 *
 * @param ref its shard and process; the scheduler's own host goes by the name of the instance
 * @param address where it is reached, host:port; empty for the scheduler's own host
 * @param state {@code new}, {@code healthy}, {@code unhealthy}, {@code draining}, lost; or {@code
 *     gone}: not in the pool any more, but tasks are still charged to it
 * @param takesTasks whether it may be given new tasks
 * @param hold what an operator said; null: nothing
 * @param tasks how many are charged to it
 * @param maxTasks how many it runs at once at most; 0: as many as its resources allow
 * @param slots of the worker level's resources, in the order of the settings
 * @param sinceMillis when it came into this state, epoch milliseconds; 0: unknown
 * @param lastSeenMillis when it was last heard of, epoch milliseconds; 0: unknown
 * @param note why it is in this state; may be empty
 */
public record WorkerView(
    WorkerRef ref,
    String host,
    String address,
    String state,
    boolean takesTasks,
    @Nullable WorkerCordon hold,
    int tasks,
    int maxTasks,
    List<Slots> slots,
    long sinceMillis,
    long lastSeenMillis,
    String note) {
  public WorkerView {
    slots = List.copyOf(slots);
  }

  /**
   * Of one resource.
   *
   * @param used more than the limit where that was lowered since
   */
  public record Slots(String resource, int used, int limit) {}
}
