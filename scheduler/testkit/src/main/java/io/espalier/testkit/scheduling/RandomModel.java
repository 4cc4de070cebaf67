package io.espalier.testkit.scheduling;

import io.espalier.core.config.Config;
import io.espalier.core.config.GroupRule;
import io.espalier.core.config.JobFilter;
import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeOrder;
import io.espalier.core.config.PhysicalResource;
import io.espalier.core.config.Resource;
import io.espalier.core.config.StartRate;
import io.espalier.core.config.WholeJobDependency;
import io.espalier.core.config.label.LabelExpression;
import io.espalier.core.config.label.LabelSyntaxException;
import io.espalier.core.config.task.BatchSpec;
import io.espalier.core.running.MeasuredLoad;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.Topology;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Generates a random configuration with its nodes, and random updates of both: trees of any depth
 * with replicas, skipped levels, disabled nodes and tags; jobs on any level with filters and
 * dependencies; several resources per level.
 *
 * <p>All random draws come from one sequence, and their order determines the meaning of a seed.
 */
final class RandomModel {
  private static final int WORKERS = 6;
  private static final List<String> ALL_LEVELS =
      List.of(Levels.INSTANCE, "rack", "host", "disk", "db");
  private static final String[] TAGS = {"red", "green", "blue"};

  private static final List<NodeOrder> ORDERS =
      List.of(NodeOrder.RANDOM, NodeOrder.ORIGINAL, NodeOrder.LEXICOGRAPHIC);

  private final Random random;

  /** A source of its own: measurements decide nothing for most selectors. */
  private final Random measurements = new Random(1);

  private final boolean scarce;

  /** Whether there are redundancy groups; then no job has a {@code reserve_after}. */
  private final boolean grouped;

  private final boolean batched;

  private final List<String> selectors;
  private final List<String> usualHosts = new ArrayList<>();
  private final int jobsAtMost;
  private final int nodesPerLevel;

  /** Whether only slots are scarce, so that jobs wait for each other. */
  private final boolean isTight;

  private ConfigFixture config;
  private List<NodeSpec> nodes = new ArrayList<>();
  private List<String> jobs = new ArrayList<>();
  private NodeOrder order;

  private List<GroupRule> groups = List.of();

  /** Start rates by level name. */
  private Map<String, StartRate> rates = Map.of();

  /** By resource: how long usage may exceed the limit before tasks are killed. */
  private Map<String, Duration> kills = Map.of();

  /**
   * @param scarce whether jobs mostly wait for each other's slots
   * @param grouped whether there are redundancy groups
   * @param batched whether jobs have batches
   */
  RandomModel(
      Random random,
      int jobsAtMost,
      int nodesPerLevel,
      List<String> selectors,
      boolean scarce,
      boolean grouped,
      boolean batched) {
    this.batched = batched;
    this.grouped = grouped;
    this.scarce = scarce;
    this.selectors = selectors;
    this.random = random;
    this.jobsAtMost = jobsAtMost;
    this.nodesPerLevel = nodesPerLevel;
    order = ORDERS.get(random.nextInt(3));
    isTight = random.nextInt(5) == 0 && !grouped;
    for (int i = 0; i < WORKERS; i++) {
      usualHosts.add(anyHost());
    }
    config = freshConfig();
    freshNodes();
    freshJobs();
    changeRates();
    changeKills();
  }

  boolean isTight() {
    return isTight;
  }

  Config config() {
    return config(UnaryOperator.identity());
  }

  /**
   * @param told changes each kind of redundancy groups
   */
  Config config(UnaryOperator<GroupRule> told) {
    config.groups(groups.stream().map(told).toArray(GroupRule[]::new));
    Map<String, Duration> known = RandomRules.existing(config.build(), kills);
    return config.startRates(rates).killOverLimit(known).build();
  }

