package io.espalier.core.loop.command;

import io.espalier.core.api.RefusedException;
import io.espalier.core.api.view.BrakeView;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.Levels;
import io.espalier.core.event.EventKind;
import io.espalier.core.json.Json;
import io.espalier.core.loop.state.LoopEvents;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.capacity.LimitFactor;
import io.espalier.core.scheduling.capacity.RunningCap;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.status.store.Brake;
import io.espalier.core.status.store.Brake.Target;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Sets and releases brakes. What they mean for jobs and nodes is computed from the brakes and the
 * configuration and then compared with what the core has, so that overlapping brakes and changed
 * configurations need no rules of their own (docs/adr/0067-brakes.md).
 */
public final class BrakeCommands {
  private static final int MOST = 1_000;
  private static final String ID = "brake ";

  private final SchedulingCore core;
  private final LoopEvents events;
  private final Map<Brake.Key, Brake> brakes = new LinkedHashMap<>();
  private long next = Long.MAX_VALUE;

  /** What the brakes in force ask of the core. */
  private static final class Effects {
    final Map<Scope, Gate> gates = new LinkedHashMap<>();
    final Map<String, LimitFactor> factors = new LinkedHashMap<>();
    final Map<String, RunningCap> caps = new LinkedHashMap<>();
  }

  /** Receives what must be stored. */
  public interface Changes {
    void put(Brake brake);

    void remove(Brake.Key key);
  }

  public BrakeCommands(SchedulingCore core, LoopEvents events) {
    this.core = core;
    this.events = events;
  }

  /** Restores brakes after a restart; {@link #refresh} brings them into effect. */
  public void restore(List<Brake> stored) {
    stored.forEach(brake -> brakes.put(brake.key(), brake));
    next = 0;
  }

  /**
   * Sets a brake, replacing an older one with the same key. It takes effect at once.
   *
   * @param wanted its bases are ignored, and counted now
   * @return the brake as it must be stored
   * @throws RefusedException when there is nothing of that name, or there are too many brakes
   */
  public Brake set(Brake wanted, long nowMillis) {
    check(wanted.key());
    if (brakes.size() >= MOST && !brakes.containsKey(wanted.key())) {
      throw new RefusedException(
          RefusedException.Reason.CONFLICT,
          "there are " + MOST + " brakes already: release some, or brake a larger part");
    }
    Brake brake =
        new Brake(
            wanted.key(),
            wanted.millionths(),
            bases(wanted.key()),
            wanted.ramp(),
            wanted.author(),
            wanted.reason(),
            nowMillis,
            wanted.untilMillis(),
            0);
    brakes.put(brake.key(), brake);
    refresh(nowMillis);
    said(EventKind.BRAKE_SET, brake, brake.author(), brake.reason(), nowMillis);
    return brake;
  }

  /**
   * Releases a brake: at once, or by its ramp. A release that is under way goes on; another ramp
   * continues from what the brake leaves now.
   *
   * @param ramp replaces that of the brake; null: that of the brake applies
   * @return the brake as it is now; its factor is {@link Brake#ONE} if it is over
   * @throws RefusedException when there is no such brake
   */
  public Brake release(
      Brake.Key key,
      Brake.@Nullable Ramp ramp,
      String author,
      String reason,
      long nowMillis,
      Changes changes) {
    Brake brake = brakes.get(key);
    if (brake == null) {
      throw new RefusedException(
          RefusedException.Reason.UNKNOWN,
          "there is no brake on " + key + (brakes.isEmpty() ? "" : "; there is one on " + names()));
    }
    Brake released = brake;
    if (ramp != null && brake.factorAt(nowMillis) < Brake.ONE) {
      released = withRamp(brake, ramp, nowMillis).released(nowMillis);
    } else if (brake.releasedMillis() == 0) {
      released = brake.released(nowMillis);
    }
    said(EventKind.BRAKE_RELEASED, released, author, reason, nowMillis);
    store(released, nowMillis, changes);
    refresh(nowMillis);
    return released;
  }

  private String names() {
    return String.join(", ", brakes.keySet().stream().map(Brake.Key::toString).limit(5).toList());
  }

