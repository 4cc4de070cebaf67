package io.espalier.core.protocol;

import java.util.Map;
import java.util.Set;

/**
 * What a worker says of itself.
 *
 * @param host as jobs name it for placement
 * @param address where its calls are answered, host:port
 * @param maxTasks how many tasks it runs at once at most; 0: as many as its resources allow
 * @param physical what its host offers, named as in {@code WorkerInfo}
 * @param versions of the protocol that it speaks
 * @param capabilities words for what not every worker can do, such as {@code cgroups} or {@code
 *     lease_guard}; unknown ones are ignored
 */
public record WorkerDescription(
    String host,
    String address,
    int maxTasks,
    Map<String, Long> physical,
    Versions versions,
    Set<String> capabilities) {
  public WorkerDescription {
    physical = Map.copyOf(physical);
    capabilities = Set.copyOf(capabilities);
  }
}
