package io.espalier.testkit.cluster;

import io.espalier.core.protocol.ProtocolTimers;
import io.espalier.core.running.WorkerCordon;
import java.util.Collections;
import java.util.Comparator;
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
    switch (random.nextInt(24)) {
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
        scheduler.cordon(
            worker.shard,
            random.nextBoolean() ? WorkerCordon.Kind.DRAIN : WorkerCordon.Kind.CORDON);
        cluster.timeline.after(span, () -> schedulers.forEach(s -> s.cordon(worker.shard, null)));
      }
      case 17 -> scheduler.suspend(span);
      case 18 -> suspendALeader(busiest());
      case 19 -> {
        if (worker.jvm().isUp() && !worker.jvm().isStopped()) {
          worker.host.killGuard();
        }
      }
      case 20 -> {
        if (random.nextBoolean()) {
          setBack();
        } else {
          lose();
        }
      }
      case 21 -> scheduler.die("an operator starts it again");
      case 22 -> flap(worker.host.number, scheduler.host, cluster.now() + 2 * span);
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

  private SimulatedWorker busiest() {
    return Collections.max(workers, Comparator.comparingInt(worker -> worker.host.tasks().size()));
  }

  /**
   * Suspends a leader at the worst moment, for somewhat longer than another needs to take over,
   * while a worker cannot reach any other scheduler.
   */
  private void suspendALeader(SimulatedWorker worker) {
    for (SimulatedScheduler scheduler : schedulers) {
      if (scheduler.isLeading()) {
        scheduler.suspendInTurn(longEnough());
      } else {
        cluster.network.cut(worker.host.number, scheduler.host, cluster.now() + 3 * lost);
        cluster.network.cut(scheduler.host, worker.host.number, cluster.now() + 3 * lost);
      }
    }
  }

  /** Returns a time that the workers' tasks outlive, and the leadership does not. */
  private long longEnough() {
    ProtocolTimers timers = cluster.plan.timers();
    long least = SimulatedCluster.LOCK_MILLIS + timers.marginMillis() + timers.guardMillis();
    long most = timers.stopAfterMillis() - timers.heartbeatMillis();
    return Math.max(least, most) - random.nextInt((int) Math.max(1, (most - least) / 2));
  }

  /**
   * An operator stops the schedulers, restores an old copy of their store, and starts them again.
   * Without an election, the other scheduler's directory may know of nothing that was lost.
   */
  private void setBack() {
    if (!cluster.plan.owned() && cluster.plan.durable() && !cluster.plan.isSteered()) {
      schedulers.forEach(each -> each.die("its store is to be restored"));
      if (cluster.store.setBack()) {
        cluster.trace(() -> "the store is set back to epoch " + cluster.store.epoch());
        happened(SimulationEvent.STORE_SET_BACK);
      }
    }
  }

  /**
   * The machine of the schedulers is lost with their store and all its marks; they begin on a new
   * one, with the same timers.
   */
  private void lose() {
    ClusterPlan plan = cluster.plan;
    if (plan.owned() || plan.isSteered() || !plan.timers(0).equals(plan.timers(1))) {
      return;
    }
    schedulers.forEach(each -> each.die("its store is lost"));
    if (cluster.store.lose()) {
      cluster.trace(() -> "the store is lost");
      happened(SimulationEvent.STORE_LOST);
      schedulers.forEach(SimulatedScheduler::forgetStore);
      workers.forEach(SimulatedWorker::storeLost);
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

  /** The link between two hosts goes down and up, in one direction or both. */
  private void flap(int one, int other, long until) {
    happened(SimulationEvent.LINK_FLAPPED);
    int heartbeat = (int) cluster.plan.timers().heartbeatMillis();
    int down = 1 + random.nextInt(2 * heartbeat);
    int up = 1 + random.nextInt(2 * heartbeat);
    cluster.trace(
        () -> "the link " + one + " - " + other + " is down for " + down + ", then up for " + up);
    Runnable again =
        new Runnable() {
          @Override
          public void run() {
            if (!cluster.isQuiet() && cluster.now() < until) {
              cut(one, other, 1L + random.nextInt(2 * down));
              cluster.timeline.after(down + 1L + random.nextInt(2 * up), this);
            }
          }
        };
    again.run();
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