  private static Brake withRamp(Brake brake, Brake.Ramp ramp, long nowMillis) {
    return new Brake(
        brake.key(),
        brake.factorAt(nowMillis),
        brake.bases(),
        ramp,
        brake.author(),
        brake.reason(),
        brake.sinceMillis(),
        brake.untilMillis(),
        brake.releasedMillis());
  }

  private void store(Brake brake, long nowMillis, Changes changes) {
    if (brake.factorAt(nowMillis) == Brake.ONE) {
      brakes.remove(brake.key());
      changes.remove(brake.key());
    } else {
      brakes.put(brake.key(), brake);
      changes.put(brake);
    }
  }

  /** Ends brakes whose time has come, and follows the ramps of those that were released. */
  public void step(long nowMillis, Changes changes) {
    if (nowMillis < next) {
      return;
    }
    for (Brake brake : List.copyOf(brakes.values())) {
      if (brake.nextMillis(nowMillis) <= nowMillis && brake.releasedMillis() == 0) {
        // Its ramp begins at its end, also if the scheduler was away at that moment.
        Brake released = brake.released(brake.untilMillis());
        said(EventKind.BRAKE_RELEASED, released, "", "the brake was until now", nowMillis);
        store(released, nowMillis, changes);
      } else if (brake.factorAt(nowMillis) == Brake.ONE) {
        store(brake, nowMillis, changes);
      }
    }
    refresh(nowMillis);
  }

  /** When {@link #step} must be called next; {@link Long#MAX_VALUE}: no brake ends by itself. */
  public long nextMillis() {
    return next;
  }

  /** Returns whether a brake lets nothing start where a task was placed before it was set. */
  public boolean stops(String job, long run) {
    if (core.gate(GateKind.JOB_BRAKE, job) != null) {
      return true;
    }
    Collection<Gate> nodes = core.gates(GateKind.NODE_BRAKE);
    if (nodes.isEmpty()) {
      return false;
    }
    List<String> levels = core.running().levels(run);
    List<String> path = core.running().path(run);
    return IntStream.range(0, levels.size())
        .mapToObj(i -> Scope.node(levels.get(i), path.get(i)))
        .anyMatch(scope -> nodes.stream().anyMatch(gate -> gate.scope().equals(scope)));
  }

  /** Returns the brakes, in the order in which they were set. */
  public List<BrakeView> view(long nowMillis) {
    return brakes.values().stream()
        .map(brake -> new BrakeView(brake, brake.factorAt(nowMillis), true))
        .toList();
  }

  // ---- effects

  /**
   * Brings the core in line with the brakes: after each change of theirs or of the configuration.
   */
  public void refresh(long nowMillis) {
    Effects wanted = effects(nowMillis);
    core.capacity().factors().stream()
        .map(LimitFactor::id)
        .filter(id -> id.startsWith(ID) && !wanted.factors.containsKey(id))
        .forEach(core::removeFactor);
    wanted.factors.values().stream()
        .filter(factor -> !core.capacity().factors().contains(factor))
        .forEach(core::setFactor);
    // Where a stop becomes a share, nothing may start on a node that still has its whole limit.
    boolean isSettling = !wanted.factors.isEmpty() && !core.capacity().areLimitsInEffect();
    boolean keepsGate = false;
    for (GateKind kind : List.of(GateKind.JOB_BRAKE, GateKind.NODE_BRAKE)) {
      for (Gate gate : core.gates(kind)) {
        if (wanted.gates.containsKey(gate.scope())) {
          continue;
        }
        if (kind == GateKind.NODE_BRAKE && isSettling) {
          keepsGate = true;
        } else {
          core.open(kind, gate.scope());
        }
      }
    }
    Set<Gate> closed = new HashSet<>(core.gates(GateKind.JOB_BRAKE));
    closed.addAll(core.gates(GateKind.NODE_BRAKE));
    wanted.gates.values().stream().filter(gate -> !closed.contains(gate)).forEach(core::close);
    core.capacity().caps().stream()
        .map(RunningCap::id)
        .filter(id -> id.startsWith(ID) && !wanted.caps.containsKey(id))
        .forEach(core::removeCap);
    Set<RunningCap> caps = new HashSet<>(core.capacity().caps());
    wanted.caps.values().stream().filter(cap -> !caps.contains(cap)).forEach(core::setCap);
    next = keepsGate ? nowMillis : Long.MAX_VALUE;
    for (Brake brake : brakes.values()) {
      next = Math.min(next, brake.nextMillis(nowMillis));
    }
  }

