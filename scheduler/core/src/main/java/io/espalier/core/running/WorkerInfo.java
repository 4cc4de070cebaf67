package io.espalier.core.running;

import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.Map;

/**
 * A worker as its runner knows it: the data for placement and monitors.
 *
 * @param ref its process
 * @param host its host, as jobs name it for placement
 * @param address network address, host:port
 * @param state state that determines whether it gets tasks
 * @param cordoned whether an operator has cordoned it: it gets no new tasks in any state
 * @param physical physical resources of its host: {@code ram_mb}, {@code cpu_core}, {@code
 *     gpu_card}, {@code GPU: NAME}; 0 or absent: unknown
 * @param labels what it says about itself, for jobs that choose workers by it
 * @param maxTasks maximum number of concurrent tasks; 0: as many as its resources allow
 * @param sinceMillis when it entered this state, epoch milliseconds
 * @param lastSeenMillis when it was last heard from, epoch milliseconds
 * @param note why it is in this state; may be empty
 * @param measured how busy it is, by its own measurement
 * @param figures what it has measured of its host, for monitors only
 */
@RecordBuilder
public record WorkerInfo(
    WorkerRef ref,
    String host,
    String address,
    State state,
    boolean cordoned,
    Map<String, Long> physical,
    Map<String, String> labels,
    int maxTasks,
    long sinceMillis,
    long lastSeenMillis,
    String note,
    MeasuredLoad measured,
    HostFigures figures)
    implements WorkerInfoBuilder.With {
  public WorkerInfo {
    physical = Map.copyOf(physical);
    labels = Map.copyOf(labels);
  }

  /** A healthy worker about which nothing else is known. */
  public static WorkerInfoBuilder of(WorkerRef ref, String host) {
    return new WorkerInfo(
            ref,
            host,
            "",
            State.HEALTHY,
            false,
            Map.of(),
            Map.of(),
            0,
            0,
            0,
            "",
            MeasuredLoad.UNKNOWN,
            HostFigures.UNKNOWN)
        .with();
  }

  /** Returns true when it may get new tasks. */
  public boolean takesTasks() {
    return state == State.HEALTHY && !cordoned;
  }

  /** The states in the life of a worker. */
  public enum State {
    /** Registered; has not yet proven that it can run a task. */
    NEW,
    HEALTHY,
    /** Silent for too long, or its health check failed; its tasks continue. */
    UNHEALTHY,
    /** Finishes its tasks and takes no new ones. */
    DRAINING,
    /** Its lease has expired: its tasks are dead. Final for this instance. */
    LOST
  }
}