  void changeKills() {
    List<String> levels = new ArrayList<>(ALL_LEVELS);
    levels.add(Levels.WORKER);
    kills = RandomRules.killOverLimit(random, levels);
  }

  void changeRates() {
    rates = RandomRules.startRates(ALL_LEVELS, random);
  }

  Topology topology() {
    Levels levels = config.levels();
    List<NodeSpec> reachable = new ArrayList<>();
    Set<String> there = new HashSet<>(Set.of("0/" + null));
    Set<String> links = new HashSet<>();
    for (int level = 1; level <= levels.bottom(); level++) {
      for (NodeSpec node : nodes) {
        if (node.level() == level
            && there.contains(node.parentLevel() + "/" + node.parent())
            && links.add(
                level + "/" + node.name() + "/" + node.parentLevel() + "/" + node.parent())) {
          reachable.add(node);
          there.add(level + "/" + node.name());
        }
      }
    }
    return TreeFixture.of(levels, order, reachable);
  }

  private boolean chance(int percent) {
    return random.nextInt(100) < percent;
  }

  private <T> T any(List<T> list) {
    return list.get(random.nextInt(list.size()));
  }

  private ConfigFixture freshConfig() {
    int depth = grouped ? 1 + random.nextInt(4) : random.nextInt(5);
    List<String> names = new ArrayList<>(List.of("rack", "host", "disk", "db"));
    while (names.size() > depth) {
      names.remove(random.nextInt(names.size()));
    }
    ConfigFixture fixture = new ConfigFixture(names.toArray(new String[0])).order(order);
    fixture.shuffle(depth % 2 == 0);
    if (isTight) {
      for (String level : fixture.levels().configured()) {
        fixture.resource(level, level + 1, 2 + random.nextInt(3), 1);
      }
      return fixture.resource(Levels.INSTANCE, Levels.INSTANCE + 1, 3 + random.nextInt(4), 1);
    }
    for (String level : fixture.levels().names()) {
      for (int k = random.nextInt(3); k > 0; k--) {
        int least = scarce || grouped ? 3 : 0;
        fixture.resource(
            level,
            level + k,
            least + random.nextInt(6),
            grouped ? random.nextInt(2) : random.nextInt(3));
      }
    }
    if (scarce) {
      fixture.resource(Levels.INSTANCE, "scarce", 6 + random.nextInt(6), 0);
      fixture.resource(Levels.WORKER, "gpus", 2 + random.nextInt(2), 0);
    }
    fixture.selector(any(selectors));
    describeWorkers(fixture);
    if (!scarce && !grouped) {
      fixture.nodeLimits(RandomRules.nodeLimits(random, fixture.levels()));
    }
    fixture.queues(RandomQueues.any(random, scarce));
    if (grouped) {
      groups = RandomRules.groups(random, fixture.levels());
    }
    return fixture;
  }

  /** Adds the settings of workers other than limits. */
  private void describeWorkers(ConfigFixture fixture) {
    fixture.withoutOverrides();
    String resource = Levels.WORKER + 1;
    if (chance(30)) {
      fixture.physical(
          PhysicalResource.Kind.RAM_MB, resource, 1 + random.nextInt(3), random.nextInt(2));
    }
    while (chance(40)) {
      fixture.override(
          chance(50) ? "w" + random.nextInt(WORKERS) : anyHost(),
          Levels.WORKER + (1 + random.nextInt(2)),
          random.nextInt(8));
    }
    fixture.weight(resource, random.nextInt(4)).weight(Levels.WORKER + 2, random.nextInt(2));
  }

  /** Returns a host name; some are names of nodes, and one is the root of all trees. */
  private String anyHost() {
    return switch (random.nextInt(6)) {
      case 0 -> "same" + random.nextInt(3);
      case 1 -> TreeFixture.INSTANCE;
      case 2 -> "nowhere";
      default -> "n" + (1 + random.nextInt(3)) + "_" + random.nextInt(3 * nodesPerLevel);
    };
  }