  private Effects effects(long nowMillis) {
    Effects effects = new Effects();
    for (Brake brake : brakes.values()) {
      int factor = brake.factorAt(nowMillis);
      if (factor == 0) {
        close(brake, effects);
      } else if (factor < Brake.ONE) {
        narrow(brake, factor, effects);
      }
    }
    return effects;
  }

  private void close(Brake brake, Effects effects) {
    Brake.Key key = brake.key();
    switch (key.target()) {
      case ALL -> gate(brake, GateKind.NODE_BRAKE, instance(), effects);
      case NODE -> gate(brake, GateKind.NODE_BRAKE, Scope.node(key.level(), key.name()), effects);
      case JOB -> gate(brake, GateKind.JOB_BRAKE, Scope.job(key.name()), effects);
      case QUEUE, SET ->
          jobsOf(key)
              .forEach(job -> gate(brake, GateKind.JOB_BRAKE, Scope.job(job.name()), effects));
    }
  }

  private Scope instance() {
    return Scope.node(core.topology().levels().name(0), core.topology().name(0));
  }

  /** A job or node that several brakes stop has the gate of the first. */
  private static void gate(Brake brake, GateKind kind, Scope scope, Effects effects) {
    Target target = brake.key().target();
    boolean isWider = target != Target.NODE && target != Target.JOB;
    String reason =
        isWider
            ? "on " + brake.key() + (brake.reason().isEmpty() ? "" : ": " + brake.reason())
            : brake.reason();
    effects.gates.putIfAbsent(
        scope,
        new Gate(kind, scope, brake.author(), reason, brake.sinceMillis(), brake.untilMillis()));
  }

  private void narrow(Brake brake, int factor, Effects effects) {
    Brake.Key key = brake.key();
    String id = ID + key;
    switch (key.target()) {
      case ALL, NODE ->
          effects.factors.put(
              id,
              new LimitFactor(
                  id,
                  key.target() == Target.ALL ? Scope.all() : Scope.node(key.level(), key.name()),
                  Set.of(),
                  factor,
                  brake.author(),
                  brake.reason(),
                  brake.sinceMillis(),
                  brake.untilMillis()));
      case JOB -> cap(brake, id, Scope.job(key.name()), most(key.name(), brake), factor, effects);
      case SET ->
          jobsOf(key)
              .forEach(
                  job ->
                      cap(
                          brake,
                          id + " " + job.name(),
                          Scope.job(job.name()),
                          most(job.name(), brake),
                          factor,
                          effects));
      case QUEUE ->
          cap(
              brake,
              id,
              Scope.queue(key.name()),
              brake.bases().getOrDefault(key.name(), 0),
              factor,
              effects);
    }
  }

  private static void cap(
      Brake brake, String id, Scope scope, int base, int factor, Effects effects) {
    effects.caps.put(
        id,
        new RunningCap(
            id,
            scope,
            Brake.share(base, factor),
            brake.author(),
            brake.reason(),
            brake.untilMillis()));
  }

  /** Returns the number of tasks of which a job keeps a share: its own limit, or what ran. */
  private int most(String job, Brake brake) {
    Job configured = core.job(core.findJob(job));
    int most = configured == null ? 0 : configured.scheduling().maxConcurrent();
    return most > 0 ? most : brake.bases().getOrDefault(job, 0);
  }

  private Map<String, Integer> bases(Brake.Key key) {
    return switch (key.target()) {
      case ALL, NODE -> Map.of();
      case JOB -> Map.of(key.name(), running(key.name()));
      case QUEUE -> Map.of(key.name(), jobsOf(key).stream().mapToInt(j -> running(j.name())).sum());
      case SET ->
          jobsOf(key).stream().collect(Collectors.toMap(Job::name, job -> running(job.name())));
    };
  }

