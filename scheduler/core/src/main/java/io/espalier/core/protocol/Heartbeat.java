package io.espalier.core.protocol;

import io.espalier.core.running.WorkerRef;
import java.util.List;

/**
 * A worker's sign of life, sent to the scheduler; with {@code session} 0 also its request to be
 * registered. By requesting registration the worker gives up its old session: it refuses every
 * start until the response assigns a new session.
 *
 * @param number sequence number, growing with every heartbeat of this worker process and repeated
 *     in the response. The scheduler ignores a heartbeat that is not newer than the newest it has
 *     seen
 * @param epoch the newest epoch known to the worker, which is that of its session; 0: none
 * @param session session of the worker; 0 requests registration
 * @param draining whether the worker accepts no new tasks and exits when its last task has ended
 * @param healthy whether the worker can run tasks, as far as it can tell
 * @param note why it is not healthy, or another message for operators; may be empty
 * @param running number of running tasks
 * @param unsettled number of ends not yet acknowledged
 * @param runs with session 0: all running invocations; otherwise empty
 * @param cleared with session 0: earlier instances of this shard whose processes have ended and
 *     whose tasks this worker has verified to be dead (it holds the lock of their data directory)
 * @param storeId id of the status store whose scheduler this process has served; empty: none so far
 */
public record Heartbeat(
    WorkerRef worker,
    long number,
    long epoch,
    long session,
    WorkerDescription facts,
    boolean draining,
    boolean healthy,
    String note,
    int running,
    int unsettled,
    List<RunId> runs,
    List<Long> cleared,
    String storeId) {
  public Heartbeat {
    runs = List.copyOf(runs);
    cleared = List.copyOf(cleared);
  }
}
