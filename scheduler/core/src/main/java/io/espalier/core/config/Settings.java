package io.espalier.core.config;

import io.espalier.core.json.Json;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * {@code bistro_settings}, checked (docs/design/bistro.md#settings). Jobs inherit {@code defaults}.
 *
 * @param workerOverrides worker key (host:port, host or shard) to resource name to slots
 * @param rules of the tree beside levels and resources
 * @param exitInitialWaitBefore while now is before it, the initial wait is left at once
 * @param nodesHash identifies the {@code nodes} object: a node snapshot is bound to it
 * @param original the text it came from
 */
public record Settings(
    boolean enabled,
    Duration workingWait,
    Duration idleWait,
    String policy,
    String workerSelector,
    Levels levels,
    List<NodeSourceSpec> nodeSources,
    NodeOrder nodeOrder,
    ResourceCatalog resources,
    Map<String, Map<String, Integer>> workerOverrides,
    List<PhysicalResource> physicalResources,
    LimitRules rules,
    Instant exitInitialWaitBefore,
    JobDefaults defaults,
    String nodesHash,
    Json.Obj original) {
  public Settings {
    nodeSources = List.copyOf(nodeSources);
    workerOverrides = Map.copyOf(workerOverrides);
    physicalResources = List.copyOf(physicalResources);
  }

  /**
   * What jobs inherit.
   *
   * @param level index of the level of tasks
   * @param killOrphansAfter empty: never
   * @param timeLimits without a {@code completeBy}, which belongs to a job
   */
  public record JobDefaults(
      Backoff backoff,
      int level,
      Optional<Duration> killOrphansAfter,
      SubprocessOptions subprocess,
      KillRequest kill,
      TimeLimits timeLimits,
      LogOptions logs,
      JobScheduling scheduling,
      Optional<ProgressRetryRules> retry,
      OutcomeRules outcome) {
    /** When and whether a task is tried again whose job says nothing of it. */
    public RetryPolicy retrying() {
      return new RetryPolicy(backoff, retry);
    }
  }
}
