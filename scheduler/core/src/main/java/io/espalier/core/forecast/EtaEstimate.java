package io.espalier.core.forecast;

import io.espalier.core.api.view.JobEta;
import io.espalier.core.api.view.JobEta.Bottleneck;
import io.espalier.core.api.view.JobEta.Kind;
import io.espalier.core.api.view.JobProgress;
import io.espalier.core.config.Job;
import io.espalier.core.config.Resource;
import io.espalier.core.config.StartRate;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.topology.Topology;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Computes when a job ends from an {@link EtaScan}. The job cannot end before the work at its
 * narrowest place is done at the full limit there; to this are added what chance does to the work
 * of the places that are as narrow, and the rest of the tasks that run when the last one starts.
 */
public final class EtaEstimate {
  /** Places that take at least this part of the longest time count as equally narrow. */
  private static final double AS_NARROW = 0.9;

  private final SchedulingCore core;
  private final Topology nodes;
  private final Job config;
  private final JobPace pace;
  private final EtaScan scan;

  private @Nullable Place narrowest;
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

  private EtaEstimate(SchedulingCore core, Job config, JobPace pace, EtaScan scan) {
    this.core = core;
    this.nodes = core.topology();
    this.config = config;
    this.pace = pace;
    this.scan = scan;
  }

  /**
   * Computes the end of a job. It takes time proportional to the number of nodes looked at.
   *
   * @param pace of the job
   * @param isKnown whether that pace was measured or given; otherwise there is no time in the
   *     answer
   * @param scan a complete one of that job
   */
  public static JobEta of(
      SchedulingCore core, int job, JobPace pace, boolean isKnown, EtaScan scan, long nowMillis) {
    Job config = core.job(job);
    JobProgress progress = core.tasks().progress(job);
    if (config == null || progress.left() == 0) {
      return new JobEta(core.jobName(job), nowMillis, 0, 0, 0, 0, null);
    }
    EtaEstimate estimate = new EtaEstimate(core, config, pace, scan);
    long never = estimate.never(progress);
    estimate.find(progress.left() - never);
    double p50 = isKnown ? estimate.quantile(progress, never, 0.5) / 1000 : -1;
    double p90 = isKnown ? estimate.quantile(progress, never, 0.9) / 1000 : -1;
    return new JobEta(
        core.jobName(job), nowMillis, progress.left(), never, p50, p90, estimate.bottleneck());
  }

  /** Returns the tasks that cannot run: their job may not start any, or a limit is too low. */
  private long never(JobProgress progress) {
    if (!config.canRun() || isHeld()) {
      return progress.left() - progress.running();
    }
    double sum = 0;
    boolean[] closed = new boolean[scan.size()];
    for (int node = 0; node < closed.length; node++) {
      int parent = node == 0 ? -1 : nodes.parent(nodes.slot(node, 0));
      boolean above = parent >= 0 && closed[parent];
      closed[node] = above || isTooLow(node);
      sum += closed[node] && !above ? scan.own(node) : 0;
    }
    return Math.min(progress.left(), Math.round(sum));
  }

  /** Returns whether somebody or the end of the job keeps it; what only has to wait is not held. */
  private boolean isHeld() {
    return core.isEnded(config.name())
        || core.gate(GateKind.PAUSE, config.name()) != null
        || core.gate(GateKind.JOB_BRAKE, config.name()) != null;
  }

  private boolean isTooLow(int node) {
    for (Resource resource : core.config().settings().resources().ofLevel(nodes.level(node))) {
      if (core.capacity().limit(node, resource.index()) < config.needs().get(resource.index())) {
        return true;
      }
    }
    return false;
  }

