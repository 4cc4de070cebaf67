package io.espalier.core.loop.watch;

import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.toSet;

import io.espalier.core.api.view.Explanation;
import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.api.view.Explanation.Reason;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.JobCapacity;
import io.espalier.core.loop.state.LoopStats;
import io.espalier.core.loop.state.RoundStep;
import io.espalier.core.loop.state.StartWindow;
import io.espalier.core.running.Invocation;
import io.espalier.core.running.LaunchSpec;
import io.espalier.core.running.TaskResult;
import io.espalier.core.running.TaskRunner;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.gate.Scope;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Bounds how many starts are in flight: placed, and not confirmed by the runner yet ({@code
 * max_starting} of the settings and of jobs, {@code max_starting_per_worker}). The {@link
 * StartWindow} of the scheduler bounds each slice of a round. That of a job or a worker closes a
 * gate of it with the start that fills it, within the round, and opens it when a start is confirmed
 * (docs/adr/0071-starts-in-flight.md).
 *
 * <p>Without a configured bound nothing is counted. For the owner of the loop.
 */
public final class StartsInFlight implements RoundStep {
  /** From when on a start is slow, from its dispatch to its confirmation, in milliseconds. */
  public static final long SLOW_MILLIS = 10_000;

  private static final int MOST_NAMED = 5;

  private static final String ARE_BEGUN = " are begun and not confirmed";

  /** Of a start that is not dispatched yet. */
  private static final long NEVER = Long.MIN_VALUE;

  private final SchedulingCore core;
  private final TaskRunner runner;
  private final Map<Invocation, Flight> flights = new HashMap<>();

  /** Null: the settings bound nothing. */
  private @Nullable StartWindow all;

  /** The windows of the jobs that have a bound, by name; replaced when it changes. */
  private Map<String, StartWindow> jobs = Map.of();

  /** How many starts of each worker may be in flight; 0: any number. */
  private int mostPerWorker;

  /**
   * The windows of the workers that were given something, by shard. An empty shard is the
   * scheduler's own host, which has all tasks, so its window bounds slices as that of the
   * scheduler.
   */
  private final Map<String, StartWindow> workers = new TreeMap<>();

  /** How many workers have a closed gate. */
  private int heldWorkers;

  private long newest;

  /** Whether the runner says when it has started a task. */
  private boolean confirms;

  /** Whether the size of a window has changed since the last step. */
  private boolean isResized;

  private @Nullable String told;

  /** A start in flight, and the windows that count it. */
  private static final class Flight {
    final List<StartWindow> windows;
    long dispatched = NEVER;

    Flight(List<StartWindow> windows) {
      this.windows = windows;
    }
  }

  public StartsInFlight(SchedulingCore core, TaskRunner runner) {
    this.core = core;
    this.runner = runner;
  }

  /**
   * Takes the configured bounds. A bound that is new or has changed becomes the size of its window;
   * what the window counts already, it goes on counting.
   */
  @Override
  public void configured(long nowMillis) {
    Config config = core.config();
    boolean before = isBounded();
    JobCapacity capacity = config.settings().capacity();
    all = configured(all, Scope.all(), capacity.maxStarting());
    mostPerWorker = capacity.maxStartingPerWorker();
    if (mostPerWorker == 0) {
      keepWorkers(Set.of());
    }
    if (!runner.outlivesScheduler()) {
      // Its window bounds the first slice, too.
      var unused = ofWorker("");
    }
    for (StartWindow worker : workers.values()) {
      worker.configured(mostPerWorker);
      follow(worker);
    }
    Map<String, StartWindow> bounded = new TreeMap<>();
    for (Job job : config.jobs().values()) {
      StartWindow known = jobs.get(job.name());
      StartWindow window = configured(known, Scope.job(job.name()), job.scheduling().maxStarting());
      if (window != null) {
        bounded.put(job.name(), window);
      }
    }
    jobs.values().stream()
        .filter(job -> !bounded.containsKey(job.scope().name()))
        .forEach(job -> setGate(job, false));
    jobs = Collections.unmodifiableMap(bounded);
    jobs.values().forEach(this::follow);
    isResized = true;
    if (before != isBounded()) {
      confirms = runner.confirmStarts(isBounded());
    }
  }

