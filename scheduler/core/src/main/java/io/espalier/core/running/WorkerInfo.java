package io.espalier.core.running;

import java.util.Map;

/**
 * A worker as its runner knows it: what placement and monitors need.
 *
 * @param ref which process
 * @param host the host it runs on, as jobs name it for placement
 * @param address where it is reached, host:port
 * @param state whether it gets tasks
 * @param cordoned gets no new tasks, by an operator's word, whatever its state
 * @param physical what its host offers: {@code ram_mb}, {@code cpu_core}, {@code gpu_card}, {@code
 *     GPU: NAME}; 0 or absent: unknown
 * @param maxTasks how many tasks it runs at once at most; 0: as many as its resources allow
 * @param sinceMillis when it came into this state, epoch milliseconds
 * @param lastSeenMillis when it was last heard of, epoch milliseconds
 * @param note why it is in this state; empty when there is nothing to say
 */
public record WorkerInfo(
    WorkerRef ref,
    String host,
    String address,
    State state,
    boolean cordoned,
    Map<String, Long> physical,
    int maxTasks,
    long sinceMillis,
    long lastSeenMillis,
    String note) {
  public WorkerInfo {
    physical = Map.copyOf(physical);
  }

  /** Whether it may be given new tasks. */
  public boolean takesTasks() {
    return state == State.HEALTHY && !cordoned;
  }

  /** The life of a worker. */
  public enum State {
    /** Registered; not yet shown to be able to run a task. */
    NEW,
    HEALTHY,
    /** Silent for too long, or its health check failed; keeps its tasks. */
    UNHEALTHY,
    /** Finishes what it has and takes nothing new. */
    DRAINING,
    /** Its lease has run out: its tasks are dead. Final for this instance. */
    LOST
  }
}
