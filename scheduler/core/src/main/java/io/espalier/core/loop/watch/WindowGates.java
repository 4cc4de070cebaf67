package io.espalier.core.loop.watch;

import io.espalier.core.api.view.WindowView;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.JobScheduling;
import io.espalier.core.config.QueueSpec;
import io.espalier.core.config.window.OpenTimes;
import io.espalier.core.config.window.OpenTimes.Opening;
import io.espalier.core.config.window.Schedule;
import io.espalier.core.event.EventKind;
import io.espalier.core.json.Json;
import io.espalier.core.loop.state.LiveTasks.Live;
import io.espalier.core.loop.state.LoopEvents;
import io.espalier.core.loop.state.RoundStep;
import io.espalier.core.loop.state.Throughput;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.scheduling.window.MissedWindow;
import io.espalier.core.scheduling.window.NodeWindowGates;
import io.espalier.core.scheduling.window.WindowCutoff;
import io.espalier.core.scheduling.window.WindowMessages;
import io.espalier.core.status.store.StoreTransaction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Closes jobs and nodes outside of their windows. Which gates there are to be is computed from the
 * schedules and then compared with those of the core, which knows nothing of schedules and time
 * zones (docs/adr/0070-windows.md). Jobs with the same schedules share the computed times.
 */
public final class WindowGates implements RoundStep {
  private static final long RECHECK_MILLIS = 60_000;

  /** The maximum number of jobs that a problem names. */
  private static final int MOST_NAMED = 20;

  private final SchedulingCore core;
  private final LoopEvents events;
  private final Throughput throughput;
  private final Supplier<StoreTransaction.Builder> batch;
  private final Map<List<Schedule>, OpenTimes> times = new HashMap<>();
  private final NodeWindowGates nodes;

  /** By {@link Owner}, or by group of nodes. */
  private final Map<Object, WindowView> views = new LinkedHashMap<>();

  /** Problems of jobs whose tasks fit into no window. */
  private final List<String> tooLong = new ArrayList<>();

  private @Nullable Config config;
  private List<Owner> owners = List.of();
  private List<Job> jobs = List.of();
  private long next = Long.MAX_VALUE;
  private long opens = Long.MAX_VALUE;
  private long changes;

  /** Whether everything of the first configuration was seen once. */
  private boolean hasBegun;

  /** When durations are stored next, at the earliest. */
  private long nextStored;

  /** Whose schedule it is: that of the settings if both names are empty. */
  private record Owner(String queue, String job, Schedule schedule) {
    String words() {
      return queue.isEmpty() ? job.isEmpty() ? "the settings" : "job " + job : "queue " + queue;
    }
  }

  /**
   * @param batch returns the changes that are being collected for the store
   */
  public WindowGates(
      SchedulingCore core,
      LoopEvents events,
      Throughput throughput,
      Supplier<StoreTransaction.Builder> batch) {
    this.core = core;
    this.events = events;
    this.throughput = throughput;
    this.batch = batch;
    this.nodes = new NodeWindowGates(core, this::takes, RECHECK_MILLIS);
  }

  /**
   * Opens and closes what is due, and everything that another configuration asks for. Returns true
   * when something may have changed.
   */
  @Override
  public boolean step(long nowMillis) {
    boolean jobsChanged = stepJobs(nowMillis);
    boolean nodesChanged = nodes.step(nowMillis);
    if (nodesChanged) {
      updateNodes(nowMillis);
    }
    hasBegun |= !nodes.isBehind();
    nodes.count().forEach(missed -> tell(missed, nowMillis));
    changes += jobsChanged || nodesChanged ? 1 : 0;
    if ((jobsChanged || nodesChanged) && nowMillis >= nextStored) {
      nextStored = nowMillis + RECHECK_MILLIS;
      throughput.changed().forEach(batch.get()::durations);
    }
    return jobsChanged || nodesChanged;
  }

  @Override
  public boolean isBehind() {
    return nodes.isBehind() || nodes.isCounting();
  }

  /** Notes that a task is placed now. */
  public void placed(Live task) {
    nodes.placed(task.key.job(), task.key.node());
  }

  /** Nothing starts on nodes before it is known whether they are open. */
  @Override
  public int room() {
    return nodes.isBehind() ? 0 : Integer.MAX_VALUE;
  }

  /** A number that grows when a window may have opened or closed. */
  long changes() {
    return changes;
  }

  /** Returns whether a window has ended in which a task may run, of its job or of its nodes. */
  boolean hasEnded(Job job, long run, long nowMillis) {
    List<Schedule> schedules = core.config().settings().schedules(job);
    boolean isOfNodesOnly = schedules.stream().allMatch(Schedule::isAlways);
    return (!isOfNodesOnly && !times(schedules).isOpen(nowMillis))
        || core.running().closed(run, GateKind.NODE_WINDOW) != null;
  }

