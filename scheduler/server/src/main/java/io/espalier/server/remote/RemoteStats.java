package io.espalier.server.remote;

import io.espalier.core.running.WorkerInfo;
import java.util.EnumMap;
import java.util.Map;

/**
 * Statistics of a pool of workers.
 *
 * @param states number of workers by state; states without workers are absent
 * @param oldestHeartbeatMillis time since the oldest last heartbeat of any worker that is not lost
 * @param runs number of invocations that may be alive
 * @param unsettled number of completions that are not durable yet, so that workers keep them
 * @param calls number of calls to workers so far
 * @param failedCalls number of these calls that were not answered, or refused
 */
public record RemoteStats(
    Map<WorkerInfo.State, Integer> states,
    long oldestHeartbeatMillis,
    int runs,
    long unsettled,
    long calls,
    long failedCalls) {
  public RemoteStats {
    states = states.isEmpty() ? Map.of() : Map.copyOf(new EnumMap<>(states));
  }

  /** Returns the number of workers in a state. */
  public int in(WorkerInfo.State state) {
    return states.getOrDefault(state, 0);
  }
}
