package io.espalier.e2e.drill;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Breaks a cluster at random, and mends what it broke. */
final class Faults {
  /** Longer than the lease and the margin of a drill. */
  private static final int LONG_MILLIS = 7_000;

  /** The files of the scheduler's status store. */
  private static final List<String> STORE =
      List.of("statuses.sqlite", "statuses.sqlite-wal", "statuses.sqlite-shm");

  private static final long AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  /** What can be done to a cluster. */
  enum Kind {
    KILL_WORKER(2),
    STOP_WORKER(1),
    FREEZE_WORKER(4),
    KILL_GUARD(2),
    FREEZE_GUARD(2),
    DRAIN_WORKER(1),
    KILL_SCHEDULER(2),
    STOP_SCHEDULER(1),
    FREEZE_SCHEDULER(4),
    CUT_WORKER(3),
    MUTE_WORKER(3),
    DEAFEN_WORKER(3),
    CUT_SCHEDULER(2),
    FILL_WORKER_DISK(2),
    FILL_SCHEDULER_DISK(2),
    COPY_WORKER_DIRECTORY(2),
    SET_BACK_STORE(2),
    WRONG_NODES(3);

    /** What needs a new start of a program is done less often: it takes the longest. */
    private final int weight;

    Kind(int weight) {
      this.weight = weight;
    }

    private static Kind drawn(Random random) {
      int drawn = random.nextInt(Stream.of(values()).mapToInt(kind -> kind.weight).sum());
      for (Kind kind : values()) {
        drawn -= kind.weight;
        if (drawn < 0) {
          return kind;
        }
      }
      throw new IllegalStateException("the weights have changed");
    }

    private boolean isOfNetwork() {
      return this == CUT_WORKER
          || this == MUTE_WORKER
          || this == DEAFEN_WORKER
          || this == CUT_SCHEDULER;
    }
  }

  /** Tells the scheduler something by its API; false when it does not answer. */
  interface Operator {
    boolean tells(String path);
  }

  /** A worker was frozen for so long, by the clock of the tasks. */
  record Freeze(String worker, long fromMillis, long toMillis) {}

  private record Undo(long atNanos, BooleanSupplier action) {}

  private final Hosts hosts;
  private final Part scheduler;
  private final List<Part> workers;
  private final Map<Part, Disk> disks;
  private final Operator operator;
  private final Consumer<String> nodes;
  private final List<Undo> undos = new ArrayList<>();
  private final Map<Kind, Integer> counts = new EnumMap<>(Kind.class);
  private final List<Freeze> freezes = new ArrayList<>();

  /**
   * @param disks where the data directory of each of them is
   * @param nodes lets the source of nodes answer with that
   */
  Faults(
      Hosts hosts,
      Part scheduler,
      List<Part> workers,
      Map<Part, Disk> disks,
      Operator operator,
      Consumer<String> nodes) {
    this.hosts = hosts;
    this.scheduler = scheduler;
    this.workers = workers;
    this.disks = disks;
    this.operator = operator;
    this.nodes = nodes;
  }

  /** How often each kind has been done. */
  Map<Kind, Integer> counts() {
    return counts;
  }

  List<Freeze> freezes() {
    return freezes;
  }

  /** One fault of a schedule. */
  record Fault(long atMillis, Kind kind, int host, int forMillis) {
    /** What is to be done over so much time. */
    static List<Fault> drawn(Random random, int workers, long overMillis) {
      List<Fault> drawn = new ArrayList<>();
      for (long at = random.nextInt(1_000); at < overMillis; at += 300 + random.nextInt(1_400)) {
        Kind kind = Kind.drawn(random);
        int host = 1 + random.nextInt(workers);
        int millis = 100 + random.nextInt(random.nextBoolean() ? 1_500 : LONG_MILLIS);
        drawn.add(new Fault(at, kind, host, millis));
      }
      return drawn;
    }

    @Override
    public String toString() {
      String what = kind.name().toLowerCase(Locale.ROOT);
      String whom =
          kind.name().contains("WORKER") || kind.name().contains("GUARD") ? " w" + host : "";
      return atMillis + " ms: " + what + whom + " for " + forMillis + " ms";
    }
  }

  /** False: it cannot be done now, or here. */
  boolean tried(Fault fault) {
    boolean done =
        (hosts.canBeCut() || !fault.kind.isOfNetwork())
            && done(fault.kind, fault.host, System.nanoTime(), fault.forMillis);
    if (done) {
      counts.merge(fault.kind, 1, Integer::sum);
    }
    return done;
  }

