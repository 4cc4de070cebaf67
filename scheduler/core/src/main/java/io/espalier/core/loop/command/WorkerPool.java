package io.espalier.core.loop.command;

import static java.util.stream.Collectors.toMap;

import io.espalier.core.api.Command;
import io.espalier.core.api.RefusedException;
import io.espalier.core.api.view.WorkerView;
import io.espalier.core.event.EventKind;
import io.espalier.core.json.Json;
import io.espalier.core.loop.state.LiveTasks;
import io.espalier.core.loop.state.LoopEvents;
import io.espalier.core.problem.Problem;
import io.espalier.core.running.HostFigures;
import io.espalier.core.running.MeasuredLoad;
import io.espalier.core.running.TaskRunner;
import io.espalier.core.running.WorkerCordon;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.running.WorkerInfo.State;
import io.espalier.core.running.WorkerRef;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.worker.WorkerUtilization;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The workers as placement and operators see them: the workers that the runner reports, and the
 * cordons that operators set on their shards. A runner without a pool counts as one worker, the
 * scheduler's own host: it has the resources of the worker level, but filters and placement rules
 * do not apply to it.
 */
public final class WorkerPool {
  /** The path of problems of workers. */
  private static final String WORKERS = "workers";

  private static final int MOST_NAMED = 20;

  private final SchedulingCore core;
  private final LiveTasks live;
  private final LoopEvents events;
  private final TaskRunner runner;
  private final boolean local;
  private final Map<String, WorkerCordon> cordons = new TreeMap<>();
  private List<WorkerInfo> workers;

  /** Whether workers have measured what the core was not told, because nothing there reads it. */
  private boolean hasUntold;

  public WorkerPool(
      SchedulingCore core,
      LiveTasks live,
      LoopEvents events,
      TaskRunner runner,
      String workerHost) {
    this.core = core;
    this.live = live;
    this.events = events;
    this.runner = runner;
    local = !runner.outlivesScheduler();
    workers = local ? List.of(self(workerHost, runner.physical())) : List.of();
    core.workers(workers);
  }

  private static WorkerInfo self(String host, Map<String, Long> physical) {
    return WorkerInfo.of(WorkerRef.LOCAL, host).physical(physical).build();
  }

  /** The name of a worker: its shard, or the shard of the scheduler's own host. */
  public String name(WorkerRef ref) {
    return ref.isLocal() ? runner.shard() : ref.shard();
  }

  /** The host of a running task's worker, as shown to tasks. */
  public String hostOf(long run, String ownHost) {
    WorkerInfo worker = core.running().worker(run);
    return worker == null || worker.ref().isLocal() ? ownHost : worker.host();
  }

  /** The worker on which a task that was just placed will run. */
  public WorkerRef of(long run) {
    WorkerInfo worker = core.running().worker(run);
    return worker == null ? WorkerRef.LOCAL : worker.ref();
  }

  /**
   * Replaces the whole pool with the workers that the runner reports now. The core is told of new
   * measurements only if the choice of a worker depends on them.
   */
  public void set(List<WorkerInfo> newest, long nowMillis) {
    Map<String, WorkerInfo> before = new HashMap<>();
    workers.forEach(worker -> before.put(worker.ref().shard(), worker));
    for (WorkerInfo worker : newest) {
      WorkerInfo old = before.remove(worker.ref().shard());
      if (old == null || old.state() != worker.state() || !old.ref().equals(worker.ref())) {
        changed(worker, label(worker.state()), nowMillis);
      }
    }
    before.values().forEach(worker -> changed(worker, "gone", nowMillis));
    boolean isNews = core.capacity().readsMeasurements() || differs(newest);
    workers = List.copyOf(newest);
    if (isNews) {
      tellCore();
    } else {
      hasUntold = true;
    }
  }

  /** Returns whether the pool differs in more than what its workers have measured, and when. */
  private boolean differs(List<WorkerInfo> newest) {
    if (newest.size() != workers.size()) {
      return true;
    }
    for (int i = 0; i < newest.size(); i++) {
      WorkerInfo old = workers.get(i);
      WorkerInfo worker = newest.get(i);
      if (!old.with()
          .measured(worker.measured())
          .figures(worker.figures())
          .lastSeenMillis(worker.lastSeenMillis())
          .build()
          .equals(worker)) {
        return true;
      }
    }
    return false;
  }

