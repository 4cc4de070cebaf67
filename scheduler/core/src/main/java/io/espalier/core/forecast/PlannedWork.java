package io.espalier.core.forecast;

import io.espalier.core.config.Config;
import io.espalier.core.config.GroupRule;
import io.espalier.core.config.Job;
import io.espalier.core.config.Resource;
import io.espalier.core.scheduling.capacity.ConfiguredLimits;
import io.espalier.core.scheduling.capacity.HealthLimit;
import io.espalier.core.scheduling.capacity.LimitTable;
import io.espalier.core.scheduling.capacity.PlannedLimits;
import io.espalier.core.scheduling.capacity.RunningCap;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.group.GroupMembers;
import io.espalier.core.scheduling.group.RedundancyGroups;
import io.espalier.core.scheduling.update.TaskDifference;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The work that is left in a copy of a core, or would be left there if a configuration came into
 * force: tasks that are over stay over, and what operators, brakes and health do to limits and jobs
 * goes on. Immutable.
 */
public final class PlannedWork implements WorkLeft {
  private final Config config;
  private final Topology topology;
  private final WorkCopy copy;
  private final List<OfJob> jobs;

  private final PlannedLimits limits;
  private final @Nullable RedundancyGroups groups;

  /** A job. Bits are counted from the first node of its level. */
  private record OfJob(
      Job job,
      boolean isHeld,
      boolean isClosed,
      boolean isEnded,
      BitSet left,
      BitSet running,
      long count) {
    static OfJob of(Job job, WorkCopy.@Nullable OfJob copied, BitSet left, BitSet running) {
      return new OfJob(
          job,
          copied != null && copied.isHeld(),
          copied != null && copied.isClosed(),
          copied != null && copied.isEnded(),
          left,
          running,
          left.cardinality());
    }
  }

  private PlannedWork(
      WorkCopy copy,
      Config config,
      Topology topology,
      ConfiguredLimits configured,
      List<OfJob> jobs) {
    this.copy = copy;
    this.config = config;
    this.topology = topology;
    this.jobs = List.copyOf(jobs);
    limits = new PlannedLimits(topology, config.settings().resources(), configured, copy.limits);
    groups = RedundancyGroups.of(config.settings().rules().groups(), topology);
    if (groups != null && !copy.limits.health().isEmpty()) {
      setHealth(groups, topology, copy.limits);
    }
  }

  private static void setHealth(RedundancyGroups groups, Topology topology, LimitTable limits) {
    GroupMembers members = groups.members();
    for (int kind = 0; kind < members.rules().size(); kind++) {
      GroupRule rule = members.rules().get(kind);
      int end = topology.levelEnd(rule.level());
      for (int node = topology.levelStart(rule.level()); node < end; node++) {
        HealthLimit health = limits.healthOn(rule.limitName(), topology.name(node));
        boolean isWell = health == null || health.limit() > 0;
        groups.setWell(kind, members.member(node, rule.level()), isWell);
      }
    }
  }

  /** Returns what is left as things are. */
  public static PlannedWork now(WorkCopy copy) {
    List<OfJob> jobs = new ArrayList<>();
    copy.jobs
        .values()
        .forEach(job -> jobs.add(OfJob.of(job.job(), job, job.left(), job.running())));
    ConfiguredLimits configured = ConfiguredLimits.of(copy.config, copy.topology);
    return new PlannedWork(copy, copy.config, copy.topology, configured, jobs);
  }

  /**
   * Returns what would be left.
   *
   * @param difference from the configuration and the nodes of the copy
   */
  public static PlannedWork then(WorkCopy copy, TaskDifference difference) {
    List<OfJob> jobs = new ArrayList<>();
    for (Job job : difference.after().jobs().values()) {
      WorkCopy.OfJob copied = copy.jobs.get(job.name());
      jobs.add(
          copied != null && difference.hasSameTasks(job.name())
              ? OfJob.of(job, copied, copied.left(), copied.running())
              : changed(job, copied, copy, difference));
    }
    return new PlannedWork(
        copy, difference.after(), difference.newTopology(), difference.limits(), jobs);
  }

