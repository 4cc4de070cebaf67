package io.espalier.testkit.cluster;

import io.espalier.core.api.Command;
import io.espalier.core.protocol.ProtocolTimers;
import io.espalier.core.status.store.Brake;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One simulated life of a cluster. For a while all kinds of faults occur; then they stop, and all
 * tasks must complete within a time limit. The same seed gives the same life.
 */
public final class SimulatedCluster {
  /** The validity of a leader's lock that is not renewed. */
  static final long LOCK_MILLIS = 6_000;

  /** The largest drift of clocks; the protocol allows for more. */
  private static final double DRIFT = 0.008;

  private static final long MOST_STEPS = 3_000_000;

  final EventQueue timeline = new EventQueue();
  final Coverage coverage = new Coverage();
  final Random random;
  final ClusterPlan plan;
  final ClusterInvariants invariants;
  final SimulatedNetwork network;
  final SimulatedStore store;
  final SimulatedSources sources;
  final SimulatedProcess nobody;

  /** What a limit follows; null: nothing. */
  final @Nullable ProbeTrouble probe;

  private final @Nullable ProtocolBug bug;
  private final @Nullable Consumer<String> tracer;
  private final long seed;
  private final List<SimulatedScheduler> schedulers = new ArrayList<>();
  private final List<SimulatedWorker> workers = new ArrayList<>();
  private final Map<String, SimulatedWorker> byAddress = new HashMap<>();
  private final SimulatedOwner owner = new SimulatedOwner(this);
  private final SimulatedScheduler.Mark groupMark = new SimulatedScheduler.Mark();
  private @Nullable SimulatedScheduler lockHolder;
  private long lockUntil;
  private long lockSession;
  private boolean quiet;
  private long numbers;

  /**
   * The outcome of a life.
   *
   * @param broken the broken invariant; null: none
   * @param violation description of the violation; null: none
   * @param steps number of events
   * @param starts number of task processes started
   * @param simulatedMillis duration in simulated time
   * @param coverage counts of what has happened
   */
  public record Outcome(
      long seed,
      @Nullable Invariant broken,
      @Nullable String violation,
      long steps,
      int starts,
      long simulatedMillis,
      Coverage coverage) {}

  private SimulatedCluster(
      long seed, @Nullable ProtocolBug bug, @Nullable Consumer<String> tracer) {
    this.seed = seed;
    this.bug = bug;
    this.tracer = tracer;
    this.random = new Random(seed * 0x9e3779b97f4a7c15L + 1);
    this.plan = new ClusterPlan(random, ProbeTrouble.isIn(seed));
    this.invariants = new ClusterInvariants(plan, coverage);
    this.sources = new SimulatedSources(plan);
    this.probe = ProbeTrouble.isIn(seed) ? new ProbeTrouble(this, plan.hosts(), seed) : null;
    this.nobody = new SimulatedProcess(this, "nobody");
    int hosts = plan.workers() + 1;
    this.network = new SimulatedNetwork(timeline, random, coverage, hosts + 2);
    this.store = new SimulatedStore(this, random, plan.durable());
    for (int i = 0; i < plan.workers(); i++) {
      worker(new SimulatedHost(this, i, workerClock()), "w" + i);
    }
    // One spare host: a shard may start there while its old process is still alive elsewhere.
    worker(new SimulatedHost(this, hosts - 1, workerClock()), "w" + random.nextInt(plan.workers()));
    for (int i = 0; i < plan.schedulers(); i++) {
      schedulers.add(
          new SimulatedScheduler(
              this, "scheduler " + i, i, hosts + i, clock(random.nextInt(3_000))));
    }
  }

  private void worker(SimulatedHost host, String shard) {
    SimulatedWorker worker = new SimulatedWorker(this, host, shard);
    workers.add(worker);
    byAddress.put(worker.address(), worker);
  }

  /** Returns a clock; the clocks of workers are independent of each other. */
  private SimulatedClock workerClock() {
    return clock(random.nextInt(1_000_000_000));
  }

  private SimulatedClock clock(long offset) {
    return new SimulatedClock(1_000_000 + offset, 1 + (random.nextDouble() * 2 - 1) * DRIFT);
  }

  /** Simulates one life. */
  public static Outcome run(long seed) {
    return run(seed, null, null);
  }

  /**
   * Simulates one life.
   *
   * @param bug bug to inject; null: none
   * @param tracer receives the events, line by line; null: no trace
   */
  public static Outcome run(
      long seed, @Nullable ProtocolBug bug, @Nullable Consumer<String> tracer) {
    SimulatedCluster cluster = new SimulatedCluster(seed, bug, tracer);
    return cluster.live();
  }

