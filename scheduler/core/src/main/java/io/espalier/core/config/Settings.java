package io.espalier.core.config;

import io.espalier.core.json.Json;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The validated {@code bistro_settings} (docs/design/bistro.md#settings). Jobs inherit {@code
 * defaults}.
 *
 * @param workerOverrides slots by worker key (host:port, host or shard) and resource name
 * @param rules limits of the tree, apart from levels and resources
 * @param exitInitialWaitBefore time until which the initial wait is skipped
 * @param nodesHash hash of the {@code nodes} object, to which a node snapshot is bound
 * @param original the JSON from which the settings were parsed
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
   * The values that jobs inherit.
   *
   * @param level index of the level of tasks
   * @param killOrphansAfter delay before orphans are killed; empty: never
   * @param timeLimits time limits without a {@code completeBy}, which belongs to a job
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
    /** The policy for retrying tasks whose job does not specify one. */
    public RetryPolicy retrying() {
      return new RetryPolicy(backoff, retry);
    }
  }
}