  /** Returns a random pool. */
  List<WorkerInfo> pool() {
    List<WorkerInfo> pool = new ArrayList<>();
    for (int i = 0; i < WORKERS; i++) {
      if (chance(70)) {
        pool.add(worker("w" + i, i, chance(30) ? anyHost() : usualHosts.get(i)));
      }
    }
    return pool;
  }

  private WorkerInfo worker(String shard, long instance, String host) {
    WorkerInfo.State state =
        chance(80) ? WorkerInfo.State.HEALTHY : any(List.of(WorkerInfo.State.values()));
    return WorkerInfo.of(new WorkerRef(shard, instance), host)
        .address(host + ":" + instance)
        .state(state)
        .cordoned(chance(10))
        .physical(chance(50) ? Map.of("ram_mb", (long) random.nextInt(12)) : Map.of())
        .labels(labels(host + instance))
        .maxTasks(chance(70) ? 0 : 1 + random.nextInt(3))
        .build()
        .withMeasured(measurement());
  }

  /** Returns a measurement, which some workers lack. */
  private MeasuredLoad measurement() {
    return measurements.nextInt(4) == 0
        ? MeasuredLoad.UNKNOWN
        : new MeasuredLoad(measurements.nextInt(1_001), measurements.nextInt(1_001));
  }

  /** Returns labels of which some workers lack one or both. */
  private static Map<String, String> labels(String of) {
    Map<String, String> labels = new HashMap<>();
    int draw = Math.floorMod(of.hashCode(), 9);
    if (draw % 3 > 0) {
      labels.put("arch", draw % 3 == 1 ? "x86" : "arm64");
    }
    if (draw / 3 > 0) {
      labels.put("zone", draw / 3 == 1 ? "a" : "b");
    }
    return labels;
  }

  /** Returns the scheduler's own host as a worker. */
  WorkerInfo self() {
    return WorkerInfo.of(WorkerRef.LOCAL, "n1_0")
        .physical(Map.of("ram_mb", (long) random.nextInt(12)))
        .build();
  }

  private void freshNodes() {
    nodes = new ArrayList<>();
    for (int level = 1; level <= config.levels().bottom(); level++) {
      int count = 1 + random.nextInt(nodesPerLevel);
      for (int i = 0; i < count; i++) {
        addNode(level);
      }
    }
  }

  /** Adds a node; names coincide across levels occasionally. */
  private void addNode(int level) {
    String name =
        chance(90)
            ? "n" + level + "_" + random.nextInt(3 * nodesPerLevel)
            : "same" + random.nextInt(3);
    int parents = chance(85) ? 1 : 1 + random.nextInt(3);
    for (int i = 0; i < parents; i++) {
      nodes.add(withParent(level, name));
    }
  }

  private NodeSpec withParent(int level, String name) {
    int parentLevel = chance(90) ? level - 1 : random.nextInt(level);
    List<String> candidates =
        nodes.stream().filter(n -> n.level() == parentLevel).map(NodeSpec::name).toList();
    boolean top = parentLevel == 0 || candidates.isEmpty();
    Set<String> tags = new HashSet<>();
    while (chance(20)) {
      tags.add(TAGS[random.nextInt(TAGS.length)]);
    }
    @Nullable String parent = top ? null : any(candidates);
    return RandomRules.withRole(
        random,
        new NodeSpec(
            level,
            name,
            parent,
            top ? 0 : parentLevel,
            !chance(7),
            tags,
            grouped ? RandomRules.groupAttributes(random) : RandomRules.limitAttributes(random)));
  }

  private void freshJobs() {
    jobs = new ArrayList<>();
    int count = 1 + random.nextInt(jobsAtMost);
    for (int j = 0; j < count; j++) {
      putJob("job" + j);
    }
  }

