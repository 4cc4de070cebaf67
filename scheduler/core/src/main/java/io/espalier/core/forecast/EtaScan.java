package io.espalier.core.forecast;

import io.espalier.core.config.Job;
import io.espalier.core.config.Resource;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * Sums up the work that is left of a job, and of the jobs that compete with it, on each node, in
 * slices (docs/adr/0076-forecasts.md). How much of another job's work comes before the end of this
 * one follows from the policy; without priorities, all jobs start equally many tasks. The work of a
 * node with several parents is divided among them. Use it where the {@link WorkLeft} may be used.
 */
public final class EtaScan {
  /** In trees with more nodes, the lowest level that has tasks is not looked at. */
  private static final int MOST_NODES = 200_000;

  /** Setting this many numbers to zero counts as one visited task. */
  private static final int CLEARED_PER_UNIT = 64;

  /** In place of a job: all of them, without an order. */
  public static final int ALL = -1;

  private final WorkLeft left;
  private final Map<String, JobPace> paces;
  private final JobPace unknown;
  private final int job;
  private final long stateNumber;
  private final Topology nodes;
  private final List<Resource> resources;

  /** The jobs to look at, this one first. */
  private final List<Integer> jobs = new ArrayList<>();

  /** By node: the tasks left of this job, and of the job that is looked at. */
  private final double[] own;

  private double[] counts;

  /** By resource and node of its level: milliseconds of slots, and their variance. */
  private final EtaDemand[] demands;

  /** What is done for one job after the other. */
  private enum Phase {
    COUNT,
    ADD_UP,
    COMPETE
  }

  private int at;
  private Phase phase = Phase.COUNT;
  private int node = -1;

  /** Where {@link Phase#COMPETE} is. */
  private int resource;

  private int place;

  /**
   * @param job may be {@link #ALL}
   * @param assumed the pace of jobs without one
   */
  public EtaScan(WorkLeft left, int job, Map<String, JobPace> paces, JobPace assumed) {
    this.left = left;
    this.job = job;
    this.paces = paces;
    this.unknown = assumed;
    stateNumber = left.number();
    nodes = left.topology();
    resources = left.config().settings().resources().all();
    if (job != ALL) {
      jobs.add(job);
    }
    int lowest = level(job);
    for (int other = 0; other < left.jobCount(); other++) {
      if (other != job && left.mayStart(other) && left.left(other) > 0) {
        jobs.add(other);
        lowest = Math.max(lowest, level(other));
      }
    }
    int inner =
        nodes.levelEnd(lowest) <= MOST_NODES ? nodes.levelEnd(lowest) : nodes.levelStart(lowest);
    own = new double[inner];
    counts = own;
    demands = new EtaDemand[resources.size()];
    for (Resource resource : resources) {
      boolean isOfNodes = resource.level() < nodes.levels().worker();
      int first = isOfNodes ? nodes.levelStart(resource.level()) : 0;
      int end = isOfNodes ? Math.min(inner, nodes.levelEnd(resource.level())) : 1;
      demands[resource.index()] = new EtaDemand(resource, first, Math.max(0, end - first));
    }
  }

  private int level(int of) {
    Job config = of == ALL ? null : left.job(of);
    return config == null ? 0 : config.level();
  }

  /** Returns whether jobs and nodes have been renumbered since, so that the scan is worthless. */
  public boolean isStale() {
    return stateNumber != left.number();
  }

  public boolean isDone() {
    return at == jobs.size();
  }

  /**
   * Runs a slice.
   *
   * @param units about how many tasks and nodes to visit
   * @return how many were visited, at least 1
   */
  public int step(int units) {
    int used = 0;
    while (used < units && !isDone()) {
      used +=
          switch (phase) {
            case COUNT -> count(units - used);
            case ADD_UP -> addUp(units - used);
            case COMPETE -> compete(units - used);
          };
    }
    return Math.max(1, used);
  }

