package io.espalier.core.config;

import io.espalier.core.health.HealthRule;
import io.espalier.core.health.ProbeSpec;
import io.soabase.recordbuilder.core.RecordBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * The limits in the settings, apart from levels and resources.
 *
 * @param queues queues in the order of the configuration; {@link JobScheduling#DEFAULT_QUEUE} may
 *     be missing
 * @param priorityHalfLife time in which half of the difference between a queue's usage and its
 *     current priority vanishes (docs/design/features.md#priority-with-a-memory)
 * @param nodeLimits limits that differ on some nodes
 * @param startRates maximum rate of starts below each node of a level, by level index
 * @param killOverLimit how long usage may exceed a limit before the youngest tasks are killed, by
 *     name of the resource; absent: forever
 * @param groups kinds of redundancy groups, in the order of the configuration
 * @param probes values that tell how well nodes are, in the order of the configuration
 * @param health how limits follow probes, by name of the resource
 * @param shardTags which of several schedulers has a subtree under the instance whose top has the
 *     tag, by tag
 */
@RecordBuilder
public record LimitRules(
    List<QueueSpec> queues,
    Duration priorityHalfLife,
    List<NodeLimitRule> nodeLimits,
    Map<Integer, StartRate> startRates,
    Map<String, Duration> killOverLimit,
    List<GroupRule> groups,
    List<ProbeSpec> probes,
    Map<String, HealthRule> health,
    Map<String, Integer> shardTags)
    implements LimitRulesBuilder.With {
  public static final LimitRules NONE =
      new LimitRules(
          List.of(),
          Duration.ofHours(1),
          List.of(),
          Map.of(),
          Map.of(),
          List.of(),
          List.of(),
          Map.of(),
          Map.of());

  public LimitRules {
    queues = List.copyOf(queues);
    nodeLimits = List.copyOf(nodeLimits);
    startRates = Map.copyOf(startRates);
    killOverLimit = Map.copyOf(killOverLimit);
    groups = List.copyOf(groups);
    probes = List.copyOf(probes);
    health = Map.copyOf(health);
    shardTags = Map.copyOf(shardTags);
  }
}
