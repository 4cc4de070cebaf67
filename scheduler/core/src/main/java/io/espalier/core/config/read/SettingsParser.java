package io.espalier.core.config.read;

import io.espalier.core.config.Backoff;
import io.espalier.core.config.JobScheduling;
import io.espalier.core.config.KillRequest;
import io.espalier.core.config.Levels;
import io.espalier.core.config.LimitRules;
import io.espalier.core.config.LogOptions;
import io.espalier.core.config.NodeOrder;
import io.espalier.core.config.NodeSourceSpec;
import io.espalier.core.config.OutcomeRules;
import io.espalier.core.config.QueueSpec;
import io.espalier.core.config.ResourceCatalog;
import io.espalier.core.config.Settings;
import io.espalier.core.config.Settings.JobDefaults;
import io.espalier.core.config.SubprocessOptions;
import io.espalier.core.config.TimeLimits;
import io.espalier.core.problem.ProblemPath;
import io.espalier.core.problem.Suggestions;
import java.time.Instant;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Parses {@code bistro_settings} (docs/design/bistro.md#settings). */
final class SettingsParser {

  static final ProblemPath PATH = ProblemPath.ROOT.key("bistro_settings");

  private static final double LONGEST_WAIT_SECONDS = 86_400;
  static final long LAST_SECOND_OF_9999 = 253_402_300_799L;
  private static final String ROUND_ROBIN = "roundrobin";

  private final Collection<String> policies;
  private final Collection<String> workerSelectors;
  private final Collection<String> nodeSourceTypes;

  SettingsParser(
      Collection<String> policies,
      Collection<String> workerSelectors,
      Collection<String> nodeSourceTypes) {
    this.policies = policies;
    this.workerSelectors = workerSelectors;
    this.nodeSourceTypes = nodeSourceTypes;
  }

  /**
   * Parses the settings.
   *
   * @return settings against which jobs can be checked; null when levels or resources are broken
   */
  @Nullable Settings read(ConfigValue value) {
    ConfigObject in = value.fields(ConfigSection.SETTINGS);
    if (in == null) {
      return null;
    }
    ConfigValue nodesValue = in.require("nodes", "an object with \"levels\" and \"node_sources\"");
    ConfigObject nodes = nodesValue == null ? null : nodesValue.fields(ConfigSection.NODES);
    Levels levels = nodes == null ? null : NodesParser.readLevels(nodes);
    ResourceCatalog resources = levels == null ? null : ResourcesParser.read(in, levels);
    if (levels == null) {
      // Continue, to report the problems of everything that does not depend on the levels.
      read(in, nodes, Levels.of(List.of()), ResourceCatalog.EMPTY, false);
      return null;
    }
    ResourceCatalog catalog = resources == null ? ResourceCatalog.EMPTY : resources;
    Settings settings = read(in, nodes, levels, catalog, resources != null);
    return resources == null ? null : settings;
  }

  private Settings read(
      ConfigObject in,
      @Nullable ConfigObject nodes,
      Levels levels,
      ResourceCatalog resources,
      boolean namesAreKnown) {
    List<NodeSourceSpec> sources =
        nodes == null ? List.of() : NodesParser.readSources(nodes, levels, nodeSourceTypes);
    LimitRules rules =
        namesAreKnown ? LimitRulesParser.read(in, levels, resources) : LimitRules.NONE;
    return new Settings(
        in.bool("enabled", true),
        ConfigValue.millis(in.number("working_wait", 0.5, 0, LONGEST_WAIT_SECONDS)),
        ConfigValue.millis(in.number("idle_wait", 5, 0, LONGEST_WAIT_SECONDS)),
        known(in, "scheduler", "scheduling policy", policies),
        known(in, "remote_worker_selector", "worker selector", workerSelectors),
        levels,
        sources,
        NodesParser.readOrder(in, nodes),
        resources,
        namesAreKnown ? ResourcesParser.readOverrides(in, levels, resources) : Map.of(),
        namesAreKnown ? PhysicalResourcesParser.read(in, levels, resources) : List.of(),
        rules,
        exitInitialWaitBefore(in),
        defaults(in, levels, namesAreKnown, rules.queues()),
        NodesParser.hash(in.json()),
        in.json());
  }

  private static String known(ConfigObject in, String key, String what, Collection<String> names) {
    ConfigValue value = in.find(key);
    String name = value == null ? null : value.text();
    if (value == null || name == null) {
      return ROUND_ROBIN;
    }
    if (!names.contains(name)) {
      value.error("unknown " + what, Suggestions.hint(name, names));
    }
    return name;
  }

  private static JobDefaults defaults(
      ConfigObject in, Levels levels, boolean namesAreKnown, List<QueueSpec> queues) {
    int level = namesAreKnown ? taskLevel(in, levels.bottom(), levels) : levels.bottom();
    return new JobDefaults(
        BackoffParser.read(in, Backoff.DEFAULT),
        level,
        SubprocessParser.readKillOrphans(in, Optional.empty()),
        SubprocessParser.read(in, SubprocessOptions.DEFAULT),
        SubprocessParser.readKill(in, KillRequest.DEFAULT),
        TimeLimitsParser.readDurations(in, TimeLimits.NONE),
        LogOptionsParser.read(in, LogOptions.DEFAULT),
        namesAreKnown
            ? JobSchedulingParser.read(in, JobScheduling.DEFAULT, queues)
            : JobScheduling.DEFAULT,
        RetryParser.read(in, Optional.empty()),
        OutcomeParser.read(in, OutcomeRules.DEFAULT));
  }

  /** Parses {@code level_for_tasks} of the settings or a job. */
  static int taskLevel(ConfigObject in, int inherited, Levels levels) {
    int level = in.level("level_for_tasks", inherited, levels);
    ConfigValue value = in.find("level_for_tasks");
    if (value != null && level == levels.worker()) {
      value.warning("the worker level has no nodes, so there will be no tasks", null);
    }
    return level;
  }

  private static Instant exitInitialWaitBefore(ConfigObject in) {
    ConfigValue value = in.find("CAUTION_exit_initial_wait_before_timestamp");
    Long second = value == null ? null : value.integer(0, LAST_SECOND_OF_9999);
    return Instant.ofEpochSecond(second == null ? 0 : second);
  }

  static Map<String, NodeOrder> nodeOrders() {
    Map<String, NodeOrder> orders = new LinkedHashMap<>();
    for (NodeOrder order : NodeOrder.values()) {
      orders.put(order.label(), order);
    }
    return orders;
  }
}
