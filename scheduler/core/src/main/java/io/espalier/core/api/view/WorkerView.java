package io.espalier.core.api.view;

import io.espalier.core.running.HostFigures;
import io.espalier.core.running.MeasuredLoad;
import io.espalier.core.running.WorkerCordon;
import io.espalier.core.running.WorkerRef;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A worker as monitors see it.
 *
 * @param ref its shard and process; the scheduler's own host has the name of the instance
 * @param address network address, host:port; empty for the scheduler's own host
 * @param labels what it says about itself, by name
 * @param state {@code new}, {@code healthy}, {@code unhealthy}, {@code draining}, lost; or {@code
 *     gone}: no longer in the pool, but tasks are still charged to it
 * @param takesTasks whether it may get new tasks
 * @param cordon cordon set by an operator; null: none
 * @param tasks number of tasks charged to it
 * @param maxTasks maximum number of concurrent tasks; 0: as many as its resources allow
 * @param slots slots of the worker level's resources, in the order of the settings
 * @param sinceMillis when it entered this state, epoch milliseconds; 0: unknown
 * @param lastSeenMillis when it was last heard from, epoch milliseconds; 0: unknown
 * @param note why it is in this state; may be empty
 * @param load how busy it has measured itself to be
 * @param figures what it has measured of its host
 * @param measuredMillis when the heartbeat with the measurement arrived, epoch milliseconds; 0: it
 *     has told none
 */
public record WorkerView(
    WorkerRef ref,
    String host,
    String address,
    Map<String, String> labels,
    String state,
    boolean takesTasks,
    @Nullable WorkerCordon cordon,
    int tasks,
    int maxTasks,
    List<Slots> slots,
    long sinceMillis,
    long lastSeenMillis,
    String note,
    MeasuredLoad load,
    HostFigures figures,
    long measuredMillis) {
  public WorkerView {
    labels = Map.copyOf(labels);
    slots = List.copyOf(slots);
  }

  /**
   * Slots of one resource.
   *
   * @param used slots in use; exceeds the limit if that was lowered since
   */
  public record Slots(String resource, int used, int limit) {}
}
