package io.espalier.testkit.scheduling;

import io.espalier.core.config.Config;
import io.espalier.core.config.GroupRule;
import io.espalier.core.config.Job;
import io.espalier.core.config.JobCapacity;
import io.espalier.core.config.JobOptions;
import io.espalier.core.config.Levels;
import io.espalier.core.config.LimitRules;
import io.espalier.core.config.NodeLimitRule;
import io.espalier.core.config.NodeOrder;
import io.espalier.core.config.PhysicalResource;
import io.espalier.core.config.QueueSpec;
import io.espalier.core.config.Resource;
import io.espalier.core.config.ResourceCatalog;
import io.espalier.core.config.Settings;
import io.espalier.core.config.StartRate;
import io.espalier.core.config.window.Schedule;
import io.espalier.core.json.Json;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A builder of a configuration. Every method modifies and returns it. */
public final class ConfigFixture {
  private final Levels levels;
  private final TreeMap<String, JobFixture> jobs = new TreeMap<>();
  private final List<Limit> limits = new ArrayList<>();
  private NodeOrder order = NodeOrder.ORIGINAL;
  private boolean enabled = true;

  private final Map<String, Map<String, Integer>> overrides = new TreeMap<>();
  private final List<PhysicalResource> physical = new ArrayList<>();
  private LimitRules rules = LimitRules.NONE;
  private final Map<String, Integer> weights = new TreeMap<>();
  private String selector = "roundrobin";
  private boolean shuffle;

  private record Limit(String level, String resource, int limit, int defaultNeed) {}

  /**
   * @param levels the user's levels, top first
   */
  public ConfigFixture(String... levels) {
    this.levels = Levels.of(List.of(levels));
  }

  public Levels levels() {
    return levels;
  }

  public ConfigFixture order(NodeOrder newOrder) {
    order = newOrder;
    return this;
  }

  public ConfigFixture enabled(boolean on) {
    enabled = on;
    return this;
  }

  /** Adds a resource of which every job needs one slot by default. */
  public ConfigFixture resource(String level, String name, int limit) {
    return resource(level, name, limit, 1);
  }

  public ConfigFixture resource(String level, String name, int limit, int defaultNeed) {
    limits.removeIf(l -> l.resource().equals(name));
    limits.add(new Limit(level, name, limit, defaultNeed));
    return this;
  }

  /** Sets the weight of a resource for worker selectors. */
  public ConfigFixture weight(String resource, int weight) {
    weights.put(resource, weight);
    return this;
  }

  /** Sets whether jobs take turns in a random order. */
  public ConfigFixture shuffle(boolean on) {
    shuffle = on;
    return this;
  }

  /** Sets the worker selector. */
  public ConfigFixture selector(String name) {
    selector = name;
    return this;
  }

  /**
   * Sets the slots of one worker, which override its limit.
   *
   * @param worker host, shard or address of the worker
   */
  public ConfigFixture override(String worker, String resource, int slots) {
    overrides.computeIfAbsent(worker, w -> new TreeMap<>()).put(resource, slots);
    return this;
  }

  public ConfigFixture withoutOverrides() {
    overrides.clear();
    return this;
  }

  /** Adds a worker resource that is counted in units of a physical one. */
  public ConfigFixture physical(
      PhysicalResource.Kind kind, String resource, double multiplyLogicalBy, double reserve) {
    physical.removeIf(p -> p.kind() == kind || p.logicalResource().equals(resource));
    physical.add(
        new PhysicalResource(
            kind, resource, multiplyLogicalBy, reserve, PhysicalResource.Enforcement.NONE));
    return this;
  }

  public ConfigFixture withoutResource(String name) {
    limits.removeIf(l -> l.resource().equals(name));
    return this;
  }

  /** Sets the settings other than levels and resources. */
  public ConfigFixture rules(LimitRules treeRules) {
    rules = treeRules;
    return this;
  }

  /**
   * Sets how often tasks may start below nodes.
   *
   * @param rates rates by level name; levels need not exist
   */
  public ConfigFixture startRates(Map<String, StartRate> rates) {
    Map<Integer, StartRate> byLevel = new TreeMap<>();
    rates.forEach(
        (level, rate) -> {
          if (levels.find(level) >= 0) {
            byLevel.put(levels.find(level), rate);
          }
        });
    return rules(rules.withStartRates(byLevel));
  }

  /** Sets, by resource, how long usage may exceed the limit before tasks are killed. */
  public ConfigFixture killOverLimit(Map<String, Duration> after) {
    return rules(rules.withKillOverLimit(after));
  }

  /** Sets the kinds of redundancy groups. */
  public ConfigFixture groups(GroupRule... groups) {
    return rules(rules.withGroups(List.of(groups)));
  }

  /** Sets the queues, in this order. */
  public ConfigFixture queues(QueueSpec... queues) {
    return rules(rules.withQueues(List.of(queues)));
  }

  /** Sets limits for individual nodes, replacing those given before. */
  public ConfigFixture nodeLimits(List<NodeLimitRule> limitsOfNodes) {
    return rules(rules.withNodeLimits(limitsOfNodes));
  }

  /** Adds a job on the lowest level with the default needs. */
  public ConfigFixture job(String name) {
    return job(name, new JobFixture(name));
  }

  public ConfigFixture job(String name, JobFixture job) {
    jobs.put(name, job);
    return this;
  }

  public ConfigFixture withoutJob(String name) {
    jobs.remove(name);
    return this;
  }

  public Config build() {
    List<Limit> sorted = new ArrayList<>(limits);
    sorted.sort(Comparator.comparingInt(l -> levels.find(l.level())));
    List<Resource> resources = new ArrayList<>();
    for (Limit limit : sorted) {
      resources.add(
          new Resource(
              resources.size(),
              limit.resource(),
              levels.find(limit.level()),
              limit.defaultNeed(),
              limit.limit(),
              weights.getOrDefault(limit.resource(), 0)));
    }
    ResourceCatalog catalog = new ResourceCatalog(resources);
    Settings settings =
        new Settings(
            enabled,
            Duration.ofMillis(500),
            "roundrobin",
            shuffle,
            selector,
            levels,
            List.of(),
            order,
            catalog,
            overrides,
            physical,
            rules,
            JobCapacity.NONE,
            Map.of(),
            Map.of(),
            Schedule.ALWAYS,
            List.of(),
            Instant.EPOCH,
            JobOptions.usual(levels.bottom()),
            "",
            Json.Obj.EMPTY);
    TreeMap<String, Job> built = new TreeMap<>();
    jobs.forEach((name, job) -> built.put(name, job.build(levels, catalog)));
    return new Config(settings, built, List.of());
  }
}
