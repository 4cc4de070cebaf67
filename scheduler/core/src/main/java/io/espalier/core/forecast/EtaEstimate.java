package io.espalier.core.forecast;

import io.espalier.core.api.view.JobEta;
import io.espalier.core.api.view.JobEta.Bottleneck;
import io.espalier.core.api.view.JobEta.Kind;
import io.espalier.core.config.Job;
import io.espalier.core.config.Resource;
import io.espalier.core.config.StartRate;
import io.espalier.core.topology.Topology;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Computes when a job ends from an {@link EtaScan}, in slices. The job cannot end before the work
 * at its narrowest place is done at the full limit there; to this are added what chance does to the
 * work of the places that are as narrow, the time outside of the windows of the job, and the rest
 * of the tasks that run when the last one starts.
 */
public final class EtaEstimate {
  /** Places that take at least this part of the longest time count as equally narrow. */
  private static final double AS_NARROW = 0.9;

  /** The search for a window counts as this many visited nodes. */
  public static final int UNITS_PER_WINDOW = 1_000;

  /** The estimate that most cases do not exceed. */
  private static final double MOST = 0.9;

  private final WorkLeft left;
  private final Topology nodes;
  private final Job config;
  private final JobPace pace;
  private final EtaScan scan;
  private final JobWindows windows;

  private @Nullable Place narrowest;

  /** The closed node that keeps most tasks of the job, with the limit that closes it. */
  private @Nullable Place closing;

  private double closingTasks;
  private double secondMillis;

  /**
   * A place where tasks of the job wait.
   *
   * @param need slots that a task of the job needs there
   * @param millis the time that its work takes
   * @param nextMillis the same with a limit that is higher by one
   */
  private record Place(
      Kind kind,
      int node,
      @Nullable Resource resource,
      double limit,
      double need,
      double millis,
      double nextMillis,
      double deviationMillis) {}

  /** What is done one after the other. */
  private enum Phase {
    /** Find the nodes below which no task can run. */
    CLOSED,
    /** Find the narrowest place. */
    NARROWEST,
    /** Compare the places with it. */
    COMPARE,
    /** Find the windows in which the tasks start. */
    WINDOWS,
    DONE
  }

  private final int job;
  private final boolean isKnown;
  private final long nowMillis;
  private final List<EtaDemand> demands;

  /** By node: whether no task can run on it or below it. */
  private final boolean[] closed;

  private double closedTasks;
  private long never;
  private Phase phase = Phase.CLOSED;

  /** Where the phase is: a node, or a place of a demand. */
  private int at;

  private int demand;

  /** How many places are about as narrow as the narrowest one, and the longest time if raised. */
  private int equallyNarrow;

  private double nextOfLevel;

  /**
   * @param pace of the job
   * @param isKnown whether that pace was measured or given; otherwise there is no time in the
   *     answer
   * @param scan a complete one of that job, which must not get stale meanwhile
   * @param nowMillis the instant from which the answer counts
   */
  public EtaEstimate(
      WorkLeft left, int job, JobPace pace, boolean isKnown, EtaScan scan, long nowMillis) {
    this.left = left;
    this.nodes = left.topology();
    this.config = Objects.requireNonNull(left.job(job));
    this.job = job;
    this.pace = pace;
    this.isKnown = isKnown;
    this.scan = scan;
    this.nowMillis = nowMillis;
    windows = new JobWindows(left.config(), config, pace, nowMillis);
    demands = scan.demands();
    closed = new boolean[scan.size()];
  }

  public boolean isDone() {
    return phase == Phase.DONE;
  }

  /**
   * Runs a slice.
   *
   * @param units about how many nodes and places to visit; a window counts as many of them
   * @return how many were visited, at least 1
   */
  public int step(int units) {
    int used = 0;
    while (used < units && !isDone()) {
      used += phase == Phase.WINDOWS ? findWindow() : visit();
    }
    return Math.max(1, used);
  }

  private int findWindow() {
    if (windows.isKnown(lastStart(MOST))) {
      end();
      return 1;
    }
    windows.findNext();
    return UNITS_PER_WINDOW;
  }

