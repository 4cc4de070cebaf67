package io.espalier.core.protocol;

import io.espalier.core.running.WorkerRef;
import java.util.List;

/**
 * Worker to scheduler: "I am here", and with {@code session} 0 "I want to be registered". By
 * sending a registration the worker gives up its old session: from then on it refuses every start
 * until the answer gives it a new one.
 *
 * @param number grows with every heartbeat of this worker process; answers repeat it. The scheduler
 *     ignores what is not newer than the newest it has seen
 * @param epoch the newest epoch that the worker has heard of, which is that of its session; 0: none
 * @param session 0: register me
 * @param draining takes nothing new, ends when it has nothing left
 * @param healthy whether it could run tasks, as far as it can tell
 * @param note why it is not, or what else an operator should read; may be empty
 * @param running how many tasks run
 * @param unsettled how many ends are not yet acknowledged
 * @param runs with session 0: all that run; else empty
 * @param cleared with session 0: earlier instances of this shard whose processes are gone and whose
 *     tasks this worker has verified to be dead (it holds their data directory and its lock)
 * @param storeId of the status store whose scheduler this process has served; empty: none so far
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
