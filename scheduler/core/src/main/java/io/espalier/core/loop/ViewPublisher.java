package io.espalier.core.loop;

import io.espalier.core.api.view.JobProgress;
import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.api.view.WatchdogFindings;
import io.espalier.core.config.Config;
import io.espalier.core.loop.command.BrakeCommands;
import io.espalier.core.loop.command.PauseRegistry;
import io.espalier.core.loop.command.WorkerPool;
import io.espalier.core.loop.health.HealthLimits;
import io.espalier.core.loop.query.ProgressTable;
import io.espalier.core.loop.rollout.RolloutTracker;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.loop.state.Throughput;
import io.espalier.core.loop.watch.JobStateTracker;
import io.espalier.core.loop.watch.NeverStarts;
import io.espalier.core.loop.watch.Quarantines;
import io.espalier.core.loop.watch.WindowGates;
import io.espalier.core.problem.Problem;
import io.espalier.core.scheduling.SchedulingCore;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Publishes the view that monitors read, at a limited rate. */
final class ViewPublisher {
  /** The longest interval between two views of an idle scheduler; shows that it is healthy. */
  private static final long HEARTBEAT_MILLIS = 1_000;

  /** The shortest interval between two views that somebody waits for. */
  private static final long AWAITED_MILLIS = 10;

  private final SchedulingCore core;
  private final LiveTasks live;
  private final String shard;
  private final JobStateTracker jobStates;
  private final PauseRegistry pauses;
  private final BrakeCommands brakes;
  private final WindowGates windows;
  private final HealthLimits health;
  private final RolloutTracker rollouts;
  private final Quarantines quarantines;
  private final NeverStarts never;
  private final WorkerPool pool;
  private final ProgressTable progress;
  private final Map<String, String> errors = new TreeMap<>();
  private List<Problem> configProblems = List.of();
  private WatchdogFindings findings = WatchdogFindings.NONE;
  private boolean dirty = true;
  private boolean hasConfig;
  private long nodesAtMillis;
  private long publishedAt = Long.MIN_VALUE / 2;

  /**
   * Whether a view was made and not published yet; monitors are notified of that at {@code
   * remindAt}.
   */
  private boolean waits;

  private long remindAt;

  private SchedulerView latest = SchedulerView.EMPTY;

  /** Those that wait for a view made from now on. */
  private List<CompletableFuture<@Nullable Void>> awaiting = new ArrayList<>();

  ViewPublisher(
      SchedulingCore core,
      LiveTasks live,
      String shard,
      JobStateTracker jobStates,
      Throughput throughput,
      PauseRegistry pauses,
      BrakeCommands brakes,
      WindowGates windows,
      HealthLimits health,
      RolloutTracker rollouts,
      Quarantines quarantines,
      NeverStarts never,
      WorkerPool pool) {
    this.core = core;
    this.live = live;
    this.shard = shard;
    this.jobStates = jobStates;
    this.pauses = pauses;
    this.brakes = brakes;
    this.windows = windows;
    this.health = health;
    this.rollouts = rollouts;
    this.quarantines = quarantines;
    this.never = never;
    this.pool = pool;
    this.progress = new ProgressTable(core, throughput);
  }

  void changed() {
    dirty = true;
  }

  /** Completes the given stage once a view of what has happened so far is published. */
  void await(CompletableFuture<@Nullable Void> shown) {
    awaiting.add(shown);
  }

  void inForce(long nodesFetchedAtMillis) {
    hasConfig = true;
    nodesAtMillis = nodesFetchedAtMillis;
    dirty = true;
  }

  void configProblems(List<Problem> problems) {
    configProblems = List.copyOf(problems);
    dirty = true;
  }

  /** The problems of the configuration, of the nodes that its sources deliver, and of workers. */
  private List<Problem> problems() {
    List<Problem> ofNodes = hasConfig ? core.capacity().nodeProblems() : List.of();
    List<Problem> stuck = hasConfig ? jobStates.stuck() : List.of();
    List<Problem> ofTasks = hasConfig ? never.problems() : List.of();
    List<Problem> ofWorkers = pool.problems();
    if (ofNodes.isEmpty() && stuck.isEmpty() && ofTasks.isEmpty() && ofWorkers.isEmpty()) {
      return configProblems;
    }
    List<Problem> all = new ArrayList<>(configProblems);
    all.addAll(ofWorkers);
    all.addAll(stuck);
    all.addAll(ofTasks);
    // A problem that the parser found without knowing the nodes is listed only once.
    Set<String> said = configProblems.stream().map(Problem::path).collect(Collectors.toSet());
    ofNodes.stream().filter(p -> p.path().isEmpty() || !said.contains(p.path())).forEach(all::add);
    return all;
  }

