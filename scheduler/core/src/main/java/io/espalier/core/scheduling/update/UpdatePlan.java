package io.espalier.core.scheduling.update;

import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.Resource;
import io.espalier.core.scheduling.capacity.ConfiguredLimits;
import io.espalier.core.scheduling.capacity.UnsatisfiableJobs;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.scheduling.job.Renumbering;
import io.espalier.core.scheduling.queue.QueueTable;
import io.espalier.core.scheduling.spi.SplitMix64;
import io.espalier.core.scheduling.state.SchedulingState;
import io.espalier.core.scheduling.task.NodeEligibility;
import io.espalier.core.scheduling.worker.WorkerCapacity;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A new configuration and its nodes, compared with those in force. It contains everything that can
 * be computed outside the scheduler thread. {@code SchedulingCore.prepare} creates it.
 */
public final class UpdatePlan implements Renumbering {
  /**
   * The maximum number of nodes for updating limits in place; larger levels go through a new state,
   * in slices.
   */
  private static final int MOST_NODES_AT_ONCE = 1_000;

  /** The same maximum for updates that concern workers. */
  private static final int MOST_WORKERS_AT_ONCE = 100;

  private final SchedulingState base;
  private final int baseVersion;
  private final Config config;
  private final ConfiguredLimits nodeLimits;

  /** Set only for an in-place update. */
  private final @Nullable UnsatisfiableJobs neverFits;

  private final Topology topology;
  private final NewTasks newTasks;

  /** The limits that change in an in-place update. */
  private final List<Resource> limits;

  /** Null: the update is made in place. */
  private final @Nullable SchedulingState state;

  /** By new job number: the old one, -1 when its tasks are new. */
  private final int[] oldJobs;

  private final int[] newJobs;

  /** By new node number: the old one; null: the numbers are equal. */
  private final int @Nullable [] oldNodes;

  private final int @Nullable [] newNodes;

  private UpdatePlan(
      SchedulingState base,
      Config config,
      ConfiguredLimits nodeLimits,
      @Nullable UnsatisfiableJobs neverFits,
      Topology topology,
      NewTasks newTasks,
      List<Resource> limits,
      @Nullable SchedulingState state,
      int[] oldJobs,
      int[] newJobs,
      int @Nullable [] oldNodes,
      int @Nullable [] newNodes) {
    this.base = base;
    baseVersion = base.version();
    this.config = config;
    this.nodeLimits = nodeLimits;
    this.neverFits = neverFits;
    this.topology = topology;
    this.newTasks = newTasks;
    this.limits = limits;
    this.state = state;
    this.oldJobs = oldJobs;
    this.newJobs = newJobs;
    this.oldNodes = oldNodes;
    this.newNodes = newNodes;
  }

  /** Returns the tasks that the update will bring. */
  public NewTasks newTasks() {
    return newTasks;
  }

  /** Returns whether the update was prepared against this state in its current version. */
  public boolean isAgainst(SchedulingState state) {
    return base == state && baseVersion == state.version();
  }

  SchedulingState base() {
    return base;
  }

  public Config config() {
    return config;
  }

  public ConfiguredLimits nodeLimits() {
    return nodeLimits;
  }

  /** Returns the unsatisfiable jobs of an in-place update; otherwise the new state has them. */
  public @Nullable UnsatisfiableJobs neverFits() {
    return neverFits;
  }

  public Topology topology() {
    return topology;
  }

  public @Nullable SchedulingState state() {
    return state;
  }

  public List<Resource> limits() {
    return limits;
  }

  /** Returns the old number of a new job whose statuses are kept, or -1. */
  int oldJob(int newJob) {
    return oldJobs[newJob];
  }

  @Override
  public int newJob(int oldJob) {
    return newJobs[oldJob];
  }

  int oldNode(int newNode) {
    return oldNodes == null ? newNode : oldNodes[newNode];
  }

  @Override
  public int newNode(int oldNode) {
    return newNodes == null ? oldNode : newNodes[oldNode];
  }