  @SuppressWarnings("ReferenceEquality") // Each configuration is a new object.
  private boolean stepJobs(long nowMillis) {
    if (config != core.config()) {
      configure(core.config());
    } else if (nowMillis < next) {
      return false;
    }
    next = Long.MAX_VALUE;
    opens = Long.MAX_VALUE;
    tooLong.clear();
    owners.forEach(owner -> update(owner, nowMillis));
    Map<String, Gate> closed = new HashMap<>();
    core.gates().of(GateKind.JOB_WINDOW).forEach(gate -> closed.put(gate.name(), gate));
    for (Job job : jobs) {
      Gate before = closed.remove(job.name());
      Gate gate = gate(job, before, nowMillis);
      if (gate != null && !gate.equals(before)) {
        core.gates().close(gate);
      } else if (gate == null && before != null) {
        core.gates().open(GateKind.JOB_WINDOW, job.name());
      }
    }
    closed.keySet().stream().sorted().forEach(job -> core.gates().open(GateKind.JOB_WINDOW, job));
    return true;
  }

  private void configure(Config current) {
    config = current;
    times.clear();
    List<Owner> all = new ArrayList<>();
    all.add(new Owner("", "", current.settings().schedule()));
    for (QueueSpec queue : current.settings().rules().queues()) {
      all.add(new Owner(queue.name(), "", queue.schedule()));
    }
    for (Job job : current.jobs().values()) {
      all.add(new Owner("", job.name(), job.scheduling().schedule()));
    }
    all.removeIf(owner -> owner.schedule().isAlways());
    owners = all;
    Set<Owner> known = new HashSet<>(all);
    views.keySet().removeIf(key -> key instanceof Owner owner && !known.contains(owner));
    jobs =
        all.isEmpty()
            ? List.of()
            : current.jobs().values().stream()
                .filter(
                    job -> !current.settings().schedules(job).stream().allMatch(Schedule::isAlways))
                .toList();
  }

  /**
   * Returns which jobs have tasks that fit into no window, and which nodes have broken windows;
   * null: none.
   */
  private @Nullable String problem() {
    String ofNodes = nodes.problem();
    return tooLong.isEmpty()
        ? ofNodes
        : (ofNodes == null ? "" : ofNodes + "; ")
            + "tasks take longer than any window of their job is open: "
            + String.join(", ", tooLong.subList(0, Math.min(MOST_NAMED, tooLong.size())))
            + (tooLong.size() > MOST_NAMED
                ? " and " + (tooLong.size() - MOST_NAMED) + " more"
                : "");
  }

  @Override
  public void problems(BiConsumer<String, @Nullable String> told) {
    told.accept("windows", problem());
  }

  @Override
  public long nextMillis() {
    return Math.min(next, nodes.nextMillis());
  }

  @Override
  public boolean mayOpen() {
    return Math.min(opens, nodes.opensMillis()) != Long.MAX_VALUE;
  }

  /**
   * Returns the settings, queues, jobs and nodes that have windows or freezes of their own, without
   * those that are open for years.
   */
  public List<WindowView> view() {
    return views.values().stream()
        .filter(view -> !view.open() || view.changesMillis() > 0)
        .toList();
  }

  private OpenTimes times(List<Schedule> schedules) {
    return times.computeIfAbsent(schedules, OpenTimes::new);
  }

  /** Notes whether a schedule is open, and adds an event when that has changed. */
  private void update(Owner owner, long nowMillis) {
    Opening opening = times(List.of(owner.schedule())).next(nowMillis, 0);
    boolean isOpen = opening != null && opening.fromMillis() == nowMillis;
    long changes =
        opening == null ? Long.MAX_VALUE : isOpen ? opening.toMillis() : opening.fromMillis();
    next = Math.min(next, opening == null ? nowMillis + OpenTimes.NONE_FOR_MILLIS : changes);
    note(
        owner,
        new WindowView(
            owner.queue(),
            owner.job(),
            "",
            0,
            isOpen,
            changes == Long.MAX_VALUE ? 0 : changes,
            WindowMessages.of(owner.words(), owner.schedule(), isOpen, changes, nowMillis)),
        nowMillis);
  }

  private void updateNodes(long nowMillis) {
    Map<?, WindowView> current = nodes.view(nowMillis);
    views.keySet().removeIf(key -> !(key instanceof Owner) && !current.containsKey(key));
    current.forEach((key, view) -> note(key, view, nowMillis));
  }