  private void put(String name, JobFixture job) {
    if (batched && chance(60)) {
      int level = chance(50) ? 0 : random.nextInt(config.levels().bottom() + 1);
      job.batch(
          new BatchSpec(
              2 + random.nextInt(4),
              level == 0 ? Optional.empty() : Optional.of(level),
              chance(50) ? Duration.ZERO : Duration.ofMillis(1 + random.nextInt(3000)),
              perBatch(level)));
    }
    config.job(name, job);
    jobs.remove(name);
    jobs.add(name);
  }

  /** Returns some of the resources that a batch under a level can take once. */
  private List<String> perBatch(int level) {
    return config.build().settings().resources().all().stream()
        .filter(resource -> resource.level() <= level && chance(60))
        .map(Resource::name)
        .toList();
  }

  /** Adds a job that differs from others by its needs. */
  private void putTightJob(String name, JobFixture job) {
    config
        .build()
        .settings()
        .resources()
        .all()
        .forEach(
            resource -> {
              if (chance(60)) {
                job.needs(resource.name(), 1 + random.nextInt(3));
              }
            });
    job.reserveAfter(Optional.of(Duration.ofMillis(any(List.of(0, 10, 500)))));
    if (chance(15)) {
      job.maxConcurrent(1);
    }
    if (chance(15)) {
      job.hostOfLevel(any(config.levels().names()));
    }
    if (chance(15)) {
      job.after(new WholeJobDependency("job" + random.nextInt(jobsAtMost), 20.0, List.of()));
    }
    put(name, job);
  }

  private void putJob(String name) {
    JobFixture job = new JobFixture(name).priority(random.nextInt(4));
    List<String> levels = config.levels().names();
    int bottom = config.levels().bottom();
    job.level(chance(60) ? levels.get(bottom) : levels.get(random.nextInt(bottom + 1)));
    if (isTight) {
      putTightJob(name, job);
      return;
    }
    if (grouped) {
      putGroupedJob(name, job);
      return;
    }
    if (chance(2)) {
      job.level(Levels.WORKER);
    }
    config
        .build()
        .settings()
        .resources()
        .all()
        .forEach(
            resource -> {
              if (chance(40)) {
                job.needs(resource.name(), random.nextInt(4));
              }
            });
    if (scarce) {
      job.needs("scarce", random.nextInt(4)).needs("gpus", random.nextInt(3));
      job.queue(chance(70) ? "q0" : "q1");
      job.reserveAfter(Optional.of(Duration.ofMillis(any(List.of(0, 10, 500)))));
      put(name, job);
      return;
    }
    for (int level = 0; level <= bottom + 1; level++) {
      if (chance(12)) {
        JobFilter filter = filter();
        job.filter(
            levels.get(level),
            level > bottom ? filter.withLabels(expression(name + filter.hashCode())) : filter);
      }
    }
    if (chance(12)) {
      job.host(anyHost());
    }
    if (chance(20)) {
      job.hostOfLevel(any(levels));
    }
    if (chance(25)) {
      job.dependsOn("job" + random.nextInt(jobsAtMost));
    }
    if (chance(15)) {
      List<String> tags = chance(40) ? List.of(TAGS[random.nextInt(TAGS.length)]) : List.of();
      job.after(
          new WholeJobDependency(
              "job" + random.nextInt(jobsAtMost), any(List.of(100.0, 50.0, 20.0)), tags));
    }
    job.scheduling(RandomQueues.scheduling(random));
    RandomRules.limitStarts(job, random);
    job.reserveAfter(
        chance(30)
            ? Optional.empty()
            : Optional.of(Duration.ofMillis(any(List.of(0, 10, 500, 2000)))));
    RandomRules.withRoles(random, job).enabled(chance(92));
    if (chance(4)) {
      job.invalid();
    }
    put(name, job);
  }

