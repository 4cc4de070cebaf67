package io.espalier.server.remote;

import io.espalier.core.running.WorkerInfo;
import java.util.EnumMap;
import java.util.Map;

/**
 * Numbers about a pool of workers.
 *
 * @param states how many workers are in each state; those without any are absent
 * @param oldestHeartbeatMillis since the worker that was silent longest was heard of, lost ones
 *     apart
 * @param runs invocations that may be alive
 * @param unsettled ends that are not durable yet, so that workers keep them
 * @param calls of workers, so far
 * @param failedCalls of them, those that were not answered, or refused
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

  /** How many workers are in a state. */
  public int in(WorkerInfo.State state) {
    return states.getOrDefault(state, 0);
  }
}