  public static UpdatePlan prepare(
      SchedulingState base, Config config, Topology topology, SplitMix64 random) {
    boolean sameNodes = base.topology == topology || base.topology.equals(topology);
    ConfiguredLimits nodeLimits =
        sameNodes
            ? base.nodeLimits().next(base.config(), config, base.topology)
            : ConfiguredLimits.of(config, topology);
    if (sameNodes && sameNumbers(base.config(), config)) {
      List<Resource> limits = changedLimits(base.nodeLimits(), nodeLimits, config);
      long nodes = 0;
      for (Resource resource : limits) {
        nodes += topology.levelEnd(resource.level()) - topology.levelStart(resource.level());
      }
      boolean fewWorkers =
          base.pool.high() <= MOST_WORKERS_AT_ONCE
              || WorkerCapacity.isSame(base.config().settings(), config.settings());
      if (nodes <= MOST_NODES_AT_ONCE && fewWorkers) {
        return new UpdatePlan(
            base,
            base.judged(config),
            nodeLimits,
            UnsatisfiableJobs.of(
                new JobTable(config, new TreeMap<>()), nodeLimits, config.settings(), topology),
            topology,
            NewTasks.NONE,
            limits,
            null,
            new int[0],
            new int[0],
            null,
            null);
      }
    }
    return newState(base, config, sameNodes ? base.topology : topology, nodeLimits, random);
  }

  /** Returns whether two configurations differ only in properties that can be updated in place. */
  private static boolean sameNumbers(Config old, Config next) {
    List<Resource> resources = old.settings().resources().all();
    List<Resource> nextResources = next.settings().resources().all();
    if (old.settings().nodeOrder() != next.settings().nodeOrder()
        || !old.settings().rules().startRates().equals(next.settings().rules().startRates())
        || !old.settings().rules().groups().equals(next.settings().rules().groups())
        || resources.size() != nextResources.size()
        || !QueueTable.names(old).equals(QueueTable.names(next))
        || !old.jobs().keySet().equals(next.jobs().keySet())) {
      return false;
    }
    for (int r = 0; r < resources.size(); r++) {
      if (!resources.get(r).name().equals(nextResources.get(r).name())
          || resources.get(r).level() != nextResources.get(r).level()) {
        return false;
      }
    }
    for (Job job : old.jobs().values()) {
      Job other = next.job(job.name());
      if (other == null
          || job.level() != other.level()
          || !job.needs().equals(other.needs())
          || !perBatch(job).equals(perBatch(other))
          || !job.scheduling().reserveAfter().equals(other.scheduling().reserveAfter())
          || !job.filters().equals(other.filters())
          || !job.scheduling().roles().equals(other.scheduling().roles())
          || !job.hostPlacement().equals(other.hostPlacement())
          || !job.levelForHostPlacement().equals(other.levelForHostPlacement())
          || !job.dependsOn().equals(other.dependsOn())
          || !job.scheduling().queue().equals(other.scheduling().queue())
          || !job.afterJobs().equals(other.afterJobs())) {
        return false;
      }
    }
    return true;
  }

  private static Set<String> perBatch(Job job) {
    return job.scheduling().batch().map(batch -> Set.copyOf(batch.perBatch())).orElse(Set.of());
  }

  private static List<Resource> changedLimits(
      ConfiguredLimits old, ConfiguredLimits next, Config config) {
    List<Resource> changed = new ArrayList<>();
    for (Resource resource : config.settings().resources().all()) {
      if (!next.isSame(old, resource.index())) {
        changed.add(resource);
      }
    }
    return changed;
  }