  private void find(long tasks) {
    for (EtaDemand demand : scan.demands()) {
      Resource resource = demand.resource();
      double need = config.needs().get(resource.index());
      boolean ofWorkers = resource.level() >= nodes.levels().worker();
      for (int i = 0; need > 0 && i < demand.size(); i++) {
        int node = demand.first() + i;
        double limit =
            ofWorkers ? ofWorkers(resource) : core.capacity().limit(node, resource.index());
        if (demand.work(i) > 0 && limit >= need && (ofWorkers || scan.own(node) > 0)) {
          take(
              new Place(
                  ofWorkers ? Kind.WORKERS : Kind.RESOURCE,
                  ofWorkers ? -1 : node,
                  resource,
                  limit,
                  need,
                  demand.work(i) / limit,
                  demand.work(i) / (limit + 1),
                  demand.deviation(i) / limit));
        }
      }
    }
    int cap = mostRunning();
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

  private int mostRunning() {
    int most =
        config.scheduling().maxConcurrent() == 0
            ? Integer.MAX_VALUE
            : config.scheduling().maxConcurrent();
    for (var cap : core.capacity().caps()) {
      if (cap.scope().equals(Scope.job(config.name()))) {
        most = Math.min(most, cap.most());
      }
    }
    return most == Integer.MAX_VALUE ? 0 : most;
  }

  private double ofWorkers(Resource resource) {
    List<WorkerInfo> pool = core.capacity().workers();
    long taking = pool == null ? 0 : pool.stream().filter(WorkerInfo::takesTasks).count();
    boolean isLocal = pool != null && pool.size() == 1 && pool.get(0).ref().isLocal();
    return (double) resource.limit() * (isLocal ? 1 : taking);
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

  /** Returns the time until all is over that this part of the cases does not exceed. */
  private double quantile(JobProgress progress, long never, double part) {
    long ready = Math.max(0, progress.left() - never - progress.running());
    double longest =
        progress.running() == 0 ? 0 : pace.restQuantile(root(part, (double) progress.running()));
    if (ready > 0) {
      longest = Math.max(longest, pace.quantile(root(part, Math.min((double) ready, 1_000.0))));
    }
    Place place = narrowest;
    if (place == null) {
      return longest;
    }
    int equal = equallyNarrow(place);
    double slots = Math.max(1, place.limit() / place.need());
    double last =
        place.kind() == Kind.START_RATE ? longest : pace.restQuantile(root(part, slots * equal));
    double none = place.kind() == Kind.START_RATE ? 0 : pace.restMillis();
    double chance = place.deviationMillis() * normal(root(part, equal));
    return Math.max(longest, place.millis() + chance - none + last);
  }

  /** Returns the number of nodes with the same resource that take about as long. */
  private int equallyNarrow(Place place) {
    Resource resource = place.resource();
    if (resource == null || place.kind() != Kind.RESOURCE) {
      return 1;
    }
    EtaDemand demand = scan.demands().get(resource.index());
    int count = 0;
    for (int i = 0; i < demand.size(); i++) {
      double limit = core.capacity().limit(demand.first() + i, resource.index());
      count += limit > 0 && demand.work(i) / limit >= AS_NARROW * place.millis() ? 1 : 0;
    }
    return Math.max(1, count);
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
    Place place = narrowest;
    if (place == null) {
      return null;
    }
    Resource resource = place.resource();
    boolean ofNode = place.kind() == Kind.RESOURCE;
    double next = Math.max(secondMillis, place.nextMillis());
    return new Bottleneck(
        place.kind(),
        ofNode ? nodes.levels().name(nodes.level(place.node())) : "",
        ofNode ? nodes.name(place.node()) : "",
        resource == null ? "" : resource.name(),
        place.limit(),
        (place.millis() - next) / 1000,
        (place.millis() - (ofNode && resource != null ? nextOfLevel(resource) : next)) / 1000);
  }

  /** Returns the longest time with limits of a resource that are higher by one on all nodes. */
  private double nextOfLevel(Resource raised) {
    double most = 0;
    for (EtaDemand demand : scan.demands()) {
      Resource resource = demand.resource();
      boolean ofWorkers = resource.level() >= nodes.levels().worker();
      double more = resource.index() == raised.index() ? 1 : 0;
      for (int i = 0; i < demand.size(); i++) {
        double limit =
            ofWorkers
                ? ofWorkers(resource)
                : core.capacity().limit(demand.first() + i, resource.index());
        boolean counts = limit >= Math.max(1, config.needs().get(resource.index()));
        most = counts ? Math.max(most, demand.work(i) / (limit + more)) : most;
      }
    }
    return most;
  }
}
