package io.espalier.testkit.cluster;

import io.espalier.core.protocol.ProtocolTimers;
import io.espalier.core.running.WorkerCordon;
import java.util.List;
import java.util.Random;

/** Injects faults into a simulated cluster at random instants until it is told to stop. */
final class FaultInjector {
  private final SimulatedCluster cluster;
  private final List<SimulatedWorker> workers;
  private final List<SimulatedScheduler> schedulers;
  private final Random random;
  private final long lost;
  private final int every;

  FaultInjector(
      SimulatedCluster cluster,
      List<SimulatedWorker> workers,
      List<SimulatedScheduler> schedulers) {
    this.cluster = cluster;
    this.workers = workers;
    this.schedulers = schedulers;
    this.random = cluster.random;
    this.lost = cluster.plan.timers().lostMillis();
    this.every = 1_000 + random.nextInt(12_000);
  }

  void begin() {
    weather();
    cluster.timeline.after(random.nextInt(every), this::next);
  }

  private void next() {
    if (cluster.isQuiet()) {
      return;
    }
    one();
    cluster.timeline.after(1 + random.nextInt(2 * every), this::next);
  }

  private void weather() {
    boolean bad = random.nextInt(3) > 0;
    cluster.network.weather(
        bad ? random.nextDouble() * 0.1 : 0,
        bad ? random.nextDouble() * 0.1 : 0,
        bad ? random.nextDouble() * 0.1 : 0,
        random.nextInt(4) == 0 ? (int) (2 * lost) : 3_000);
  }

  private void one() {
    SimulatedWorker worker = workers.get(random.nextInt(workers.size()));
    SimulatedScheduler scheduler = schedulers.get(random.nextInt(schedulers.size()));
    long span = 100L + random.nextInt((int) (random.nextInt(3) == 0 ? 3 * lost : lost / 2));
    switch (random.nextInt(23)) {
      case 0 -> {
        if (random.nextBoolean()) {
          boolean heartbeat = random.nextBoolean();
          worker.jvm().stopAtNext(heartbeat, heartbeat ? mostOfALease() : span);
        } else {
          cluster.trace(() -> worker.jvm().name + " is stopped for " + span);
          happened(SimulationEvent.WORKER_STOPPED);
          worker.jvm().stop(span);
        }
      }
      case 1 -> {
        happened(SimulationEvent.WORKER_KILLED);
        if (random.nextBoolean()) {
          worker.jvm().dieAtNextStart(span);
        } else {
          worker.crash();
          cluster.timeline.after(span, worker::boot);
        }
      }
      case 2 -> {
        happened(SimulationEvent.HOST_LOST_POWER);
        worker.crashHost();
        cluster.timeline.after(span, worker::boot);
      }
      case 3, 4 -> cut(worker.host.number, scheduler.host, span);
      case 5 -> {
        happened(SimulationEvent.WORKER_CUT_OFF);
        for (SimulatedScheduler each : schedulers) {
          cut(worker.host.number, each.host, span);
        }
      }
      case 6 -> {
        cluster.trace(() -> scheduler.name + " is stopped for " + span);
        happened(SimulationEvent.SCHEDULER_STOPPED);
        scheduler.stop(span);
      }
      case 7 -> {
        if (random.nextBoolean()) {
          scheduler.dieInTransaction();
        } else {
          happened(SimulationEvent.SCHEDULER_KILLED);
          scheduler.die("killed");
        }
      }
      case 8 -> {
        cluster.trace(() -> "the store is slow for " + span);
        happened(SimulationEvent.STORE_SLOW);
        cluster.store.slow(cluster.now() + span);
      }
      case 9 -> {
        cluster.trace(() -> "the store fails for " + span);
        happened(SimulationEvent.STORE_FAILED);
        cluster.store.fails(cluster.now() + span);
      }
      case 10 -> scheduler.killSomething();
      case 11 -> {
        SimulatedWorker.Jvm jvm = worker.jvm();
        if (jvm.isUp()) {
          cluster.trace(() -> jvm.name + " is drained");
          jvm.handle(
              () -> {
                jvm.side.drain(worker.host.now());
                jvm.poke();
              });
        }
      }
      case 12 -> {
        if (worker.host.isAsleep()) {
          return;
        }
        int jump = random.nextInt(40_000) - 20_000;
        happened(SimulationEvent.WALL_CLOCK_JUMPED);
        cluster.trace(() -> "the wall clock of " + worker.jvm().name + " jumps by " + jump);
        worker.host.jump(jump);
        worker.jvm().handle(worker.jvm()::poke);
      }
      case 13 -> {
        cluster.trace(() -> scheduler.name + " is cut off from lock and store for " + span);
        happened(SimulationEvent.SCHEDULER_CUT_OFF);
        cluster.network.cut(scheduler.host, scheduler.host, cluster.now() + span);
      }
      case 14, 15 -> suspend(worker, span);
      case 16 -> {
        scheduler.hold(
            worker.shard,
            random.nextBoolean() ? WorkerCordon.Kind.DRAIN : WorkerCordon.Kind.CORDON);
        cluster.timeline.after(span, () -> schedulers.forEach(s -> s.hold(worker.shard, null)));
      }
      case 17 -> scheduler.suspend(span);
      case 18 -> suspendALeader(worker);
      case 19 -> {
        if (worker.jvm().isUp() && !worker.jvm().isStopped()) {
          worker.host.killGuard();
        }
      }
      case 20 -> {
        if (random.nextBoolean()) {
          setBack(scheduler);
        }
      }
      case 21 -> scheduler.die("an operator starts it anew");
      default -> {
        weather();
        happened(SimulationEvent.SHARD_DOUBLED);
        SimulatedWorker spare = workers.get(workers.size() - 1);
        if (random.nextBoolean() && !spare.jvm().isUp()) {
          happened(SimulationEvent.DIRECTORY_COPIED);
          workers.stream()
              .filter(each -> each != spare && each.shard.equals(spare.shard))
              .forEach(each -> spare.host.copyDirectory(each.host));
        }
        spare.boot();
        cluster.timeline.after(span, spare::crash);
      }
    }
  }