  /** Returns a job with other tasks: all that it will have but those whose status is final. */
  private static OfJob changed(
      Job job, WorkCopy.@Nullable OfJob copied, WorkCopy copy, TaskDifference difference) {
    BitSet left = (BitSet) difference.tasks(job.name()).clone();
    BitSet running = new BitSet();
    String level = difference.after().settings().levels().name(job.level());
    if (copied != null && level.equals(copy.topology.levels().name(copied.job().level()))) {
      int first = copy.topology.levelStart(copied.job().level());
      int newFirst = difference.newTopology().levelStart(job.level());
      copied.over().stream()
          .map(at -> difference.newNode(first + at))
          .filter(node -> node >= 0)
          .forEach(node -> left.clear(node - newFirst));
      copied.running().stream()
          .map(at -> difference.newNode(first + at))
          .filter(node -> node >= 0 && left.get(node - newFirst))
          .forEach(node -> running.set(node - newFirst));
    }
    return OfJob.of(job, copied, left, running);
  }

  @Override
  public Config config() {
    return config;
  }

  @Override
  public Topology topology() {
    return topology;
  }

  @Override
  public long number() {
    return 0;
  }

  @Override
  public int jobCount() {
    return jobs.size();
  }

  @Override
  public Job job(int job) {
    return jobs.get(job).job;
  }

  @Override
  public boolean mayStart(int job) {
    return mayStartLater(job) && !jobs.get(job).isClosed;
  }

  @Override
  public boolean mayStartLater(int job) {
    OfJob copied = jobs.get(job);
    return config.settings().enabled() && copied.job.canRun() && !copied.isEnded;
  }

  @Override
  public boolean isHeld(int job) {
    return jobs.get(job).isHeld;
  }

  @Override
  public long left(int job) {
    return jobs.get(job).count;
  }

  @Override
  public long running(int job) {
    return jobs.get(job).running.cardinality();
  }

  @Override
  public int firstNode(int job) {
    return topology.levelStart(job(job).level());
  }

  @Override
  public int endNode(int job) {
    return topology.levelEnd(job(job).level());
  }

  @Override
  public boolean isLeft(int job, int node) {
    return jobs.get(job).left.get(node - firstNode(job));
  }

  @Override
  public boolean isRunning(int job, int node) {
    return jobs.get(job).running.get(node - firstNode(job));
  }

  @Override
  public int limit(int node, int resource) {
    return limits.of(node, resource);
  }

  @Override
  public double ofWorkers(Resource resource) {
    return (double) resource.limit() * copy.workers;
  }

  @Override
  public Collection<RunningCap> caps() {
    return copy.limits.caps();
  }

  @Override
  public Map<Integer, GateKind> closedNodes(Job job) {
    return LiveWork.closedNodes(topology, copy.closed, job);
  }

  @Override
  public @Nullable GroupMembers groups() {
    return groups == null ? null : groups.members();
  }

  @Override
  public int groupLimit(int group) {
    return groups == null ? 0 : groups.limit(group);
  }

  /** Returns the jobs with tasks left, by name, with their numbers. */
  Map<String, Integer> withTasks() {
    Map<String, Integer> all = new TreeMap<>();
    for (int job = 0; job < jobs.size(); job++) {
      if (left(job) > 0) {
        all.put(job(job).name(), job);
      }
    }
    return all;
  }

  @Override
  public long slots(Resource resource) {
    if (resource.level() >= topology.levels().worker()) {
      return (long) ofWorkers(resource);
    }
    long sum = 0;
    int end = topology.levelEnd(resource.level());
    for (int node = topology.levelStart(resource.level()); node < end; node++) {
      sum += limit(node, resource.index());
    }
    return sum;
  }
}
