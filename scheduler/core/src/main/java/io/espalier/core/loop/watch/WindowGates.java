package io.espalier.core.loop.watch;

import io.espalier.core.api.view.WindowView;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.QueueSpec;
import io.espalier.core.config.window.OpenTimes;
import io.espalier.core.config.window.OpenTimes.Opening;
import io.espalier.core.config.window.Schedule;
import io.espalier.core.event.EventKind;
import io.espalier.core.json.Json;
import io.espalier.core.loop.state.LoopEvents;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.gate.Scope;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Closes jobs outside of their windows. Which gates there are to be is computed from the schedules
 * and then compared with those of the core, which knows nothing of schedules and time zones
 * (docs/adr/0070-windows.md). Jobs with the same schedules share the computed times.
 */
public final class WindowGates {
  private final SchedulingCore core;
  private final LoopEvents events;
  private final Map<List<Schedule>, OpenTimes> times = new HashMap<>();
  private final Map<Owner, WindowView> views = new LinkedHashMap<>();
  private @Nullable Config config;
  private List<Owner> owners = List.of();
  private List<Job> jobs = List.of();
  private long next = Long.MAX_VALUE;
  private long opens = Long.MAX_VALUE;

  /** Whose schedule it is: that of the settings if both names are empty. */
  private record Owner(String queue, String job, Schedule schedule) {
    String words() {
      return queue.isEmpty() ? job.isEmpty() ? "the settings" : "job " + job : "queue " + queue;
    }
  }

  public WindowGates(SchedulingCore core, LoopEvents events) {
    this.core = core;
    this.events = events;
  }

  /**
   * Opens and closes what is due, and everything that another configuration asks for. Returns true
   * when something may have changed.
   */
  @SuppressWarnings("ReferenceEquality") // Each configuration is a new object.
  public boolean step(long nowMillis) {
    if (config != core.config()) {
      configure(core.config());
    } else if (nowMillis < next) {
      return false;
    }
    next = Long.MAX_VALUE;
    opens = Long.MAX_VALUE;
    owners.forEach(owner -> update(owner, nowMillis));
    Map<String, Gate> closed = new HashMap<>();
    core.gates(GateKind.JOB_WINDOW).forEach(gate -> closed.put(gate.name(), gate));
    for (Job job : jobs) {
      Gate before = closed.remove(job.name());
      Gate gate = gate(job, before, nowMillis);
      if (gate != null && !gate.equals(before)) {
        core.close(gate);
      } else if (gate == null && before != null) {
        core.open(GateKind.JOB_WINDOW, job.name());
      }
    }
    closed.keySet().stream().sorted().forEach(job -> core.open(GateKind.JOB_WINDOW, job));
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
    views.keySet().retainAll(all);
    jobs =
        all.isEmpty()
            ? List.of()
            : current.jobs().values().stream()
                .filter(
                    job -> !current.settings().schedules(job).stream().allMatch(Schedule::isAlways))
                .toList();
  }

  /** When {@link #step} must be called next; {@link Long#MAX_VALUE}: it need not. */
  public long nextMillis() {
    return next;
  }

  /** When the first closed job opens again; {@link Long#MAX_VALUE}: none does. */
  public long opensMillis() {
    return opens;
  }

  /** Returns the settings, queues and jobs that have windows or freezes of their own. */
  public List<WindowView> view() {
    return List.copyOf(views.values());
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
    next = Math.min(next, changes);
    String instant = WindowMessages.instant(owner.schedule(), changes, nowMillis);
    String message =
        isOpen
            ? owner.words() + " may start tasks " + (instant.isEmpty() ? "" : "until " + instant)
            : WindowMessages.closed(owner.words(), owner.schedule(), changes, nowMillis);
    WindowView view =
        new WindowView(
            owner.queue(),
            owner.job(),
            isOpen,
            changes == Long.MAX_VALUE ? 0 : changes,
            message.strip());
    WindowView before = views.put(owner, view);
    if (before == null ? !isOpen : before.open() != isOpen) {
      Json.Builder data = Json.object();
      put(data, "queue", owner.queue());
      put(data, "job", owner.job());
      if (view.changesMillis() > 0) {
        data.put(isOpen ? "closes_at_ms" : "opens_at_ms", view.changesMillis());
      }
      events.add(
          nowMillis,
          isOpen ? EventKind.WINDOW_OPENED : EventKind.WINDOW_CLOSED,
          data.put("reason", message.strip()).build());
    }
  }

  private static void put(Json.Builder data, String key, String value) {
    if (!value.isEmpty()) {
      data.put(key, value);
    }
  }

  /** Returns the gate that a job is to have; null: none. */
  private @Nullable Gate gate(Job job, @Nullable Gate before, long nowMillis) {
    List<Schedule> schedules = core.config().settings().schedules(job);
    Opening opening = times(schedules).next(nowMillis, 0);
    if (opening != null && opening.fromMillis() == nowMillis) {
      next = Math.min(next, opening.toMillis());
      return null;
    }
    long until = opening == null ? 0 : opening.fromMillis();
    if (until > 0) {
      next = Math.min(next, until);
      opens = Math.min(opens, until);
    }
    String reason = reason(job, schedules, until == 0 ? Long.MAX_VALUE : until, nowMillis);
    boolean isSame = before != null && before.reason().equals(reason);
    long since = isSame && before != null ? before.sinceMillis() : nowMillis;
    return new Gate(GateKind.JOB_WINDOW, Scope.job(job.name()), "", reason, since, until);
  }

  private String reason(Job job, List<Schedule> schedules, long until, long nowMillis) {
    List<String> names =
        List.of("the settings", "queue " + job.scheduling().queue(), "job " + job.name());
    for (int i = 0; i < names.size(); i++) {
      Schedule schedule = schedules.get(i);
      if (!schedule.isAlways() && !times(List.of(schedule)).isOpen(nowMillis)) {
        return WindowMessages.closed(names.get(i), schedule, until, nowMillis);
      }
    }
    throw new IllegalStateException("all schedules are open");
  }
}