  private Outcome live() {
    trace(() -> "seed " + seed + ": " + plan);
    long steps = 0;
    try {
      schedulers.forEach(SimulatedScheduler::boot);
      workers.subList(0, plan.workers()).forEach(SimulatedWorker::boot);
      new FaultInjector(this, workers, schedulers).begin();
      if (plan.isSteered()) {
        new SourceTrouble(this, schedulers).begin();
      }
      if (isBraked()) {
        new BrakeTrouble(this, schedulers, seed).begin();
      }
      if (probe != null) {
        probe.begin();
      }
      steps = until(plan.chaosMillis(), () -> false, steps);
      quiet = true;
      calm();
      ProtocolTimers timers = plan.timers();
      long bound = now() + 6 * timers.takeoverMillis() + plan.workMillis() + 120_000;
      steps = until(bound, this::isFinished, steps);
      invariants.atTheEnd(store);
      if (isFinished()) {
        invariants.allEnded(store);
      } else if (invariants.violation() == null) {
        invariants.violated(Invariant.EVERYTHING_ENDS, "not finished in time: " + unfinished());
      }
    } catch (RuntimeException e) {
      invariants.violated(
          Invariant.NO_FAILURE, "failed: " + e + " at " + List.of(e.getStackTrace()).subList(0, 6));
    }
    trace(() -> "the end: " + invariants.violation());
    return new Outcome(
        seed,
        invariants.broken(),
        invariants.violation(),
        steps,
        invariants.starts(),
        now(),
        coverage);
  }

  private long until(long end, BooleanSupplier finished, long stepsBefore) {
    long steps = stepsBefore;
    while (invariants.violation() == null && timeline.step(end)) {
      if (++steps > MOST_STEPS) {
        invariants.violated(
            Invariant.NO_FAILURE, "too many steps: something goes round in circles");
      }
      if (finished.getAsBoolean()) {
        break;
      }
    }
    return steps;
  }

  private void calm() {
    trace(() -> "---- from now on nothing goes wrong");
    network.heal();
    store.heal();
    sources.heal();
    if (probe != null) {
      probe.heal();
    }
    schedulers.stream().filter(s -> !s.isAsleep()).forEach(s -> s.goOn(true));
    workers.stream().filter(w -> !w.host.isAsleep()).forEach(w -> w.jvm().goOn(true));
    releaseAll();
    if (plan.schedulers() > 1 && random.nextInt(3) == 0) {
      SimulatedWorker worker = workers.get(random.nextInt(plan.workers()));
      SimulatedScheduler scheduler = schedulers.get(random.nextInt(schedulers.size()));
      trace(() -> worker.address() + " never reaches " + scheduler.name + " again");
      coverage.happened(SimulationEvent.LINK_STAYED_DOWN);
      network.cut(worker.host.number, scheduler.host, Long.MAX_VALUE);
      network.cut(scheduler.host, worker.host.number, Long.MAX_VALUE);
    }
    // Two processes must not compete for one shard name indefinitely.
    workers.get(plan.workers()).crash();
    schedulers.forEach(s -> timeline.after(2_000, s::boot));
    workers.subList(0, plan.workers()).forEach(w -> timeline.after(2_000, w::boot));
  }

  /** Returns whether brakes are set in this life. */
  boolean isBraked() {
    return BrakeTrouble.isIn(seed);
  }

  /** An operator releases all shards, jobs, limits and brakes, whichever scheduler leads. */
  private void releaseAll() {
    for (SimulatedScheduler scheduler : schedulers) {
      store.cordons().forEach(cordon -> scheduler.cordon(cordon.shard(), null));
      store.pauses().forEach(p -> scheduler.command(new Command.Resume(p.job(), "", "")));
      store.limits().forEach(l -> scheduler.command(new Command.EndLimit(l.key(), "", "")));
      for (Brake brake : store.brakes()) {
        scheduler.command(new Command.ReleaseBrake(brake.key(), null, "", ""));
      }
    }
    timeline.after(3_000, this::releaseAll);
  }

  private boolean isFinished() {
    return invariants.finished() == plan.tasks()
        && invariants.live() == 0
        && schedulers.stream()
            .anyMatch(leader -> workers.stream().allMatch(worker -> isSettled(worker, leader)));
  }

  /** A worker that reaches the leader has a session and nothing to do; any other runs nothing. */
  private boolean isSettled(SimulatedWorker worker, SimulatedScheduler leader) {
    if (!leader.isLeading()) {
      return false;
    }
    boolean mayBeOutside =
        network.isCut(worker.host.number, leader.host)
            || workers.stream()
                .filter(other -> other != worker && other.shard.equals(worker.shard))
                .anyMatch(other -> other.upJvm() != null && other.isIdle());
    return mayBeOutside ? worker.isStopped() : worker.isIdle();
  }

