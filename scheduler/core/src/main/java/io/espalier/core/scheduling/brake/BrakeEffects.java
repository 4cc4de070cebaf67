package io.espalier.core.scheduling.brake;

import io.espalier.core.config.Job;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.capacity.LimitFactor;
import io.espalier.core.scheduling.capacity.RunningCap;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.status.store.Brake;
import io.espalier.core.status.store.Brake.Target;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What the brakes in force ask of the core: gates of jobs and nodes where nothing may start,
 * factors of limits, and caps on running tasks. It is computed from all brakes and the
 * configuration, and compared with what the core has (docs/adr/0067-brakes.md). Use it on the
 * thread of the core.
 */
public final class BrakeEffects {
  private static final String ID = "brake ";

  private final SchedulingCore core;
  private final Map<Scope, Gate> gates = new LinkedHashMap<>();
  private final Map<String, LimitFactor> factors = new LinkedHashMap<>();
  private final Map<String, RunningCap> caps = new LinkedHashMap<>();

  public BrakeEffects(SchedulingCore core) {
    this.core = core;
  }

  /**
   * Brings the core in line with the brakes: after each change of theirs or of the configuration.
   *
   * @return false when it must be called again, because limits are not in effect yet
   */
  public boolean apply(Collection<Brake> brakes, long nowMillis) {
    clear();
    for (Brake brake : brakes) {
      int factor = brake.factorAt(nowMillis);
      if (factor == 0) {
        close(brake);
      } else if (factor < Brake.ONE) {
        narrow(brake, factor);
      }
    }
    List<LimitFactor> inForce = core.capacity().factors();
    core.limits()
        .removeFactors(
            inForce.stream()
                .map(LimitFactor::id)
                .filter(id -> id.startsWith(ID) && !factors.containsKey(id))
                .toList());
    Set<LimitFactor> same = new HashSet<>(inForce);
    core.limits()
        .setFactors(factors.values().stream().filter(factor -> !same.contains(factor)).toList());
    // Where a stop becomes a share, nothing may start on a node that still has its whole limit.
    boolean isSettling = !factors.isEmpty() && !core.capacity().areLimitsInEffect();
    boolean keepsGate = false;
    for (GateKind kind : List.of(GateKind.JOB_BRAKE, GateKind.NODE_BRAKE)) {
      for (Gate gate : core.gates().of(kind)) {
        if (gates.containsKey(gate.scope())) {
          continue;
        }
        if (kind == GateKind.NODE_BRAKE && isSettling) {
          keepsGate = true;
        } else {
          core.gates().open(kind, gate.scope());
        }
      }
    }
    Set<Gate> closed = new HashSet<>(core.gates().of(GateKind.JOB_BRAKE));
    closed.addAll(core.gates().of(GateKind.NODE_BRAKE));
    gates.values().stream().filter(gate -> !closed.contains(gate)).forEach(core.gates()::close);
    core.capacity().caps().stream()
        .map(RunningCap::id)
        .filter(id -> id.startsWith(ID) && !caps.containsKey(id))
        .forEach(core.limits()::removeCap);
    Set<RunningCap> set = new HashSet<>(core.capacity().caps());
    caps.values().stream().filter(cap -> !set.contains(cap)).forEach(core.limits()::setCap);
    return !keepsGate;
  }

  private void close(Brake brake) {
    Brake.Key key = brake.key();
    switch (key.target()) {
      case ALL -> gate(brake, GateKind.NODE_BRAKE, instance());
      case NODE -> gate(brake, GateKind.NODE_BRAKE, Scope.node(key.level(), key.name()));
      case JOB -> gate(brake, GateKind.JOB_BRAKE, Scope.job(key.name()));
      case QUEUE, SET ->
          jobsOf(key).forEach(job -> gate(brake, GateKind.JOB_BRAKE, Scope.job(job.name())));
    }
  }

  private Scope instance() {
    return Scope.node(core.topology().levels().name(0), core.topology().name(0));
  }

  /** A job or node that several brakes stop has the gate of the first. */
  private void gate(Brake brake, GateKind kind, Scope scope) {
    Target target = brake.key().target();
    boolean isWider = target != Target.NODE && target != Target.JOB;
    String reason =
        isWider
            ? "on " + brake.key() + (brake.reason().isEmpty() ? "" : ": " + brake.reason())
            : brake.reason();
    gates.putIfAbsent(
        scope,
        new Gate(kind, scope, brake.author(), reason, brake.sinceMillis(), brake.untilMillis()));
  }

  private void narrow(Brake brake, int factor) {
    Brake.Key key = brake.key();
    String id = ID + key;
    switch (key.target()) {
      case ALL, NODE ->
          factors.put(
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
      case JOB -> cap(brake, id, Scope.job(key.name()), most(key.name(), brake), factor);
      case SET ->
          jobsOf(key)
              .forEach(
                  job ->
                      cap(
                          brake,
                          id + " " + job.name(),
                          Scope.job(job.name()),
                          most(job.name(), brake),
                          factor));
      case QUEUE ->
          cap(
              brake,
              id,
              Scope.queue(key.name()),
              brake.bases().getOrDefault(key.name(), 0),
              factor);
    }
  }

  private void cap(Brake brake, String id, Scope scope, int base, int factor) {
    caps.put(
        id,
        new RunningCap(
            id,
            scope,
            Brake.share(base, factor),
            brake.author(),
            brake.reason(),
            brake.untilMillis()));
  }

  /**
   * Returns the number of tasks from which the share of a job is taken: its own limit, or the
   * number that ran.
   */
  private int most(String job, Brake brake) {
    Job configured = core.job(core.findJob(job));
    int most = configured == null ? 0 : configured.scheduling().maxConcurrent();
    return most > 0 ? most : brake.bases().getOrDefault(job, 0);
  }

  private void clear() {
    gates.clear();
    factors.clear();
    caps.clear();
  }

  /** Returns how many tasks run now in what a brake slows down, for its share of them. */
  public Map<String, Integer> bases(Brake.Key key) {
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
}
