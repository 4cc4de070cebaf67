package io.espalier.core.scheduling.task;

import io.espalier.core.config.Config;
import io.espalier.core.config.FilterEvaluator;
import io.espalier.core.config.FilterSteps;
import io.espalier.core.config.Job;
import io.espalier.core.config.JobFilter;
import io.espalier.core.config.RoleFilter;
import io.espalier.core.problem.Problem;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.scheduling.job.StatusCodes;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Evaluates enabled flags, filters and roles for every edge and task, for all jobs at once, from
 * the root down. A task may run when its node has a path on which all edges are allowed. Otherwise
 * the lowest refusal on a path decides, where a disabled node takes precedence over a filter
 * (docs/design/bistro.md#filters). With several paths, a task counts as avoided rather than
 * disabled when any path is avoided.
 */
public final class NodeEligibility {
  private final Topology topology;
  private final JobTable jobs;
  private final int words;

  /** By edge. */
  private long[] allowed = new long[0];

  /**
   * By node: the jobs that have an allowed path. {@code avoided}: the jobs for which a filter cuts
   * a path.
   */
  private long[] runs = new long[0];

  private long[] avoided = new long[0];

  /** The results of {@link #permitted} by role. */
  private final Map<String, long[]> byRole = new HashMap<>();

  /** The jobs with a filter that is too slow, with the problem to report. */
  private final Map<String, Problem> tooSlow = new TreeMap<>();

  private record Filtered(int job, String name, JobFilter filter, FilterSteps steps) {}

  private NodeEligibility(Topology topology, JobTable jobs) {
    this.topology = topology;
    this.jobs = jobs;
    words = jobs.words;
  }

  public static NodeEligibility of(Topology topology, JobTable jobs) {
    NodeEligibility verdicts = new NodeEligibility(topology, jobs);
    List<List<Filtered>> filters = new ArrayList<>();
    boolean any = !topology.allEnabled() || jobs.instanceElsewhere || verdicts.rolesMatter();
    for (int level = 0; level <= topology.levels().bottom(); level++) {
      List<Filtered> ofLevel = new ArrayList<>();
      for (int j = 0; j < jobs.count(); j++) {
        Job job = jobs.job(j);
        JobFilter filter = job == null ? null : job.filters().get(level);
        if (job != null && filter != null && !filter.isTrivial()) {
          int names = topology.levelEnd(level) - topology.levelStart(level);
          ofLevel.add(new Filtered(j, job.name(), filter, new FilterSteps(names)));
        }
      }
      any |= !ofLevel.isEmpty();
      filters.add(ofLevel);
    }
    if (any) {
      verdicts.compute(filters);
      verdicts.findSlow(filters);
      if (!verdicts.tooSlow.isEmpty()) {
        // Starts over, because a filter that is too slow for one node now passes no node.
        verdicts.compute(filters);
      }
    }
    return verdicts;
  }

  private void findSlow(List<List<Filtered>> filters) {
    for (int level = 0; level < filters.size(); level++) {
      for (Filtered filtered : filters.get(level)) {
        if (filtered.steps().isOver()) {
          String path =
              Config.JOB_KEY + filtered.name() + ".filters." + topology.levels().name(level);
          tooSlow.put(filtered.name(), filtered.steps().problem(path, "the job starts nothing"));
        }
      }
    }
  }

  /** Returns the jobs whose filters are too slow to be in force, with the problem, by name. */
  public Map<String, Problem> tooSlow() {
    return tooSlow;
  }

  /** Returns the configuration with these problems added to their jobs. */
  public static Config judged(Config config, Map<String, Problem> tooSlow) {
    if (tooSlow.isEmpty()) {
      return config;
    }
    SortedMap<String, Job> jobs = new TreeMap<>(config.jobs());
    tooSlow.forEach(
        (name, problem) ->
            jobs.computeIfPresent(
                name,
                (same, job) -> {
                  List<Problem> all = new ArrayList<>(job.problems());
                  all.add(problem);
                  return job.withProblems(all);
                }));
    return config.withJobs(jobs);
  }

  private boolean rolesMatter() {
    boolean any = false;
    for (int j = 0; j < jobs.count() && topology.hasRoles(); j++) {
      Job job = jobs.job(j);
      any |= job != null && !job.scheduling().roles().isEmpty();
    }
    return any;
  }

  /** Returns whether roles and the filter for the level let a job use the node through an edge. */
  public static boolean passes(Topology topology, Job job, int slot) {
    int node = topology.node(slot);
    if (!RoleFilter.permits(job, topology.role(slot))) {
      return false;
    }
    JobFilter filter = job.filters().get(topology.level(node));
    return filter == null
        || FilterEvaluator.passes(filter, job.name(), topology.name(node), topology.tags(slot));
  }

  private void compute(List<List<Filtered>> filters) {
    allowed = new long[Math.multiplyExact(topology.slots(), words)];
    runs = new long[Math.multiplyExact(topology.size(), words)];
    avoided = new long[runs.length];
    int last = 0;
    long[] passes = new long[words];
    for (int level = 0; level < filters.size(); level++) {
      List<Filtered> ofLevel = filters.get(level);
      for (int node = topology.levelStart(level); node < topology.levelEnd(level); node++) {
        int slotCount = topology.slotCount(node);
        for (int i = 0; i < slotCount; i++) {
          int slot = topology.slot(node, i);
          if (judge(node, slot, ofLevel, passes)) {
            last = Math.max(last, slot + 1);
          }
        }
        for (int w = 0; w < words; w++) {
          avoided[node * words + w] &= ~runs[node * words + w];
        }
      }
    }
    allowed = Arrays.copyOf(allowed, last * words);
  }

  /** Returns whether the edge refuses any job. */
  private boolean judge(int node, int slot, List<Filtered> filters, long[] passes) {
    if (!topology.enabled(slot)) {
      return true;
    }
    Arrays.fill(passes, -1L);
    for (Filtered filtered : filters) {
      if (!FilterEvaluator.passes(
          filtered.filter(),
          filtered.name(),
          topology.name(node),
          topology.tags(slot),
          filtered.steps())) {
        passes[filtered.job() >>> 6] &= ~(1L << filtered.job());
      }
    }
    if (topology.hasRoles()) {
      closeByRole(topology.role(slot), passes);
    }
    if (slot == 0 && jobs.instanceElsewhere) {
      closeInstance(passes);
    }
    int parent = topology.parent(slot);
    boolean refuses = false;
    for (int w = 0; w < words; w++) {
      long above = parent < 0 ? -1L : runs[parent * words + w];
      long avoidedAbove = parent < 0 ? 0 : avoided[parent * words + w];
      allowed[slot * words + w] = passes[w];
      runs[node * words + w] |= passes[w] & above;
      avoided[node * words + w] |= ~passes[w] | (passes[w] & avoidedAbove);
      refuses |= passes[w] != -1L;
    }
    return refuses;
  }

  private void closeByRole(String role, long[] passes) {
    if (role.isEmpty()) {
      return;
    }
    long[] permitted = byRole.computeIfAbsent(role, this::permitted);
    for (int w = 0; w < words; w++) {
      passes[w] &= permitted[w];
    }
  }

  /** Returns the bits of the jobs that may use edges with a role. */
  private long[] permitted(String role) {
    long[] bits = new long[words];
    for (int j = 0; j < jobs.count(); j++) {
      Job job = jobs.job(j);
      if (job == null || RoleFilter.permits(job, role)) {
        bits[j >>> 6] |= 1L << j;
      }
    }
    return bits;
  }

  /** Closes the instance node: its tasks belong to partition 0 alone. */
  private void closeInstance(long[] passes) {
    long[] there = jobs.onLevel(0);
    for (int w = 0; w < words; w++) {
      passes[w] &= ~there[w];
    }
  }

  /**
   * Returns the allowed jobs per edge, for a range of the first edges; the other edges are allowed
   * for all jobs.
   */
  public long[] allowed() {
    return allowed;
  }

  /** Returns all tasks as never tried, with the eligibility of their nodes. */
  public TaskTable freshTasks() {
    byte[][] codes = new byte[jobs.count()][];
    int[] first = new int[jobs.count()];
    for (int j = 0; j < codes.length; j++) {
      int level = jobs.levels[j];
      first[j] = level < 0 ? 0 : topology.levelStart(level);
      codes[j] = new byte[level < 0 ? 0 : topology.levelEnd(level) - first[j]];
      if (runs.length > 0) {
        for (int i = 0; i < codes[j].length; i++) {
          codes[j][i] =
              (byte) StatusCodes.withEffect(StatusCodes.UNSTARTED, effect(j, first[j] + i));
        }
      }
    }
    boolean dependenciesMatter = false;
    for (int[] dependencies : jobs.dependencies) {
      dependenciesMatter |= dependencies.length > 0;
    }
    return new TaskTable(codes, first, dependenciesMatter);
  }

  /** Returns whether the node has a path on which all edges are allowed for the job. */
  public boolean isOpen(int job, int node) {
    return runs.length == 0 || (runs[node * words + (job >>> 6)] & 1L << job) != 0;
  }

  private int effect(int job, int node) {
    if (isOpen(job, node)) {
      return StatusCodes.OPEN;
    }
    boolean isAvoided = (avoided[node * words + (job >>> 6)] & 1L << job) != 0;
    return isAvoided ? StatusCodes.AVOIDED : StatusCodes.DISABLED;
  }
}