  /** False: it cannot be done now. */
  private boolean done(Kind kind, int host, long now, int millis) {
    Part worker = workers.get(host - 1);
    long until = now + TimeUnit.MILLISECONDS.toNanos(millis);
    switch (kind) {
      case KILL_WORKER -> {
        if (!worker.isAlive() || !worker.isGuarded()) {
          return false;
        }
        worker.kill();
        undo(until, worker::start);
      }
      case STOP_WORKER -> {
        if (!worker.isAlive() || worker.isFrozen()) {
          return false;
        }
        Process stopping = worker.stop();
        undoOnce(until, () -> restarted(worker, stopping));
      }
      case FREEZE_WORKER -> {
        if (!worker.isAlive() || worker.isFrozen() || !worker.isGuarded()) {
          return false;
        }
        freeze(worker, until);
      }
      case KILL_GUARD -> {
        return worker.isAlive() && !worker.isFrozen() && worker.isGuarded() && worker.killGuard();
      }
      case FREEZE_GUARD -> {
        if (!worker.isAlive()
            || worker.isFrozen()
            || !worker.isGuarded()
            || !worker.freezeGuard()) {
          return false;
        }
        undo(until, worker::thawGuard);
      }
      case DRAIN_WORKER -> {
        // Without an answer it may have been done all the same.
        boolean answered = operator.tells("/api/v1/workers/" + worker.name() + "/drain");
        undoOnce(until, () -> uncordoned(worker));
        return answered;
      }
      case KILL_SCHEDULER -> {
        scheduler.kill();
        disk(scheduler).save(STORE);
        undo(now + (until - now) / 3, scheduler::start);
      }
      case STOP_SCHEDULER -> {
        if (!scheduler.isAlive() || scheduler.isFrozen()) {
          return false;
        }
        Process stopping = scheduler.stop();
        undoOnce(now + (until - now) / 3, () -> restarted(scheduler, stopping));
      }
      case FREEZE_SCHEDULER -> {
        if (!scheduler.isAlive() || scheduler.isFrozen()) {
          return false;
        }
        scheduler.freeze();
        undo(until, scheduler::thaw);
      }
      case CUT_WORKER -> {
        hosts.cut(host);
        undo(until, () -> hosts.mend(host));
      }
      case MUTE_WORKER -> {
        hosts.mute(host);
        undo(until, () -> hosts.mend(host));
      }
      case DEAFEN_WORKER -> {
        hosts.deafen(host);
        undo(until, () -> hosts.mend(host));
      }
      case CUT_SCHEDULER -> {
        hosts.cut(0);
        undo(until, () -> hosts.mend(0));
      }
      case FILL_WORKER_DISK -> {
        return filled(worker, until);
      }
      case FILL_SCHEDULER_DISK -> {
        return filled(scheduler, until);
      }
      case COPY_WORKER_DIRECTORY -> {
        if (!worker.isAlive() || !worker.isGuarded() || disk(worker).isFull()) {
          return false;
        }
        worker.kill();
        disk(worker).replaceByCopy();
        undo(until, worker::start);
      }
      case SET_BACK_STORE -> {
        if (!disk(scheduler).hasSaved() || disk(scheduler).isFull()) {
          return false;
        }
        scheduler.kill();
        disk(scheduler).setBack(STORE);
        undo(now + (until - now) / 3, scheduler::start);
        // In the copy a worker may be drained that is in service now.
        workers.forEach(each -> undoOnce(until, () -> uncordoned(each)));
      }
      case WRONG_NODES -> {
        nodes.accept(DrillJob.wrongNodes(millis));
        undo(until, () -> nodes.accept(DrillJob.nodes()));
      }
    }
    return true;
  }

  private Disk disk(Part part) {
    return Objects.requireNonNull(disks.get(part));
  }

  private boolean filled(Part part, long until) {
    if (!disk(part).fill()) {
      return false;
    }
    undo(
        until,
        () -> {
          disk(part).empty();
          part.start();
        });
    return true;
  }

  /** Until everything is mended. */
  void freeze(Part worker) {
    freeze(worker, System.nanoTime() + TimeUnit.HOURS.toNanos(1));
    counts.merge(Kind.FREEZE_WORKER, 1, Integer::sum);
  }

  private void freeze(Part worker, long until) {
    long from = System.currentTimeMillis();
    worker.freeze();
    undo(
        until,
        () -> {
          freezes.add(new Freeze(worker.name(), from, System.currentTimeMillis()));
          worker.thaw();
        });
  }

  private static boolean restarted(Part part, Process before) {
    if (before.isAlive()) {
      return false;
    }
    part.start();
    return true;
  }

  /** A drained worker ends; back in service it has to be started again. */
  private boolean uncordoned(Part worker) {
    if (!operator.tells("/api/v1/workers/" + worker.name() + "/uncordon")) {
      return false;
    }
    worker.start();
    return true;
  }

  private void undo(long atNanos, Runnable action) {
    undoOnce(
        atNanos,
        () -> {
          action.run();
          return true;
        });
  }

  private void undoOnce(long atNanos, BooleanSupplier action) {
    undos.add(new Undo(atNanos, action));
  }

  /** Mends what is to be mended by now. */
  void mendDue() {
    mend(false);
  }

  /**
   * Mends everything and starts what is not there.
   *
   * @return whether that is so; otherwise to be called again
   */
  boolean mendAll() {
    mend(true);
    scheduler.start();
    workers.forEach(Part::start);
    return undos.isEmpty();
  }

  private void mend(boolean all) {
    for (Undo undo : List.copyOf(undos)) {
      if (all || System.nanoTime() - undo.atNanos() >= 0) {
        undos.remove(undo);
        if (!undo.action().getAsBoolean()) {
          undos.add(new Undo(System.nanoTime() + AGAIN_NANOS, undo.action()));
        }
      }
    }
  }
}
