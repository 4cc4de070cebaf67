package io.espalier.core.forecast;

import io.espalier.core.api.view.JobEta;
import io.espalier.core.api.view.JobEta.Bottleneck;
import io.espalier.core.api.view.JobEta.Kind;
import io.espalier.core.config.Job;
import io.espalier.core.config.Resource;
import io.espalier.core.config.StartRate;
import io.espalier.core.scheduling.group.GroupMembers;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
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
  private final EtaClosed closed;

  /** All that may keep tasks waiting, once it is known what is closed. */
  private final List<EtaPlaces> places = new ArrayList<>();

  private @Nullable EtaPlace narrowest;

  /** The places to which the narrowest one belongs; -1: none. */
  private int narrow = -1;

  /** How long the narrowest place takes, with a limit that is higher by one, and the next one. */
  private double narrowMillis;

  private double nextMillis;
  private double secondMillis;

  /** What is done one after the other. */
  private enum Phase {
    /** Find the nodes below which no task can run. */
    CLOSED,
    /** Compute what must be known of some places first. */
    PREPARE,
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

  private long never;
  private Phase phase = Phase.CLOSED;

  /** Where the phase is: one of the places of one kind. */
  private int at;

  private int of;

  /** How many places are about as narrow as the narrowest one, and the longest time if raised. */
  private int equallyNarrow;

  private double nextOfAllMillis;

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
    closed = new EtaClosed(left, config, scan);
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
      used +=
          switch (phase) {
            case CLOSED -> close();
            case PREPARE -> prepare(units - used);
            case WINDOWS -> findWindow();
            default -> visit();
          };
    }
    return Math.max(1, used);
  }

  private int close() {
    if (closed.isDone()) {
      endOfClosed();
    } else {
      closed.visit();
    }
    return 1;
  }

  private int prepare(int units) {
    int used = of == places.size() ? 0 : places.get(of).prepare(units);
    if (used == 0 && of < places.size()) {
      of++;
    } else if (used == 0) {
      go(Phase.NARROWEST);
    }
    return Math.max(1, used);
  }

  private int findWindow() {
    if (windows.isKnown(lastStart(MOST))) {
      go(Phase.DONE);
      return 1;
    }
    windows.findNext();
    return UNITS_PER_WINDOW;
  }

  private int visit() {
    if (of == places.size()) {
      boolean compares = phase == Phase.NARROWEST && narrowest != null;
      go(compares ? Phase.COMPARE : Phase.WINDOWS);
    } else if (at == places.get(of).size()) {
      of++;
      at = 0;
    } else if (phase == Phase.NARROWEST) {
      find(places.get(of), at++);
    } else {
      compare(places.get(of), at++);
    }
    return 1;
  }

  private void go(Phase next) {
    phase = next;
    of = 0;
    at = 0;
  }

  private void endOfClosed() {
    boolean runs = config.canRun() && !left.isHeld(job);
    long mayStart = left.left(job) - left.running(job);
    never = runs ? Math.min(left.left(job), Math.round(closed.tasksBelow(0))) : mayStart;
    if (runs && never > 0 && never >= mayStart) {
      go(Phase.WINDOWS); // Nothing is left that may start: the place that is closed is named.
      return;
    }
    for (EtaDemand demand : scan.demands()) {
      places.add(new EtaDemandPlaces(demand, left, config, pace, scan, closed));
    }
    GroupMembers groups = left.groups();
    if (groups != null) {
      places.add(new EtaGroups(groups, left, config, pace, scan, closed));
    }
    addOfJob(left.left(job) - never);
    go(Phase.PREPARE);
  }

  /** Adds what limits the job as a whole. */
  private void addOfJob(long tasks) {
    int cap = left.mostRunning(job);
    if (cap > 0) {
      places.add(new OfJob(Kind.MAX_CONCURRENT, tasks * pace.taskMillis(), cap));
    }
    if (config.scheduling().startRate().isPresent()) {
      StartRate rate = config.scheduling().startRate().get();
      // Tasks that run start again where they do not finish.
      double starts = tasks / pace.finishing() - Math.min(tasks, left.running(job));
      places.add(new OfJob(Kind.START_RATE, starts * 1000, rate.perSecond()));
    }
  }

  /** The one place where all tasks of the job wait. */
  private record OfJob(Kind kind, double work, double limit) implements EtaPlaces {
    @Override
    public int size() {
      return 1;
    }

    @Override
    public double millis(int place) {
      return work / limit;
    }

    @Override
    public double nextMillis(int place) {
      return work / (limit + 1);
    }

    @Override
    public EtaPlace place(int place) {
      return EtaPlace.ofJob(kind, limit);
    }
  }

  private void find(EtaPlaces among, int place) {
    double millis = among.millis(place);
    if (millis > narrowMillis) {
      secondMillis = narrowMillis;
      narrow = of;
      narrowMillis = millis;
      nextMillis = among.nextMillis(place);
      narrowest = among.place(place);
    } else {
      secondMillis = Math.max(secondMillis, millis);
    }
  }

  private void compare(EtaPlaces among, int place) {
    double millis = among.millis(place);
    if (of == narrow && millis >= AS_NARROW * narrowMillis) {
      equallyNarrow++;
    }
    if (millis > 0) {
      nextOfAllMillis = Math.max(nextOfAllMillis, of == narrow ? among.nextMillis(place) : millis);
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
    EtaPlace place = narrowest;
    if (place == null) {
      return longest;
    }
    double last = place.isRate() ? first : pace.restQuantile(root(part, place.slots() * equal()));
    double start = lastStart(part);
    return Math.max(longest, start + windows.delayMillis(Math.max(0, start)) + last);
  }

  /** Returns after how long the last task starts, without windows; 0: nothing narrows the job. */
  private double lastStart(double part) {
    EtaPlace place = narrowest;
    if (place == null) {
      return 0;
    }
    double chance = place.deviationMillis() * normal(root(part, equal()));
    return narrowMillis + chance - (place.isRate() ? 0 : pace.restMillis());
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
    EtaPlace place = isClosed ? closed.closing() : narrowest;
    if (place == null) {
      return null;
    }
    Resource resource = place.resource();
    double gain = narrowMillis - Math.max(secondMillis, nextMillis);
    double gainOfAll = narrowMillis - nextOfAllMillis;
    return new Bottleneck(
        place.kind(),
        place.level(),
        place.node() < 0 ? "" : nodes.name(place.node()),
        resource == null ? "" : resource.name(),
        place.name(),
        place.limit(),
        // The rate of a level is one number for all of its nodes.
        isClosed ? -1 : (place.kind() == Kind.LEVEL_START_RATE ? gainOfAll : gain) / 1000,
        isClosed ? -1 : gainOfAll / 1000);
  }
}