  private int visit() {
    boolean isOver = phase == Phase.CLOSED ? at == closed.length : demand == demands.size();
    if (isOver) {
      end();
    } else if (phase == Phase.CLOSED) {
      close(at++);
    } else if (at == demands.get(demand).size()) {
      demand++;
      at = 0;
    } else {
      visit(demands.get(demand), at++);
    }
    return 1;
  }

  private void visit(EtaDemand of, int place) {
    if (!isOfWorkers(of.resource()) && closed[of.first() + place]) {
      return; // Nothing waits for slots here that a slot more would let start.
    }
    if (phase == Phase.NARROWEST) {
      find(of, place);
    } else {
      compare(of, place);
    }
  }

  /** Ends a phase. */
  private void end() {
    at = 0;
    demand = 0;
    switch (phase) {
      case CLOSED -> phase = Phase.NARROWEST;
      case NARROWEST -> {
        boolean runs = config.canRun() && !left.isHeld(job);
        never =
            runs
                ? Math.min(left.left(job), Math.round(closedTasks))
                : left.left(job) - left.running(job);
        if (runs && never > 0 && never >= left.left(job) - left.running(job)) {
          narrowest = null; // Nothing is left that may start: the place that is closed is named.
        } else {
          findOfJob(left.left(job) - never);
        }
        phase = narrowest == null ? Phase.WINDOWS : Phase.COMPARE;
      }
      case COMPARE -> phase = Phase.WINDOWS;
      case WINDOWS, DONE -> phase = Phase.DONE;
    }
  }

  /** Returns the answer, once it is done. */
  public JobEta answer() {
    long tasks = left.left(job);
    if (tasks == 0) {
      return new JobEta(config.name(), nowMillis, 0, 0, 0, 0, null);
    }
    long blocked = Math.min(never, tasks);
    double most = quantile(tasks - blocked, MOST);
    if (Double.isInfinite(most)) {
      blocked = tasks - left.running(job);
      most = quantile(tasks - blocked, MOST);
    }
    double p50 = isKnown ? quantile(tasks - blocked, 0.5) / 1000 : -1;
    double p90 = isKnown ? most / 1000 : -1;
    return new JobEta(config.name(), nowMillis, tasks, blocked, p50, p90, bottleneck());
  }

  private void close(int node) {
    int parent = node == 0 ? -1 : nodes.parent(nodes.slot(node, 0));
    if (parent >= 0 && closed[parent]) {
      closed[node] = true;
      return;
    }
    for (Resource resource : left.config().settings().resources().ofLevel(nodes.level(node))) {
      int limit = left.limit(node, resource.index());
      int need = config.needs().get(resource.index());
      if (limit < need) {
        closed[node] = true;
        closedTasks += scan.own(node);
        if (scan.own(node) > closingTasks) {
          closingTasks = scan.own(node);
          closing = new Place(Kind.RESOURCE, node, resource, limit, need, 0, 0, 0);
        }
        return;
      }
    }
  }

  private double limit(EtaDemand of, int place) {
    Resource resource = of.resource();
    return isOfWorkers(resource)
        ? left.ofWorkers(resource)
        : left.limit(of.first() + place, resource.index());
  }

  private boolean isOfWorkers(Resource resource) {
    return resource.level() >= nodes.levels().worker();
  }

  private void find(EtaDemand of, int place) {
    Resource resource = of.resource();
    double need = config.needs().get(resource.index());
    if (need <= 0 || of.work(place) <= 0) {
      return;
    }
    boolean ofWorkers = isOfWorkers(resource);
    int node = ofWorkers ? -1 : of.first() + place;
    double limit = limit(of, place);
    if (limit >= need && (ofWorkers || scan.own(node) > 0)) {
      take(
          new Place(
              ofWorkers ? Kind.WORKERS : Kind.RESOURCE,
              node,
              resource,
              limit,
              need,
              of.work(place) / limit,
              of.work(place) / (limit + 1),
              of.deviation(place) / limit));
    }
  }

