package io.espalier.core.forecast;

import io.espalier.core.api.plan.PlanForecast;
import io.espalier.core.api.plan.PlanForecast.End;
import io.espalier.core.api.plan.PlanForecast.Peak;
import io.espalier.core.api.plan.PlanForecast.Use;
import io.espalier.core.api.view.JobEta;
import io.espalier.core.config.Job;
import io.espalier.core.config.Resource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Compares the ends of jobs and the use of resources as things are with those as a plan would leave
 * them (docs/adr/0077-plan-and-apply.md). Takes time that grows with the tasks left.
 */
public final class PlanForecaster {
  /** The most jobs whose ends are estimated. */
  private static final int MOST_JOBS = 10;

  /** For each end all tasks are visited; no more visits than that are made, about a second. */
  private static final long MOST_VISITS = 200_000_000;

  /** The demand of tasks that all take a millisecond is the number of slots that they need. */
  private static final JobPace UNIT = JobPace.constant(1);

  private final PlannedWork now;
  private final PlannedWork then;
  private final Map<String, JobPace> paces;
  private final long assumedMillis;
  private final long nowMillis;

  /**
   * @param paces of jobs with ended invocations, by name
   * @param assumedMillis how long the tasks of other jobs take; 0: not known
   */
  public PlanForecaster(
      PlannedWork now,
      PlannedWork then,
      Map<String, JobPace> paces,
      long assumedMillis,
      long nowMillis) {
    this.now = now;
    this.then = then;
    this.paces = Map.copyOf(paces);
    this.assumedMillis = assumedMillis;
    this.nowMillis = nowMillis;
  }

  public PlanForecast forecast() {
    Map<String, Integer> before = now.withTasks();
    Map<String, Integer> after = then.withTasks();
    Map<String, Long> left = new TreeMap<>();
    before.forEach((name, job) -> left.merge(name, now.left(job), Math::max));
    after.forEach((name, job) -> left.merge(name, then.left(job), Math::max));
    List<String> names = new ArrayList<>(left.keySet());
    names.sort(Comparator.comparing((String name) -> -left.getOrDefault(name, 0L)));
    long visits = 2 * left.values().stream().mapToLong(Long::longValue).sum();
    int most = (int) Math.min(MOST_JOBS, MOST_VISITS / Math.max(1, visits));
    List<End> ends = new ArrayList<>();
    for (String name : names.subList(0, Math.min(most, names.size()))) {
      ends.add(new End(name, eta(now, before.get(name)), eta(then, after.get(name))));
    }
    return new PlanForecast(peaks(), ends, names.size() - ends.size());
  }

  private @Nullable JobEta eta(PlannedWork work, @Nullable Integer job) {
    if (job == null) {
      return null;
    }
    String name = work.job(job).name();
    boolean isKnown = assumedMillis > 0 || paces.containsKey(name);
    JobPace pace = paces.getOrDefault(name, JobPace.constant(Math.max(1, assumedMillis)));
    EtaScan scan = new EtaScan(work, job, paces, pace);
    while (!scan.isDone()) {
      scan.step(Integer.MAX_VALUE);
    }
    EtaEstimate estimate = new EtaEstimate(work, job, pace, isKnown, scan, nowMillis);
    while (!estimate.isDone()) {
      estimate.step(Integer.MAX_VALUE);
    }
    return estimate.answer();
  }

  private List<Peak> peaks() {
    Map<String, Use> before = uses(now);
    Map<String, Use> after = uses(then);
    TreeSet<String> names = new TreeSet<>(before.keySet());
    names.addAll(after.keySet());
    List<Peak> peaks = new ArrayList<>();
    for (String name : names) {
      PlannedWork in = after.containsKey(name) ? then : now;
      Resource resource = in.config().settings().resources().find(name);
      String level = resource == null ? "" : in.config().settings().levels().name(resource.level());
      peaks.add(new Peak(level, name, before.get(name), after.get(name)));
    }
    return peaks;
  }

  /** Returns the use of each resource by its name. */
  private static Map<String, Use> uses(PlannedWork work) {
    EtaScan scan = new EtaScan(work, EtaScan.ALL, Map.of(), UNIT);
    while (!scan.isDone()) {
      scan.step(Integer.MAX_VALUE);
    }
    Map<String, Use> uses = new TreeMap<>();
    for (EtaDemand demand : scan.demands()) {
      Resource resource = Objects.requireNonNull(demand.resource());
      long slots = work.slots(resource);
      long used = Math.min(ofJobs(work, resource), slots);
      if (resource.level() < work.topology().levels().worker() && demand.size() > 0) {
        used = Math.min(used, onNodes(work, demand));
      }
      uses.put(resource.name(), new Use(used, slots));
    }
    return uses;
  }

  /** Returns the slots in use when all jobs run as many tasks as they may, now or later. */
  private static long ofJobs(PlannedWork work, Resource resource) {
    long sum = 0;
    for (int number : work.withTasks().values()) {
      Job job = work.job(number);
      int cap = work.mostRunning(number);
      boolean counts =
          work.mayStartLater(number)
              && (resource.level() <= job.level()
                  || resource.level() >= work.topology().levels().worker());
      if (counts) {
        long most = cap == 0 ? work.left(number) : Math.min(cap, work.left(number));
        sum += most * job.needs().get(resource.index());
      }
    }
    return sum;
  }

  /** Returns the slots in use when on each node as many tasks run as may. */
  private static long onNodes(PlannedWork work, EtaDemand demand) {
    double sum = 0;
    for (int place = 0; place < demand.size(); place++) {
      sum += Math.min(demand.limit(work, place), demand.work(place));
    }
    return (long) Math.ceil(sum - 1e-6);
  }
}