  private int count(int units) {
    int of = jobs.get(at);
    node = node < 0 ? left.firstNode(of) : node;
    int end = (int) Math.min(left.endNode(of), (long) node + units);
    int visited = Math.max(1, end - node);
    JobPace pace = pace(of);
    boolean isWhole = job == ALL || pace.taskMillis() <= 0;
    double running = isWhole ? 1 : pace.restMillis() / pace.taskMillis();
    for (; node < end; node++) {
      if (left.isLeft(of, node)) {
        add(node, left.isRunning(of, node) ? running : 1);
      }
    }
    if (node == left.endNode(of)) {
      node = Math.min(counts.length, nodes.levelEnd(level(of))) - 1;
      phase = Phase.ADD_UP;
    }
    return visited;
  }

  /** Adds tasks to their node or, where that is not looked at, to its parents. */
  private void add(int leaf, double tasks) {
    if (leaf < counts.length) {
      counts[leaf] += tasks;
    } else {
      addToParents(leaf, tasks);
    }
  }

  private void addToParents(int child, double tasks) {
    int parents = nodes.slotCount(child);
    for (int i = 0; i < parents; i++) {
      counts[nodes.parent(nodes.slot(child, i))] += tasks / parents;
    }
  }

  /** Adds the tasks of nodes to those of their parents, from the lowest up. */
  private int addUp(int units) {
    int stop = Math.max(0, node - units);
    int visited = Math.max(1, node - stop);
    for (; node > stop; node--) {
      addToParents(node, counts[node]);
    }
    if (node <= 0) {
      phase = Phase.COMPETE;
      resource = 0;
      place = 0;
    }
    return visited;
  }

  /** Adds what a job demands before this one ends. */
  private int compete(int units) {
    int other = jobs.get(at);
    Job config = left.job(other);
    if (config == null || resource == resources.size()) {
      nextJob();
      return counts.length / CLEARED_PER_UNIT + 1;
    }
    Resource of = resources.get(resource);
    EtaDemand demand = demands[of.index()];
    int need = config.needs().get(of.index());
    boolean passes = of.level() <= config.level() || of.level() >= nodes.levels().worker();
    int first = place;
    int end = need > 0 && passes ? (int) Math.min(demand.size(), (long) place + units) : place;
    JobPace pace = pace(other);
    double ahead = other == job || job == ALL ? 1 : ahead(other);
    for (; place < end; place++) {
      double all = counts[demand.first() + place];
      double mine = own[demand.first() + place];
      double before =
          other == job || job == ALL ? all : mine <= 0 ? 0 : Math.min(all, mine * ahead);
      demand.add(place, before, need, pace);
    }
    if (place == demand.size() || need <= 0 || !passes) {
      resource++;
      place = 0;
    }
    return Math.max(1, end - first);
  }

  private void nextJob() {
    at++;
    phase = Phase.COUNT;
    node = -1;
    if (!isDone()) {
      counts = counts == own ? new double[own.length] : counts;
      Arrays.fill(counts, 0);
    }
  }

  /** Returns how many tasks of another job start for one of this job. */
  private double ahead(int other) {
    Job mine = left.job(job);
    Job theirs = left.job(other);
    if (mine == null || theirs == null) {
      return 1;
    }
    double all = Double.MAX_VALUE;
    return switch (left.config().settings().policy()) {
      case "ranked_priority" ->
          theirs.priority() == mine.priority() ? 1 : theirs.priority() > mine.priority() ? all : 0;
      case "randomized_priority" ->
          mine.priority() <= 0 ? all : theirs.priority() / mine.priority();
      case "long_tail" -> left.left(other) <= left.left(job) ? all : 0;
      default -> 1;
    };
  }

  private JobPace pace(int of) {
    Job config = left.job(of);
    return config == null ? unknown : paces.getOrDefault(config.name(), unknown);
  }

  /** Returns the number of nodes that are looked at: the first ones. */
  int size() {
    return own.length;
  }

  /** Returns the tasks left of the job below one of these nodes or on it. */
  double own(int at) {
    return own[at];
  }

  /** Returns the demand by index of the resource; of workers, it has one place. */
  List<EtaDemand> demands() {
    return List.of(demands);
  }
}