  private int running(String job) {
    int number = core.findJob(job);
    return number < 0 ? 0 : (int) core.tasks().tally(number).running();
  }

  /** Returns the jobs of a queue or set. */
  private List<Job> jobsOf(Brake.Key key) {
    return core.config().jobs().values().stream()
        .filter(
            job ->
                key.name()
                    .equals(key.target() == Target.SET ? job.set() : job.scheduling().queue()))
        .toList();
  }

  // ---- names

  private void check(Brake.Key key) {
    Config config = core.config();
    switch (key.target()) {
      case ALL -> {}
      case JOB -> {
        if (core.findJob(key.name()) < 0) {
          throw LimitOverrideCommands.unknown(
              "there is no job", key.name(), config.jobs().keySet());
        }
      }
      case QUEUE -> {
        Set<String> queues = new TreeSet<>();
        config.settings().rules().queues().forEach(queue -> queues.add(queue.name()));
        config.jobs().values().forEach(job -> queues.add(job.scheduling().queue()));
        if (!queues.contains(key.name())) {
          throw LimitOverrideCommands.unknown("there is no queue", key.name(), queues);
        }
      }
      case SET -> {
        Set<String> sets = new TreeSet<>();
        config.jobs().values().forEach(job -> sets.add(job.set()));
        sets.remove("");
        if (!sets.contains(key.name())) {
          throw LimitOverrideCommands.unknown("there is no set", key.name(), sets);
        }
      }
      case NODE -> {
        int level = core.topology().levels().find(key.level());
        if (level < 0 || core.topology().find(level, key.name()) < 0) {
          throw LimitOverrideCommands.unknown(
              "level " + key.level() + " has no node", key.name(), List.of());
        }
      }
    }
  }

  /**
   * Completes the key of a node without a level, for a brake that may be set. The node itself may
   * be gone.
   *
   * @throws RefusedException as {@link #located}
   */
  public Brake.Key braked(Brake.Key key) {
    List<Brake.Key> set =
        brakes.keySet().stream()
            .filter(each -> each.target() == Target.NODE && each.name().equals(key.name()))
            .toList();
    return key.target() == Target.NODE && key.level().isEmpty() && set.size() == 1
        ? set.get(0)
        : located(key);
  }

  /**
   * Completes the key of a node without a level.
   *
   * @throws RefusedException when no level, or more than one, has a node of that name
   */
  public Brake.Key located(Brake.Key key) {
    if (key.target() != Target.NODE || !key.level().isEmpty()) {
      return key;
    }
    Levels levels = core.topology().levels();
    List<String> having = new ArrayList<>();
    for (int level = 0; level < levels.worker(); level++) {
      if (core.topology().find(level, key.name()) >= 0) {
        having.add(levels.name(level));
      }
    }
    if (having.size() > 1) {
      throw new RefusedException(
          RefusedException.Reason.CONFLICT,
          "several levels have a node " + key.name() + ": name one of " + having);
    }
    if (having.isEmpty()) {
      throw LimitOverrideCommands.unknown("there is no node", key.name(), List.of());
    }
    return new Brake.Key(Target.NODE, having.get(0), key.name());
  }

  private void said(EventKind kind, Brake brake, String author, String reason, long nowMillis) {
    Json.Builder event = Json.object().put("target", brake.key().target().word());
    if (!brake.key().level().isEmpty()) {
      event.put("level", brake.key().level());
    }
    if (!brake.key().name().isEmpty()) {
      event.put(brake.key().target().word(), brake.key().name());
    }
    event.put("factor", Brake.decimal(brake.factorAt(nowMillis)).doubleValue());
    if (brake.untilMillis() > 0 && brake.releasedMillis() == 0) {
      event.put("expires_at_ms", brake.untilMillis());
    }
    if (!author.isEmpty()) {
      event.put("author", author);
    }
    events.add(nowMillis, kind, event.put("reason", reason).build());
  }
}
