package io.espalier.core.config;

import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * What the settings say of the tree beside levels and resources.
 *
 * @param queues in the order of the configuration; {@link JobScheduling#DEFAULT_QUEUE} need not be
 *     among them
 * @param priorityHalfLife time in which half of the difference between a queue's use and its
 *     current priority vanishes (docs/design/features.md#priority-with-a-memory)
 * @param nodeLimits limits that differ on some nodes
 * @param startRates by level index: how often tasks may start below each node of the level
 * @param killOverLimit by the name of a resource: how long more than its limit may be in use until
 *     the youngest tasks are killed; absent: for ever
 */
public record LimitRules(
    List<QueueSpec> queues,
    Duration priorityHalfLife,
    List<NodeLimitRule> nodeLimits,
    Map<Integer, StartRate> startRates,
    Map<String, Duration> killOverLimit) {
  public static final LimitRules NONE =
      new LimitRules(List.of(), Duration.ofHours(1), List.of(), Map.of(), Map.of());

  public LimitRules {
    queues = List.copyOf(queues);
    nodeLimits = List.copyOf(nodeLimits);
    startRates = Map.copyOf(startRates);
    killOverLimit = Map.copyOf(killOverLimit);
  }
}