  private String unfinished() {
    StringBuilder text = new StringBuilder();
    text.append(invariants.finished()).append(" of ").append(plan.tasks()).append(" tasks; ");
    text.append(invariants.live()).append(" live; ");
    schedulers.forEach(s -> text.append(s.describe()));
    for (SimulatedWorker worker : workers) {
      if (!worker.isIdle()) {
        text.append(worker.address()).append(" is not idle: ").append(worker.jvm().side.state());
      }
    }
    return text.toString();
  }

  // ---- for the parts

  long now() {
    return timeline.now();
  }

  boolean isQuiet() {
    return quiet;
  }

  boolean has(ProtocolBug which) {
    return bug == which;
  }

  long next() {
    return ++numbers;
  }

  void trace(Supplier<String> line) {
    if (tracer != null) {
      tracer.accept(String.format("%9d  %s", now(), line.get()));
    }
  }

  SimulatedScheduler scheduler(int target) {
    return schedulers.get(Math.floorMod(target, schedulers.size()));
  }

  SimulatedWorker.@Nullable Jvm jvmAt(String address) {
    SimulatedWorker worker = byAddress.get(address);
    return worker == null ? null : worker.upJvm();
  }

  /** Returns what the lock service knows of the store; without an election, nothing. */
  SimulatedScheduler.Mark groupMark() {
    return plan.elected() && !has(ProtocolBug.GROUP_WITHOUT_MARK)
        ? groupMark
        : new SimulatedScheduler.Mark();
  }

  /** Cuts a host off from all schedulers, for longer than its leases last. */
  void cutOff(int host) {
    if (quiet) {
      return;
    }
    trace(() -> "host " + host + " is cut off");
    coverage.happened(SimulationEvent.WORKER_CUT_OFF);
    long until = now() + 2 * plan.timers().lostMillis();
    for (SimulatedScheduler scheduler : schedulers) {
      network.cut(host, scheduler.host, until);
      network.cut(scheduler.host, host, until);
    }
  }

  /** Returns the other processes with the same shard. */
  List<Long> instancesElsewhere(SimulatedWorker than) {
    return workers.stream()
        .filter(other -> other != than && other.shard.equals(than.shard))
        .map(other -> other.jvm().ref.instance())
        .toList();
  }

  int hostOf(String address) {
    SimulatedWorker worker = byAddress.get(address);
    return worker == null ? 0 : worker.host.number;
  }

  /** A scheduler has learned that the store was taken over. */
  void staleEpoch(SimulatedProcess owner) {
    if (owner instanceof SimulatedScheduler scheduler) {
      scheduler.die("the store was taken over");
    }
  }

  /** An operation has completed that a scheduler's next step must see. */
  void woken(SimulatedProcess owner) {
    if (owner instanceof SimulatedScheduler scheduler) {
      scheduler.poke();
    }
  }

  /**
   * Acquires the lock. The lock service is always available, and knows true time.
   *
   * @return session of the holder, which changes whenever the lock was free for a moment; 0:
   *     another process holds it
   */
  long acquire(SimulatedScheduler by) {
    if (plan.owned()) {
      return owner.acquire(by);
    }
    boolean free = now() >= lockUntil;
    if (lockHolder != by && !free) {
      return 0;
    }
    if (lockHolder != by || free) {
      lockSession++;
    }
    lockHolder = by;
    lockUntil = now() + LOCK_MILLIS;
    return lockSession;
  }

  /**
   * Simulates a remote call, which is answered or fails after its time limit. Copies of the request
   * may be handled as well, and later.
   *
   * @param handle runs on the other side and passes its answer to the given consumer, once or never
   * @param failed receives whether the request may have arrived
   */
  <A> void call(
      SimulatedProcess from,
      int fromHost,
      SimulatedProcess to,
      int toHost,
      long timeoutMillis,
      Consumer<Consumer<A>> handle,
      Consumer<A> answered,
      Consumer<Boolean> failed) {
    boolean[] over = new boolean[1];
    if (!to.isUp() && !network.isCut(fromHost, toHost) && !network.isCut(toHost, fromHost)) {
      from.later(
          2,
          () -> {
            over[0] = true;
            failed.accept(false);
          });
      return;
    }
    network.carry(
        fromHost,
        toHost,
        () ->
            to.handle(
                () ->
                    handle.accept(
                        answer ->
                            network.carry(
                                toHost,
                                fromHost,
                                () ->
                                    from.later(
                                        0,
                                        () -> {
                                          if (!over[0]) {
                                            over[0] = true;
                                            answered.accept(answer);
                                          }
                                        })))));
    from.later(
        timeoutMillis,
        () -> {
          if (!over[0]) {
            over[0] = true;
            failed.accept(true);
          }
        });
  }
}