  /** Adds a job that little but redundancy groups keeps from running. */
  private void putGroupedJob(String name, JobFixture job) {
    config
        .build()
        .settings()
        .resources()
        .all()
        .forEach(resource -> job.needs(resource.name(), chance(25) ? 1 : 0));
    if (chance(10)) {
      job.filter(any(config.levels().configured()), filter());
    }
    if (chance(10)) {
      job.dependsOn("job" + random.nextInt(jobsAtMost));
    }
    RandomRules.limitStarts(job, random);
    job.reserveAfter(Optional.empty());
    put(name, RandomRules.withRoles(random, job));
  }

  private static LabelExpression expression(String of) {
    List<String> texts =
        List.of(
            "arch == 'x86' and zone in ['a', 'b']",
            "not (arch == 'arm64' or zone)",
            "arch != 'x86'",
            "zone not in ['a'] or arch");
    int draw = Math.floorMod(of.hashCode(), 5);
    try {
      return draw == 4 ? LabelExpression.ANY : LabelExpression.parse(texts.get(draw));
    } catch (LabelSyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  private JobFilter filter() {
    return switch (random.nextInt(4)) {
      case 3 ->
          new JobFilter(
              Set.of("w0", "w1", "w2", "same1", "n1_1"), null, Set.of(), null, Set.of(), 1);
      case 0 -> new JobFilter(Set.of(), null, Set.of("same0", "n1_0", "n2_1"), null, Set.of(), 1);
      case 1 -> new JobFilter(Set.of(), null, Set.of(), null, Set.of("red", "blue"), 1);
      default -> new JobFilter(Set.of(), null, Set.of(), null, Set.of(), 0.7);
    };
  }

  /** Makes a random modification. */
  void change() {
    if (grouped && chance(10)) {
      groups = RandomRules.groups(random, config.levels());
      return;
    }
    if (chance(10)) {
      config.nodeLimits(RandomRules.nodeLimits(random, config.levels()));
      return;
    }
    switch (random.nextInt(15)) {
      case 13, 14 -> config.queues(RandomQueues.any(random, scarce));
      case 12 -> {
        describeWorkers(config);
        config.selector(any(selectors));
      }
      case 0, 1 -> changeLimit();
      case 2, 3 -> putJob("job" + random.nextInt(jobsAtMost));
      case 4 -> removeJob();
      case 5, 6 -> toggleNode();
      case 7 -> {
        if (!nodes.isEmpty()) {
          nodes.remove(random.nextInt(nodes.size()));
        }
      }
      case 8, 9 -> {
        if (config.levels().bottom() > 0) {
          addNode(1 + random.nextInt(config.levels().bottom()));
        }
      }
      case 10 -> config.enabled(chance(80));
      default -> {
        if (chance(25)) {
          newLevels();
        }
      }
    }
    if (nodes.isEmpty()) {
      freshNodes();
    }
  }

  private void changeLimit() {
    var all = config.build().settings().resources().all();
    if (!all.isEmpty()) {
      var resource = any(all);
      if (chance(80)) {
        config.resource(
            config.levels().name(resource.level()),
            resource.name(),
            random.nextInt(6),
            resource.defaultNeed());
      } else {
        config.withoutResource(resource.name());
      }
    }
  }

  private void removeJob() {
    if (jobs.size() > 1) {
      String name = any(jobs);
      jobs.remove(name);
      config.withoutJob(name);
    }
  }

  private void toggleNode() {
    if (!nodes.isEmpty()) {
      int at = random.nextInt(nodes.size());
      NodeSpec node = nodes.get(at);
      boolean toggle = chance(60);
      nodes.set(
          at,
          new NodeSpec(
              node.level(),
              node.name(),
              node.parent(),
              node.parentLevel(),
              toggle != node.enabled(),
              node.tags(),
              toggle ? node.attributes() : RandomRules.limitAttributes(random),
              node.role()));
    }
  }

  private void newLevels() {
    config = freshConfig();
    freshNodes();
    List<String> names = List.copyOf(jobs);
    jobs.clear();
    names.forEach(this::putJob);
  }
}