  /**
   * Keeps a view, and adds an event when something has opened or closed: what is closed at first
   * may have closed before this process.
   */
  private void note(Object key, WindowView view, long nowMillis) {
    WindowView before = views.put(key, view);
    boolean isOpen = view.open();
    if (before == null ? isOpen || !hasBegun : before.open() == isOpen) {
      return;
    }
    Json.Builder data = Json.object();
    put(data, "queue", view.queue());
    put(data, "job", view.job());
    put(data, "level", view.level());
    if (view.nodes() > 0) {
      data.put("nodes", view.nodes());
    }
    if (view.changesMillis() > 0) {
      data.put(isOpen ? "closes_at_ms" : "opens_at_ms", view.changesMillis());
    }
    long left = before == null || isOpen || view.nodes() > 0 ? 0 : left(view);
    if (left > 0) {
      data.put("left", left);
    }
    events.add(
        nowMillis,
        isOpen ? EventKind.WINDOW_OPENED : EventKind.WINDOW_CLOSED,
        data.put("reason", view.message()).build());
  }

  private void tell(MissedWindow missed, long nowMillis) {
    events.add(
        nowMillis,
        EventKind.WINDOW_CLOSED,
        Json.object()
            .put("job", missed.job())
            .put("level", missed.level())
            .put("nodes", missed.nodes())
            .put("left", missed.left())
            .put("reason", missed.message())
            .build());
  }

  /** Returns how many tasks are left of the jobs for which a window has closed. */
  private long left(WindowView view) {
    if (!view.job().isEmpty()) {
      return left(view.job());
    }
    long left = 0;
    for (Job job : jobs) {
      if (view.queue().isEmpty() || view.queue().equals(job.scheduling().queue())) {
        left += left(job.name());
      }
    }
    return left;
  }

  private long left(String job) {
    int number = core.findJob(job);
    return number < 0 ? 0 : core.tasks().progress(number).left();
  }

  private static void put(Json.Builder data, String key, String value) {
    if (!value.isEmpty()) {
      data.put(key, value);
    }
  }

  /** Returns the gate that a job is to have; null: none. */
  private @Nullable Gate gate(Job job, @Nullable Gate before, long nowMillis) {
    List<Schedule> schedules = core.config().settings().schedules(job);
    long takes = takes(job);
    Opening opening = times(schedules).next(nowMillis, takes);
    if (!job.scheduling().mayOverrun()) {
      // What is known of durations changes as tasks end.
      next = Math.min(next, nowMillis + RECHECK_MILLIS);
    }
    if (opening != null && opening.fromMillis() == nowMillis) {
      next = Math.min(next, WindowCutoff.closedFrom(opening.toMillis(), takes));
      return null;
    }
    long until = opening == null ? 0 : opening.fromMillis();
    if (opening == null) {
      next = Math.min(next, nowMillis + OpenTimes.NONE_FOR_MILLIS);
    } else {
      next = Math.min(next, until);
      opens = Math.min(opens, until);
    }
    String reason;
    if (opening == null && takes > 0 && times(schedules).next(nowMillis, 0) != null) {
      reason =
          "a task takes up to " + WindowMessages.minutes(takes) + ", and no window is open as long";
      tooLong.add(job.name() + " (" + WindowMessages.minutes(takes) + ")");
    } else {
      reason = reason(job, schedules, until == 0 ? Long.MAX_VALUE : until, takes, nowMillis);
    }
    boolean isSame = before != null && before.reason().equals(reason);
    long since = isSame && before != null ? before.sinceMillis() : nowMillis;
    return new Gate(GateKind.JOB_WINDOW, Scope.job(job.name()), "", reason, since, until);
  }

  /** Returns how long a task must be able to run before a window closes. */
  private long takes(Job job) {
    JobScheduling scheduling = job.scheduling();
    long assumed = scheduling.assume().map(Duration::toMillis).orElse(-1L);
    return WindowCutoff.of(scheduling, () -> throughput.mostTakeMillis(job.name(), assumed));
  }

  private String reason(Job job, List<Schedule> schedules, long until, long takes, long nowMillis) {
    List<String> names =
        List.of("the settings", "queue " + job.scheduling().queue(), "job " + job.name());
    for (int i = 0; i < names.size(); i++) {
      Schedule schedule = schedules.get(i);
      if (!schedule.isAlways() && !times(List.of(schedule)).isOpen(nowMillis)) {
        return WindowMessages.closed(names.get(i), schedule, until, nowMillis);
      }
    }
    return tooShort(names, schedules, until, takes, nowMillis);
  }

  /** All are open, but not long enough. */
  private String tooShort(
      List<String> names, List<Schedule> schedules, long until, long takes, long nowMillis) {
    int first = 0;
    long closes = Long.MAX_VALUE;
    for (int i = 0; i < names.size(); i++) {
      Opening opening = times(List.of(schedules.get(i))).next(nowMillis, 0);
      if (opening != null && opening.toMillis() < closes) {
        first = i;
        closes = opening.toMillis();
      }
    }
    return "window of "
        + names.get(first)
        + " "
        + WindowMessages.tooShort(schedules.get(first), closes, takes, until, nowMillis);
  }
}