  /** After each change of the configuration. */
  public void configured() {
    if (hasUntold && core.capacity().readsMeasurements()) {
      tellCore();
    }
  }

  private void changed(WorkerInfo worker, String state, long nowMillis) {
    events.add(
        nowMillis,
        EventKind.WORKER_CHANGED,
        Json.object()
            .put("worker", name(worker.ref()))
            .put("host", worker.host())
            .put("state", state)
            .put("note", worker.note())
            .build());
  }

  private void tellCore() {
    List<WorkerInfo> heeded = new ArrayList<>(workers.size());
    for (WorkerInfo worker : workers) {
      boolean cordoned = worker.cordoned() || cordons.containsKey(worker.ref().shard());
      heeded.add(worker.withCordoned(cordoned));
    }
    core.workers(heeded);
    hasUntold = false;
  }

  // ---- cordons

  /** Restores cordons after a restart. */
  public void restore(List<WorkerCordon> stored) {
    stored.forEach(cordon -> cordons.put(cordon.shard(), cordon));
    tellCore();
    runner.cordons(List.copyOf(cordons.values()));
  }

  /**
   * Cordons a worker.
   *
   * @throws RefusedException for an unknown worker, and for the scheduler's own host
   */
  public WorkerCordon cordon(Command.Cordon command, long nowMillis) {
    String shard = command.worker();
    if (local) {
      throw new RefusedException(
          RefusedException.Reason.CONFLICT,
          "the runner "
              + runner.name()
              + " has no workers: tasks run on the scheduler's own host; pause the jobs instead");
    }
    if (!isKnown(shard)) {
      throw new RefusedException(RefusedException.Reason.UNKNOWN, "no such worker: " + shard);
    }
    WorkerCordon cordon =
        new WorkerCordon(shard, command.kind(), command.author(), command.reason(), nowMillis);
    cordons.put(shard, cordon);
    held(
        cordon.kind() == WorkerCordon.Kind.DRAIN
            ? EventKind.WORKER_DRAINED
            : EventKind.WORKER_CORDONED,
        shard,
        command,
        nowMillis);
    return cordon;
  }

  /**
   * Ends the cordon of a worker.
   *
   * @throws RefusedException when the worker is not cordoned
   */
  public void uncordon(Command.Uncordon command, long nowMillis) {
    String shard = command.worker();
    if (cordons.remove(shard) == null) {
      throw new RefusedException(
          isKnown(shard) ? RefusedException.Reason.CONFLICT : RefusedException.Reason.UNKNOWN,
          isKnown(shard)
              ? "worker " + shard + " is neither cordoned nor drained"
              : "no such worker: " + shard);
    }
    held(EventKind.WORKER_UNCORDONED, shard, command, nowMillis);
  }

  private void held(EventKind event, String shard, Command<?> command, long nowMillis) {
    tellCore();
    runner.cordons(List.copyOf(cordons.values()));
    Json.Builder data = Json.object().put("worker", shard).put("reason", command.reason());
    events.add(nowMillis, event, LoopEvents.by(command, data).build());
  }

  private boolean isKnown(String shard) {
    return cordons.containsKey(shard)
        || workers.stream().anyMatch(worker -> worker.ref().shard().equals(shard));
  }

  // ---- views

  /** All workers by name: those of the pool, and others that still run tasks or are cordoned. */
  public List<WorkerView> view() {
    Map<String, WorkerUtilization> uses = new TreeMap<>();
    core.capacity().workerUse().forEach(use -> uses.put(use.shard(), use));
    Map<String, String> starting =
        core.gates().of(GateKind.WORKER_STARTING).stream()
            .collect(toMap(gate -> gate.scope().name(), Gate::reason));
    List<WorkerView> views = new ArrayList<>();
    for (WorkerInfo worker : workers) {
      String shard = worker.ref().shard();
      WorkerUtilization use = uses.getOrDefault(shard, new WorkerUtilization("", 0, List.of()));
      views.add(view(worker, use, note(worker, starting.get(shard))));
    }
    for (String shard : cordons.keySet()) {
      uses.putIfAbsent(shard, new WorkerUtilization(shard, 0, List.of()));
    }
    for (WorkerInfo worker : workers) {
      uses.remove(worker.ref().shard());
    }
    uses.values().forEach(use -> views.add(gone(use)));
    views.sort(Comparator.comparing(view -> view.ref().shard()));
    return views;
  }