  /**
   * Suspends a leader at the worst moment, for somewhat longer than another needs to take over,
   * while a worker cannot reach any other scheduler.
   */
  private void suspendALeader(SimulatedWorker worker) {
    for (SimulatedScheduler scheduler : schedulers) {
      if (scheduler.isLeading()) {
        ProtocolTimers timers = cluster.plan.timers();
        scheduler.suspendInTurn(
            SimulatedCluster.LOCK_MILLIS
                + timers.marginMillis()
                + timers.guardMillis()
                + random.nextInt((int) timers.leaseMillis() / 2));
      } else {
        cluster.network.cut(worker.host.number, scheduler.host, cluster.now() + 3 * lost);
        cluster.network.cut(scheduler.host, worker.host.number, cluster.now() + 3 * lost);
      }
    }
  }

  /** An operator stops the scheduler, restores an old copy of its store, and starts it again. */
  private void setBack(SimulatedScheduler scheduler) {
    if (schedulers.size() == 1 && cluster.plan.durable() && !cluster.plan.isSteered()) {
      scheduler.die("its store is to be restored");
      if (cluster.store.setBack()) {
        cluster.trace(() -> "the store is set back to epoch " + cluster.store.epoch());
        happened(SimulationEvent.STORE_SET_BACK);
      }
    }
  }

  /** Returns a time after which just enough of a lease is left to do harm. */
  private long mostOfALease() {
    ProtocolTimers timers = cluster.plan.timers();
    long longest = timers.guardAfterMillis() - timers.heartbeatMillis() / 2;
    return longest / 3 + random.nextInt((int) (longest * 2 / 3));
  }

  private void happened(SimulationEvent what) {
    cluster.coverage.happened(what);
  }

  /** Suspends a host once or a few times; sometimes its worker is stopped throughout. */
  private void suspend(SimulatedWorker worker, long span) {
    if (random.nextBoolean()) {
      cluster.trace(() -> worker.jvm().name + " is stopped for " + 3 * lost);
      worker.jvm().stop(3 * lost);
    }
    for (int i = 0; i < 3; i++) {
      cluster.timeline.after(
          1L + random.nextInt((int) lost / 2),
          () -> {
            if (!cluster.isQuiet() && worker.host.suspend(worker.jvm(), span) > 0) {
              cluster.trace(() -> "host " + worker.host.number + " is suspended");
              happened(SimulationEvent.HOST_SUSPENDED);
            }
          });
    }
  }

  /** Cuts the network between two hosts, in one direction or both. */
  private void cut(int one, int other, long span) {
    int which = random.nextInt(3);
    happened(which == 2 ? SimulationEvent.CUT_BOTH_WAYS : SimulationEvent.CUT_ONE_WAY);
    cluster.trace(() -> "cut between hosts " + one + " and " + other + ", kind " + which);
    if (which != 1) {
      cluster.network.cut(one, other, cluster.now() + span);
    }
    if (which != 0) {
      cluster.network.cut(other, one, cluster.now() + span);
    }
  }
}