  private static UpdatePlan newState(
      SchedulingState base,
      Config config,
      Topology topology,
      ConfiguredLimits nodeLimits,
      SplitMix64 random) {
    JobTable oldTable = base.jobs;
    Map<String, String> removed = new TreeMap<>();
    for (int j = 0; j < oldTable.count(); j++) {
      if (config.job(oldTable.name(j)) == null && !oldTable.dropped[j]) {
        removed.put(oldTable.name(j), levelName(base, j));
      }
    }
    JobTable jobs = new JobTable(config, removed);
    jobs.keepQueues(oldTable);
    int[] oldNodes = base.topology == topology ? null : match(base.topology, topology);
    int[] newNodes = oldNodes == null ? null : inverse(oldNodes, base.topology.size());
    int[] oldJobs = new int[jobs.count()];
    int[] newJobs = new int[oldTable.count()];
    Arrays.fill(newJobs, -1);
    for (int j = 0; j < jobs.count(); j++) {
      int old = oldTable.find(jobs.name(j));
      boolean kept =
          old >= 0
              && !oldTable.dropped[old]
              && jobs.levels[j] >= 0
              && topology.levels().name(jobs.levels[j]).equals(levelName(base, old));
      oldJobs[j] = kept ? old : -1;
      if (kept) {
        newJobs[old] = j;
      }
    }
    SchedulingState state =
        new SchedulingState(
            config,
            topology,
            nodeLimits,
            jobs,
            NodeEligibility.of(topology, jobs),
            random,
            base.runs,
            base.pool,
            base.selectors,
            base.clock,
            base.gateTable,
            base.limitTable);
    NewTasks newTasks = newTasks(jobs, topology, oldJobs, oldNodes);
    return new UpdatePlan(
        base,
        state.config(),
        nodeLimits,
        null,
        topology,
        newTasks,
        List.of(),
        state,
        oldJobs,
        newJobs,
        oldNodes,
        newNodes);
  }

  private static String levelName(SchedulingState base, int job) {
    int level = base.jobs.levels[job];
    return level < 0 ? "" : base.topology.levels().name(level);
  }

  /** Returns for each new node the old one with the same name and level name, or -1. */
  static int[] match(Topology old, Topology next) {
    int[] oldNodes = new int[next.size()];
    for (int level = 0; level <= next.levels().bottom(); level++) {
      int oldLevel = old.levels().find(next.levels().name(level));
      for (int node = next.levelStart(level); node < next.levelEnd(level); node++) {
        oldNodes[node] = oldLevel < 0 ? -1 : old.find(oldLevel, next.name(node));
      }
    }
    return oldNodes;
  }

  /** Returns for each old node its new number, or -1. */
  static int[] inverse(int[] oldNodes, int oldSize) {
    int[] newNodes = new int[oldSize];
    Arrays.fill(newNodes, -1);
    for (int node = 0; node < oldNodes.length; node++) {
      if (oldNodes[node] >= 0) {
        newNodes[oldNodes[node]] = node;
      }
    }
    return newNodes;
  }

  private static NewTasks newTasks(
      JobTable jobs, Topology topology, int[] oldJobs, int @Nullable [] oldNodes) {
    List<String> fresh = new ArrayList<>();
    Map<Integer, List<String>> keptByLevel = new TreeMap<>();
    for (int j = 0; j < jobs.count(); j++) {
      if (oldJobs[j] >= 0) {
        keptByLevel.computeIfAbsent(jobs.levels[j], l -> new ArrayList<>()).add(jobs.name(j));
      } else if (jobs.job(j) != null) {
        fresh.add(jobs.name(j));
      }
    }
    List<NewTasks.NewNodes> nodes = new ArrayList<>();
    if (oldNodes != null) {
      keptByLevel.forEach(
          (level, names) -> {
            int[] added = new int[topology.levelEnd(level) - topology.levelStart(level)];
            int n = 0;
            for (int node = topology.levelStart(level); node < topology.levelEnd(level); node++) {
              if (oldNodes[node] < 0) {
                added[n++] = node;
              }
            }
            if (n > 0) {
              nodes.add(new NewTasks.NewNodes(level, Arrays.copyOf(added, n), names));
            }
          });
    }
    return new NewTasks(fresh, nodes);
  }
}