  void error(String source, @Nullable String message) {
    String before = message == null ? errors.remove(source) : errors.put(source, message);
    dirty |= message == null ? before != null : !message.equals(before);
  }

  /** All current errors by source. */
  Map<String, String> problemsNow() {
    return errors(core.config());
  }

  void found(WatchdogFindings newest) {
    findings = newest;
  }

  /**
   * Makes a view when something has changed and the last one is old enough, and publishes it once
   * everything that it shows is durable: a crash must not take back what monitors have seen.
   */
  void step(long nowMillis, Committer committer, Consumer<SchedulerView> to) {
    SchedulerView view = makeIfDue(nowMillis);
    if (view != null) {
      List<CompletableFuture<@Nullable Void>> shown = awaiting;
      awaiting = new ArrayList<>();
      if (committer.isDurable()) {
        publish(view, shown, nowMillis, to);
      } else {
        committer.whenDurable(now -> publish(view, shown, now, to));
      }
    }
    remind(nowMillis, to);
  }

  /** Returns null when it is too early, or when the previous view is not published yet. */
  private @Nullable SchedulerView makeIfDue(long nowMillis) {
    if (waits || nowMillis < due()) {
      return null;
    }
    waits = true;
    remindAt = nowMillis + HEARTBEAT_MILLIS;
    SchedulerView made = view(nowMillis);
    dirty = false;
    return made;
  }

  private long due() {
    if (!awaiting.isEmpty()) {
      return publishedAt + AWAITED_MILLIS;
    }
    return publishedAt + (dirty ? SchedulerLoop.VIEW_MILLIS : HEARTBEAT_MILLIS);
  }

  /** Publishes a view; everything that it shows must be durable. */
  private void publish(
      SchedulerView view,
      List<CompletableFuture<@Nullable Void>> shown,
      long nowMillis,
      Consumer<SchedulerView> views) {
    waits = false;
    error(SchedulerView.BEHIND, null);
    latest = view;
    publishedAt = nowMillis;
    views.accept(latest);
    shown.forEach(stage -> stage.complete(null));
  }

  /**
   * Publishes the last durable view again while the store is slow or unavailable, with an error
   * that explains the delay. This also shows that the scheduler is alive.
   */
  private void remind(long nowMillis, Consumer<SchedulerView> views) {
    if (!waits || nowMillis < remindAt) {
      return;
    }
    remindAt = nowMillis + HEARTBEAT_MILLIS;
    error(
        SchedulerView.BEHIND,
        "the latest results are not durable yet, and are shown only once they are");
    latest =
        latest
            .with()
            .errors(errors(latest.config()))
            .configProblems(problems())
            .findings(findings)
            .publishedAtMillis(nowMillis)
            .build();
    views.accept(latest);
  }

  /** When to call {@link #step} again. */
  long nextMillis() {
    return waits ? remindAt : due();
  }

  Map<String, JobProgress> progress() {
    return hasConfig ? progress.counts() : Map.of();
  }

  /** All errors, plus those that keep all jobs from starting tasks because of the configuration. */
  private Map<String, String> errors(@Nullable Config config) {
    Map<String, String> all = new TreeMap<>(errors);
    if (config != null && !config.settings().enabled()) {
      all.put(
          SchedulerView.SETTINGS, "the scheduler is disabled in its settings: nothing is started");
    }
    configProblems.stream()
        .filter(problem -> problem.isError() && !problem.path().startsWith(Config.JOB_KEY))
        .findFirst()
        .ifPresent(
            problem ->
                all.put(
                    SchedulerView.CONFIGURATION,
                    (config == null
                            ? "no configuration is in force, so that nothing is started: "
                            : "the newest one has errors, the last good one is in force: ")
                        + problem));
    return Map.copyOf(all);
  }

  private SchedulerView view(long nowMillis) {
    Config config = hasConfig ? core.config() : null;
    return new SchedulerView(
        config,
        problems(),
        config == null ? null : core.topology(),
        nodesAtMillis,
        config == null ? Map.of() : progress.paced(never.jobs(), nowMillis, !dirty),
        live.view(shard),
        errors(config),
        pauses.all(),
        brakes.view(nowMillis),
        windows.view(),
        config == null ? List.of() : health.view(nowMillis),
        rollouts.view(),
        quarantines.all(),
        config == null ? Map.of() : jobStates.all(),
        findings,
        nowMillis);
  }
}