  private void compare(EtaDemand of, int place) {
    Place narrow = narrowest;
    Resource raised = narrow == null ? null : narrow.resource();
    if (narrow == null || raised == null || narrow.kind() != Kind.RESOURCE) {
      return;
    }
    Resource resource = of.resource();
    double limit = limit(of, place);
    boolean isSame = resource.index() == raised.index();
    if (isSame && limit > 0 && of.work(place) / limit >= AS_NARROW * narrow.millis()) {
      equallyNarrow++;
    }
    if (limit >= Math.max(1, config.needs().get(resource.index()))) {
      nextOfLevel = Math.max(nextOfLevel, of.work(place) / (limit + (isSame ? 1 : 0)));
    }
  }

  private void findOfJob(long tasks) {
    int cap = left.mostRunning(job);
    if (cap > 0) {
      take(ofJob(Kind.MAX_CONCURRENT, tasks, cap, pace.taskMillis()));
    }
    if (config.scheduling().startRate().isPresent()) {
      StartRate rate = config.scheduling().startRate().get();
      take(ofJob(Kind.START_RATE, tasks, rate.perSecond(), 1000));
    }
  }

  private static Place ofJob(Kind kind, long tasks, double limit, double millis) {
    double work = tasks * millis;
    return new Place(kind, -1, null, limit, 1, work / limit, work / (limit + 1), 0);
  }

  private void take(Place place) {
    Place before = narrowest;
    if (before == null || place.millis() > before.millis()) {
      secondMillis = before == null ? 0 : before.millis();
      narrowest = place;
    } else {
      secondMillis = Math.max(secondMillis, place.millis());
    }
  }

  /**
   * Returns the time until all is over that this part of the cases does not exceed; infinite when
   * the windows of the job are too short.
   */
  private double quantile(long tasks, double part) {
    long running = left.running(job);
    long ready = Math.max(0, tasks - running);
    double longest = running == 0 ? 0 : pace.restQuantile(root(part, (double) running));
    if (ready == 0) {
      return longest;
    }
    double first = pace.quantile(root(part, Math.min((double) ready, 1_000.0)));
    longest = Math.max(longest, first + windows.delayMillis(0));
    Place place = narrowest;
    if (place == null) {
      return longest;
    }
    boolean isRate = place.kind() == Kind.START_RATE;
    double slots = Math.max(1, place.limit() / place.need());
    double last = isRate ? first : pace.restQuantile(root(part, slots * equal()));
    double start = lastStart(part);
    return Math.max(longest, start + windows.delayMillis(Math.max(0, start)) + last);
  }

  /** Returns after how long the last task starts, without windows; 0: nothing narrows the job. */
  private double lastStart(double part) {
    Place place = narrowest;
    if (place == null) {
      return 0;
    }
    double chance = place.deviationMillis() * normal(root(part, equal()));
    boolean isRate = place.kind() == Kind.START_RATE;
    return place.millis() + chance - (isRate ? 0 : pace.restMillis());
  }

  private int equal() {
    return Math.max(1, equallyNarrow);
  }

  private static double root(double part, double count) {
    return Math.pow(part, 1 / Math.max(1, count));
  }

  /** Returns a quantile of the normal distribution, to two digits. */
  private static double normal(double part) {
    double tail = Math.min(part, 1 - part);
    double t = Math.sqrt(-2 * Math.log(Math.max(1e-300, tail)));
    double z =
        t
            - (2.515517 + t * (0.802853 + t * 0.010328))
                / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    return part < 0.5 ? -z : z;
  }

  private @Nullable Bottleneck bottleneck() {
    boolean isClosed = narrowest == null;
    Place place = isClosed ? closing : narrowest;
    if (place == null) {
      return null;
    }
    Resource resource = place.resource();
    boolean ofNode = place.kind() == Kind.RESOURCE;
    double next = Math.max(secondMillis, place.nextMillis());
    double nextOfAll = ofNode ? nextOfLevel : next;
    return new Bottleneck(
        place.kind(),
        ofNode ? nodes.levels().name(nodes.level(place.node())) : "",
        ofNode ? nodes.name(place.node()) : "",
        resource == null ? "" : resource.name(),
        place.limit(),
        isClosed ? -1 : (place.millis() - next) / 1000,
        isClosed ? -1 : (place.millis() - nextOfAll) / 1000);
  }
}
