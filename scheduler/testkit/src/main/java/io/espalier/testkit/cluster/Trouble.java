package io.espalier.testkit.cluster;

import java.util.List;
import java.util.Random;

/** What goes wrong in a simulated cluster, at random instants, until it is told to stop. */
final class Trouble {
  private final SimulatedCluster cluster;
  private final List<SimulatedWorker> workers;
  private final List<SimulatedScheduler> schedulers;
  private final Random random;
  private final long lost;
  private final int every;

  Trouble(
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
    switch (random.nextInt(15)) {
      case 0 -> {
        if (random.nextBoolean()) {
          worker.jvm().stopAtNext(random.nextBoolean(), span);
        } else {
          cluster.trace(() -> worker.jvm().name + " is stopped for " + span);
          worker.jvm().stop(span);
        }
      }
      case 1 -> {
        worker.crash();
        cluster.timeline.after(span, worker::boot);
      }
      case 2 -> {
        worker.crashHost();
        cluster.timeline.after(span, worker::boot);
      }
      case 3, 4 -> cut(worker.host.number, scheduler.host, span);
      case 5 -> {
        for (SimulatedScheduler each : schedulers) {
          cut(worker.host.number, each.host, span);
        }
      }
      case 6 -> {
        cluster.trace(() -> scheduler.name + " is stopped for " + span);
        scheduler.stop(span);
      }
      case 7 -> scheduler.die("killed");
      case 8 -> {
        cluster.trace(() -> "the store is slow for " + span);
        cluster.store.slow(cluster.now() + span);
      }
      case 9 -> {
        cluster.trace(() -> "the store fails for " + span);
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
        int jump = random.nextInt(40_000) - 20_000;
        cluster.trace(() -> "the wall clock of " + worker.jvm().name + " jumps by " + jump);
        worker.host.jump(jump);
        worker.jvm().handle(worker.jvm()::poke);
      }
      case 13 -> {
        cluster.trace(() -> scheduler.name + " is cut off from lock and store for " + span);
        cluster.network.cut(scheduler.host, scheduler.host, cluster.now() + span);
      }
      default -> {
        weather();
        SimulatedWorker spare = workers.get(workers.size() - 1);
        spare.boot();
        cluster.timeline.after(span, spare::crash);
      }
    }
  }

  /** In one direction or both. */
  private void cut(int one, int other, long span) {
    int which = random.nextInt(3);
    cluster.trace(() -> "cut between hosts " + one + " and " + other + ", kind " + which);
    if (which != 1) {
      cluster.network.cut(one, other, cluster.now() + span);
    }
    if (which != 0) {
      cluster.network.cut(other, one, cluster.now() + span);
    }
  }
}