  /**
   * Returns a problem for each shard whose worker is unhealthy or lost, up to a limit, and one more
   * with the number of the rest. A worker that comes back, or another one for its shard, ends it.
   */
  public List<Problem> problems() {
    SortedMap<String, WorkerInfo> bad = new TreeMap<>();
    for (WorkerInfo worker : workers) {
      if (isBad(worker)) {
        bad.put(worker.ref().shard(), worker);
      }
    }
    if (bad.isEmpty()) {
      return List.of();
    }
    workers.stream().filter(worker -> !isBad(worker)).forEach(w -> bad.remove(w.ref().shard()));
    List<Problem> problems = new ArrayList<>();
    bad.forEach(
        (shard, worker) -> {
          if (problems.size() < MOST_NAMED) {
            String why = worker.note().isEmpty() ? "" : ": " + worker.note();
            problems.add(
                Problem.warning(
                    WORKERS, shard + " is " + label(worker.state()) + " and gets no tasks" + why));
          }
        });
    if (bad.size() > MOST_NAMED) {
      problems.add(
          Problem.warning(WORKERS, (bad.size() - MOST_NAMED) + " more workers get no tasks"));
    }
    return problems;
  }

  private static boolean isBad(WorkerInfo worker) {
    return worker.state() == State.UNHEALTHY || worker.state() == State.LOST;
  }

  public WorkerView view(String shard) {
    return view().stream()
        .filter(worker -> worker.ref().shard().equals(shard))
        .findFirst()
        .orElseGet(() -> gone(new WorkerUtilization(shard, 0, List.of())));
  }

  private WorkerView gone(WorkerUtilization use) {
    return new WorkerView(
        new WorkerRef(use.shard(), 0),
        "",
        "",
        Map.of(),
        "gone",
        false,
        cordons.get(use.shard()),
        use.tasks(),
        0,
        use.slots(),
        0,
        0,
        "not in the pool" + (use.tasks() == 0 ? "" : "; tasks that it was given have not ended"),
        MeasuredLoad.UNKNOWN,
        HostFigures.UNKNOWN,
        0);
  }

  private static String note(WorkerInfo worker, @Nullable String starting) {
    return starting == null || !worker.note().isEmpty()
        ? worker.note()
        : starting + ": max_starting_per_worker lets no more begin now";
  }

  private WorkerView view(WorkerInfo worker, WorkerUtilization use, String note) {
    @Nullable WorkerCordon cordon = cordons.get(worker.ref().shard());
    boolean drains = cordon != null && cordon.kind() == WorkerCordon.Kind.DRAIN;
    return new WorkerView(
        new WorkerRef(name(worker.ref()), worker.ref().instance()),
        worker.host(),
        worker.address(),
        worker.labels(),
        label(drains && worker.state() == State.HEALTHY ? State.DRAINING : worker.state()),
        worker.takesTasks() && cordon == null,
        cordon,
        worker.ref().isLocal() ? live.size() : use.tasks(),
        worker.maxTasks(),
        use.slots(),
        worker.sinceMillis(),
        Math.max(worker.lastSeenMillis(), runner.lastSeenMillis(worker.ref())),
        note,
        worker.measured(),
        worker.figures(),
        hasMeasured(worker) ? worker.lastSeenMillis() : 0);
  }

  private static boolean hasMeasured(WorkerInfo worker) {
    return worker.measured().fullest() >= 0 || !worker.figures().equals(HostFigures.UNKNOWN);
  }

  private static String label(State state) {
    return state.name().toLowerCase(Locale.ROOT);
  }
}