  private static @Nullable StartWindow configured(
      @Nullable StartWindow known, Scope scope, int most) {
    if (most == 0) {
      return null;
    }
    StartWindow window = known == null ? new StartWindow(scope, most) : known;
    window.configured(most);
    return window;
  }

  /** Returns whether there is a bound of anything. */
  private boolean isBounded() {
    return all != null || mostPerWorker > 0 || !jobs.isEmpty();
  }

  /** Forgets the starts on workers that have left the pool: they have been lost. */
  public void workers(List<WorkerInfo> pool) {
    if (!workers.isEmpty()) {
      keepWorkers(pool.stream().map(worker -> worker.ref().shard()).collect(toSet()));
    }
  }

  private void keepWorkers(Set<String> shards) {
    for (String shard : List.copyOf(workers.keySet())) {
      if (!shards.contains(shard)) {
        StartWindow gone = Objects.requireNonNull(workers.remove(shard));
        setGate(gone, false);
        isResized = true;
      }
    }
  }

  /** Returns whether a window closes a gate; otherwise it bounds slices, or is in force no more. */
  private boolean hasGate(StartWindow window) {
    String name = window.scope().name();
    return jobs.get(name) == window || (workers.get(name) == window && !name.isEmpty());
  }

  /** Closes the gate of a window that is full, and opens that of one that is not. */
  private void follow(StartWindow window) {
    if (hasGate(window)) {
      setGate(window, window.isFull());
    }
  }

  private void setGate(StartWindow window, boolean closes) {
    if (window.closesGate() == closes) {
      return;
    }
    window.setClosesGate(closes);
    boolean ofWorker = window.scope().kind() == Scope.Kind.WORKER;
    GateKind kind = ofWorker ? GateKind.WORKER_STARTING : GateKind.JOB_STARTING;
    if (closes) {
      core.gates().close(new Gate(kind, window.scope(), "", starts(window) + ARE_BEGUN, 0, 0));
    } else {
      core.gates().open(kind, window.scope());
    }
    if (ofWorker) {
      heldWorkers += closes ? 1 : -1;
    }
  }

  /** Returns how many more tasks may be placed now, of whatever job. */
  @Override
  public int room() {
    StartWindow host = workers.isEmpty() ? null : workers.get("");
    int room = all == null ? Integer.MAX_VALUE : all.room();
    return host == null ? room : Math.min(room, host.room());
  }

  @Override
  public boolean step(long nowMillis) {
    if (!isResized) {
      return false;
    }
    isResized = false;
    String before = told;
    told = problem();
    return !Objects.equals(before, told);
  }

  @Override
  public void problems(BiConsumer<String, @Nullable String> to) {
    to.accept("starting", told);
  }

  @Override
  public void stats(LoopStats stats) {
    stats.starting(all, jobs, heldWorkers);
  }

  /** Describes the windows that are narrow; null: none is. */
  private @Nullable String problem() {
    List<StartWindow> narrow =
        Stream.of(Stream.ofNullable(all), jobs.values().stream(), workers.values().stream())
            .flatMap(windows -> windows)
            .filter(StartWindow::isNarrow)
            .toList();
    String named =
        narrow.stream().limit(MOST_NAMED).map(StartsInFlight::problem).collect(joining("; "));
    int more = narrow.size() - MOST_NAMED;
    return narrow.isEmpty() ? null : named + (more > 0 ? "; and " + more + " more" : "");
  }

  private static String problem(StartWindow window) {
    return starts(window)
        + " are refused or slow: at most %d of %d are in flight at once"
            .formatted(window.size(), window.most());
  }

  private static String starts(StartWindow window) {
    String name = window.scope().name();
    return switch (window.scope().kind()) {
      case JOB -> "starts of job " + name;
      case WORKER -> name.isEmpty() ? "starts on this host" : "starts on worker " + name;
      default -> "starts";
    };
  }

