package io.espalier.core.forecast;

import io.espalier.core.config.Job;
import io.espalier.core.config.Resource;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Sums up the work that is left of a job, and of the jobs that compete with it, for each limit of
 * nodes, workers and queues, in slices (docs/adr/0076-forecasts.md). How much of another job's work
 * comes before the end of this one follows from the policy; without priorities, all jobs start
 * equally many tasks. The work of a node with several parents is divided among them. Use it where
 * the {@link WorkLeft} may be used.
 */
public final class EtaScan {
  /** In trees with more nodes, the lowest level that has tasks is not looked at. */
  private static final int MOST_NODES = 200_000;

  /** Setting this many numbers to zero counts as one visited task. */
  private static final int CLEARED_PER_UNIT = 64;

  /** In place of a job: all of them, without an order, also those that may start only later. */
  public static final int ALL = -1;

  private final WorkLeft left;
  private final Map<String, JobPace> paces;
  private final JobPace unknown;
  private final int job;
  private final long stateNumber;
  private final Topology nodes;

  /** The jobs to look at, this one first. */
  private final List<Integer> jobs = new ArrayList<>();

  /** What is left of this job, and of the job that is looked at. */
  private final Counts own;

  private Counts counts;

  private final List<EtaDemand> demands = new ArrayList<>();

  /** What is left of a job by node: tasks, and starts unless no limit asks for them. */
  private static final class Counts {
    final double[] tasks;
    final double[] starts;

    Counts(int nodes, boolean hasStarts) {
      tasks = new double[nodes];
      starts = new double[hasStarts ? nodes : 0];
    }

    double[] of(EtaDemand demand) {
      return demand.isOfStarts() ? starts : tasks;
    }

    int size() {
      return tasks.length + starts.length;
    }
  }

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
  private int demand;

  private int place;

  /** How many tasks of the job that is looked at start for one of this job. */
  private double ahead;

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
    if (job != ALL) {
      jobs.add(job);
    }
    int lowest = level(job);
    for (int other = 0; other < left.jobCount(); other++) {
      boolean may = job == ALL ? left.mayStartLater(other) : left.mayStart(other);
      if (other != job && may && left.left(other) > 0) {
        jobs.add(other);
        lowest = Math.max(lowest, level(other));
      }
    }
    int inner =
        nodes.levelEnd(lowest) <= MOST_NODES ? nodes.levelEnd(lowest) : nodes.levelStart(lowest);
    addOfResources(inner);
    Job config = job == ALL ? null : left.job(job);
    if (config != null) {
      addOfQueue(config);
      addOfStarts(config, inner);
    }
    own = new Counts(inner, demands.stream().anyMatch(EtaDemand::isOfStarts));
    counts = own;
  }

  private void addOfResources(int inner) {
    for (Resource resource : left.config().settings().resources().all()) {
      int level = resource.level();
      demands.add(
          level < nodes.levels().worker()
              ? EtaDemand.ofNodes(resource, nodes.levelStart(level), size(level, inner))
              : EtaDemand.ofWorkers(resource));
    }
  }

  private void addOfStarts(Job config, int inner) {
    new TreeMap<>(left.config().settings().rules().startRates())
        .headMap(config.level(), true)
        .forEach(
            (level, rate) ->
                demands.add(
                    EtaDemand.ofStarts(level, rate, nodes.levelStart(level), size(level, inner))));
  }

  /** Returns the number of nodes of a level that are looked at. */
  private int size(int level, int inner) {
    return Math.max(0, Math.min(inner, nodes.levelEnd(level)) - nodes.levelStart(level));
  }

  /** Adds what limits the queue of the job. */
  private void addOfQueue(Job config) {
    String queue = config.scheduling().queue();
    for (Resource resource : left.config().settings().resources().all()) {
      boolean isOfNodes = resource.level() < nodes.levels().worker();
      if (Double.isFinite(left.ofQueue(queue, resource))) {
        demands.add(EtaDemand.ofQueue(queue, resource, isOfNodes ? resource.level() : 0));
      }
    }
    if (Double.isFinite(left.ofQueue(queue, null))) {
      demands.add(EtaDemand.ofQueue(queue, null, 0));
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
        boolean isRunning = left.isRunning(of, node);
        add(counts.tasks, node, isRunning ? running : 1);
        // A task that runs starts again where it does not finish.
        add(counts.starts, node, isRunning ? 1 - pace.finishing() : 1);
      }
    }
    if (node == left.endNode(of)) {
      node = Math.min(counts.tasks.length, nodes.levelEnd(level(of))) - 1;
      phase = Phase.ADD_UP;
    }
    return visited;
  }

  /** Adds tasks to their node or, where that is not looked at, to its parents. */
  private void add(double[] to, int leaf, double tasks) {
    if (leaf < to.length) {
      to[leaf] += tasks;
    } else {
      addToParents(to, leaf, tasks);
    }
  }

  private void addToParents(double[] to, int child, double tasks) {
    int parents = to.length == 0 ? 0 : nodes.slotCount(child);
    for (int i = 0; i < parents; i++) {
      to[nodes.parent(nodes.slot(child, i))] += tasks / parents;
    }
  }

  /** Adds the tasks of nodes to those of their parents, from the lowest up. */
  private int addUp(int units) {
    int stop = Math.max(0, node - units);
    int visited = Math.max(1, node - stop);
    for (; node > stop; node--) {
      addToParents(counts.tasks, node, counts.tasks[node]);
      if (counts.starts.length > 0) {
        addToParents(counts.starts, node, counts.starts[node]);
      }
    }
    if (node <= 0) {
      phase = Phase.COMPETE;
      ahead = jobs.get(at) == job || job == ALL ? 1 : ahead(jobs.get(at));
      demand = 0;
      place = 0;
    }
    return visited;
  }

  /** Adds what a job demands before this one ends. */
  private int compete(int units) {
    int other = jobs.get(at);
    Job config = left.job(other);
    if (config == null || demand == demands.size()) {
      nextJob();
      return counts.size() / CLEARED_PER_UNIT + 1;
    }
    EtaDemand of = demands.get(demand);
    int need = of.need(config);
    int first = place;
    int end = need > 0 ? (int) Math.min(of.size(), (long) place + units) : place;
    JobPace pace = pace(other);
    boolean isWhole = other == job || job == ALL;
    for (; place < end; place++) {
      double all = counts.of(of)[of.first() + place];
      double mine = own.of(of)[of.first() + place];
      of.add(place, isWhole ? all : mine <= 0 ? 0 : Math.min(all, mine * ahead), need, pace);
    }
    if (place == of.size() || need <= 0) {
      demand++;
      place = 0;
    }
    return Math.max(1, end - first);
  }

  private void nextJob() {
    at++;
    phase = Phase.COUNT;
    node = -1;
    if (!isDone()) {
      counts = counts == own ? new Counts(own.tasks.length, own.starts.length > 0) : counts;
      Arrays.fill(counts.tasks, 0);
      Arrays.fill(counts.starts, 0);
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
    return own.tasks.length;
  }

  /** Returns the tasks left of the job below one of these nodes or on it. */
  double own(int at) {
    return own.tasks[at];
  }

  /** Returns the demands of all resources and, of a job, those of its queue and of starts. */
  List<EtaDemand> demands() {
    return List.copyOf(demands);
  }
}
