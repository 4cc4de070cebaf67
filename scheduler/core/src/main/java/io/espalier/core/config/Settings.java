package io.espalier.core.config;

import io.espalier.core.config.window.Schedule;
import io.espalier.core.json.Json;
import io.espalier.core.notification.NotifierSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * The validated {@code bistro_settings} (docs/design/bistro.md#settings). Jobs inherit {@code
 * defaults}.
 *
 * @param shuffle whether jobs take turns in a random order, for the policy {@code roundrobin}
 * @param workerOverrides slots by worker key (host:port, host or shard) and resource name
 * @param rules limits of the tree, apart from levels and resources
 * @param sets rules of sets of jobs, by name
 * @param notifications receivers of notifications, by name
 * @param schedule when tasks of any job may start
 * @param nodeWindows when tasks may start on some nodes
 * @param exitInitialWaitBefore time until which the initial wait is skipped
 * @param nodesHash identifies the {@code nodes} object, to which a node snapshot is bound; with
 *     several schedulers also the redundancy groups, whose places are in the snapshot
 * @param original the JSON from which the settings were parsed
 */
public record Settings(
    boolean enabled,
    Duration workingWait,
    String policy,
    boolean shuffle,
    String workerSelector,
    Levels levels,
    List<NodeSourceSpec> nodeSources,
    NodeOrder nodeOrder,
    ResourceCatalog resources,
    Map<String, Map<String, Integer>> workerOverrides,
    List<PhysicalResource> physicalResources,
    LimitRules rules,
    JobCapacity capacity,
    Map<String, SetRule> sets,
    Map<String, NotifierSpec> notifications,
    Schedule schedule,
    List<NodeWindowRule> nodeWindows,
    Instant exitInitialWaitBefore,
    JobOptions defaults,
    String nodesHash,
    Json.Obj original) {
  public Settings {
    nodeSources = List.copyOf(nodeSources);
    workerOverrides = Map.copyOf(workerOverrides);
    physicalResources = List.copyOf(physicalResources);
    sets = Map.copyOf(sets);
    notifications = Map.copyOf(notifications);
    nodeWindows = List.copyOf(nodeWindows);
  }

  /**
   * The settings of a configuration that has none but what is required: no levels, no resources.
   */
  public static Settings usual(boolean enabled) {
    return new Settings(
        enabled,
        Duration.ofMillis(500),
        "roundrobin",
        false,
        "roundrobin",
        Levels.of(List.of()),
        List.of(),
        NodeOrder.RANDOM,
        ResourceCatalog.EMPTY,
        Map.of(),
        List.of(),
        LimitRules.NONE,
        JobCapacity.NONE,
        Map.of(),
        Map.of(),
        Schedule.ALWAYS,
        List.of(),
        Instant.EPOCH,
        JobOptions.usual(0),
        "",
        Json.Obj.EMPTY);
  }

  /**
   * Returns the lowest level whose nodes every scheduler reads completely, whatever its partition:
   * none of the levels down to it has nodes of a source with {@code push_down}.
   */
  public int lowestSharedLevel() {
    int lowest = levels.bottom();
    for (NodeSourceSpec source : nodeSources) {
      Json parents =
          source.prefs().get("push_down") == null ? null : source.prefs().get("parent_level");
      if (parents instanceof Json.Str name) {
        lowest = Math.min(lowest, Math.max(0, levels.find(name.value())));
      }
    }
    return lowest;
  }

  /** Returns these settings with other nodes. */
  public Settings withNodesHash(String newNodesHash) {
    return new Settings(
        enabled,
        workingWait,
        policy,
        shuffle,
        workerSelector,
        levels,
        nodeSources,
        nodeOrder,
        resources,
        workerOverrides,
        physicalResources,
        rules,
        capacity,
        sets,
        notifications,
        schedule,
        nodeWindows,
        exitInitialWaitBefore,
        defaults,
        newNodesHash,
        original);
  }

  /** Returns when tasks of a job may start: what the settings, its queue and the job itself say. */
  public List<Schedule> schedules(Job job) {
    Schedule ofQueue =
        rules.queues().stream()
            .filter(queue -> queue.name().equals(job.scheduling().queue()))
            .map(QueueSpec::schedule)
            .findFirst()
            .orElse(Schedule.ALWAYS);
    return List.of(schedule, ofQueue, job.scheduling().schedule());
  }
}