  /** Completes an explanation with the windows that are full, and with their numbers. */
  public Explanation explained(Explanation explained) {
    List<Reason> reasons = new ArrayList<>();
    boolean isOtherwiseOpen = true;
    for (Reason reason : explained.reasons()) {
      StartWindow full = reason.kind() == Kind.STARTING ? of(explained.job(), reason) : null;
      reasons.add(full == null ? reason : reason(full, reason.node(), reason.message()));
      isOtherwiseOpen &= full != null;
    }
    // The core does not know these windows: they bound how many tasks it may place.
    for (StartWindow window : new @Nullable StartWindow[] {all, workers.get("")}) {
      if (isOtherwiseOpen && window != null && window.isFull()) {
        reasons.add(reason(window, null, starts(window) + ARE_BEGUN));
      }
    }
    return reasons.equals(explained.reasons()) ? explained : explained.withReasons(reasons);
  }

  private @Nullable StartWindow of(String job, Reason reason) {
    String shard = reason.node();
    return shard == null ? jobs.get(job) : workers.get(shard);
  }

  private static Reason reason(StartWindow window, @Nullable String node, String message) {
    String key =
        switch (window.scope().kind()) {
          case JOB -> "its \"max_starting\"";
          case WORKER -> "\"max_starting_per_worker\"";
          default -> "\"max_starting\"";
        };
    String narrowed = window.size() == window.most() ? "" : ", because some were refused or slow";
    return Reason.of(
            Kind.STARTING,
            node,
            "%d %s, %s (%d) lets %d be now%s"
                .formatted(window.inFlight(), message, key, window.most(), window.size(), narrowed))
        .lacking(null, 1, window.size() - window.inFlight(), window.size());
  }

  /** A task was placed, in a round or with the next step of one that goes on. */
  public void placed(LaunchSpec start) {
    if (!isBounded()) {
      return;
    }
    newest = start.invocation().sequence();
    List<StartWindow> windows =
        Stream.of(all, jobs.get(start.job()), ofWorker(start.worker().shard()))
            .flatMap(Stream::ofNullable)
            .toList();
    if (windows.isEmpty()) {
      return;
    }
    flights.put(start.invocation(), new Flight(windows));
    for (StartWindow window : windows) {
      window.placed();
      follow(window);
    }
  }

  private @Nullable StartWindow ofWorker(String shard) {
    return mostPerWorker == 0
        ? null
        : workers.computeIfAbsent(
            shard, each -> new StartWindow(Scope.worker(each), mostPerWorker));
  }

  /** A start is about to be handed to the runner. */
  public void dispatched(Invocation start, long nowMillis) {
    Flight flight = flights.isEmpty() ? null : flights.get(start);
    if (flight != null) {
      flight.dispatched = nowMillis;
    }
  }

  /** A start was handed to the runner. */
  public void handed(Invocation start, long nowMillis) {
    if (!confirms) {
      confirmed(start, nowMillis);
    }
  }

  /** A start is confirmed. */
  public void confirmed(Invocation start, long nowMillis) {
    Flight flight = flights.isEmpty() ? null : flights.remove(start);
    if (flight != null) {
      boolean isSlow = flight.dispatched != NEVER && nowMillis - flight.dispatched > SLOW_MILLIS;
      landed(flight, window -> settle(window, start, isSlow));
    }
  }

  /** An invocation has ended; the runner need not have confirmed its start. */
  public void ended(TaskResult end, long nowMillis) {
    Flight flight = flights.isEmpty() ? null : flights.get(end.invocation());
    if (flight == null) {
      return;
    }
    boolean isRefused =
        end.kind() == TaskResult.Kind.NOT_STARTED || end.kind() == TaskResult.Kind.LOST;
    if (flight.dispatched != NEVER && !isRefused) {
      confirmed(end.invocation(), nowMillis);
      return;
    }
    flights.remove(end.invocation());
    // What was never dispatched, the scheduler itself took back.
    landed(
        flight,
        flight.dispatched == NEVER
            ? StartWindow::left
            : window -> settle(window, end.invocation(), true));
  }

  private void settle(StartWindow window, Invocation start, boolean hasFailed) {
    int before = window.size();
    if (hasFailed) {
      window.failed(start.sequence(), newest);
    } else {
      window.succeeded();
    }
    isResized |= window.size() != before;
  }

  private void landed(Flight flight, Consumer<StartWindow> what) {
    for (StartWindow window : flight.windows) {
      what.accept(window);
      follow(window);
    }
  }
}
