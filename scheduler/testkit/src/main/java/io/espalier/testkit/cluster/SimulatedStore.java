package io.espalier.testkit.cluster;

import io.espalier.core.loop.state.LoopPorts;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.running.WorkerCordon;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.core.status.store.Pause;
import io.espalier.core.status.store.StatusRow;
import io.espalier.core.status.store.StoreTransaction;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The durable store: it applies whole transactions in order, and refuses those of an old epoch. It
 * may be slow or fail for a while. If a scheduler dies during a transaction, the transaction may or
 * may not be applied, without notice.
 */
final class SimulatedStore {
  private static final int MOST_WAITING = 50;

  private final SimulatedCluster cluster;
  private final Random random;
  private final boolean durable;
  private final Map<TaskKey, StatusRow> rows = new LinkedHashMap<>();
  private final Map<String, WorkerCordon> holds = new LinkedHashMap<>();
  private final Map<String, Long> incarnations = new LinkedHashMap<>();
  private final Map<String, Pause> pauses = new LinkedHashMap<>();
  private final Map<LimitOverride.Key, LimitOverride> limits = new LinkedHashMap<>();
  private final Map<String, JobStateRecord> standings = new LinkedHashMap<>();
  private @Nullable StoreTransaction latest;
  private long epoch;
  private long leaseMillis;

  /** Copies from before each take-over, any of which an operator may restore. */
  private final List<Copy> copies = new ArrayList<>();

  private long slowUntil;
  private long failsUntil;

  SimulatedStore(SimulatedCluster cluster, Random random, boolean durable) {
    this.cluster = cluster;
    this.random = random;
    this.durable = durable;
  }

  private record Copy(
      long epoch,
      Map<TaskKey, StatusRow> rows,
      Map<String, WorkerCordon> holds,
      Map<String, JobStateRecord> standings) {}

  /** Returns the newest opened epoch. */
  long epoch() {
    return epoch;
  }

  /** An operator restores an old copy. */
  boolean setBack() {
    if (copies.isEmpty() || !durable) {
      return false;
    }
    Copy copy = copies.get(random.nextInt(copies.size()));
    epoch = copy.epoch();
    rows.clear();
    rows.putAll(copy.rows());
    holds.clear();
    holds.putAll(copy.holds());
    standings.clear();
    standings.putAll(copy.standings());
    cluster.invariants.storeSetBack(rows.values());
    return true;
  }

  /** Returns how long the leases of all leaderships so far may last. */
  long leaseMillis() {
    return leaseMillis;
  }

  /** All leases of earlier leaderships have expired. */
  void outwaited(long byEpoch, long ownLeaseMillis) {
    if (byEpoch == epoch) {
      leaseMillis = ownLeaseMillis;
    }
  }

  /** Takes the store over with a new epoch. */
  long openEpoch(long atLeast, long ownLeaseMillis) {
    if (durable) {
      copies.add(
          new Copy(
              epoch,
              new LinkedHashMap<>(rows),
              new LinkedHashMap<>(holds),
              new LinkedHashMap<>(standings)));
    }
    leaseMillis = Math.max(leaseMillis, ownLeaseMillis);
    if (!durable) {
      rows.clear();
      holds.clear();
      incarnations.clear();
      pauses.clear();
      limits.clear();
      standings.clear();
      if (epoch > 0) {
        cluster.coverage.happened(SimulationEvent.STORE_FORGOT);
      }
      cluster.invariants.storeForgets();
    }
    epoch = Math.max(epoch + 1, atLeast);
    return epoch;
  }

  List<StatusRow> rows() {
    return new ArrayList<>(rows.values());
  }

  /** Returns the shards that operators have cordoned or drained. */
  List<WorkerCordon> holds() {
    return new ArrayList<>(holds.values());
  }

  @Nullable StatusRow row(TaskKey key) {
    return rows.get(key);
  }

  void slow(long until) {
    slowUntil = until;
  }

  void fails(long until) {
    failsUntil = until;
  }

  void heal() {
    slowUntil = 0;
    failsUntil = 0;
  }

  /** Returns the jobs, each with its creation time. */
  Map<String, Long> incarnations() {
    return Map.copyOf(incarnations);
  }

  List<Pause> pauses() {
    return List.copyOf(pauses.values());
  }

  List<LimitOverride> limits() {
    return List.copyOf(limits.values());
  }

  List<JobStateRecord> standings() {
    return List.copyOf(standings.values());
  }

  @SuppressWarnings("ReferenceEquality") // The same batch may be applied twice.
  private void apply(StoreTransaction batch) {
    for (String job : batch.forgottenJobs()) {
      if (batch != latest) {
        cluster.invariants.forgot(
            job, incarnations.getOrDefault(job, 0L), batch.incarnations().getOrDefault(job, 0L));
        cluster.coverage.happened(SimulationEvent.JOB_FORGOTTEN);
      }
      rows.keySet().removeIf(task -> task.job().equals(job));
      incarnations.remove(job);
      standings.remove(job);
    }
    latest = batch;
    incarnations.putAll(batch.incarnations());
    batch.endedPauses().forEach(pauses::remove);
    batch.pauses().forEach(pause -> pauses.put(pause.job(), pause));
    batch.endedLimits().forEach(limits::remove);
    batch.limits().forEach(limit -> limits.put(limit.key(), limit));
    batch.standings().forEach(standing -> standings.put(standing.job(), standing));
    for (StatusRow row : batch.rows()) {
      cluster.invariants.committed(rows.put(row.key(), row), row);
    }
    batch.holds().forEach(hold -> holds.put(hold.shard(), hold));
    batch.endedHolds().forEach(holds::remove);
  }

  /** The connection of one scheduler process to the store. */
  final class Connection implements LoopPorts.Commits {
    private final SimulatedScheduler owner;
    private final long ownEpoch;
    private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
    private boolean busy;
    private boolean ended;

    private record Waiting(StoreTransaction batch, CompletableFuture<Void> told) {}

    Connection(SimulatedScheduler owner, long ownEpoch) {
      this.owner = owner;
      this.ownEpoch = ownEpoch;
    }

    @Override
    public CompletionStage<Void> submit(StoreTransaction batch) {
      CompletableFuture<Void> told = new CompletableFuture<>();
      waiting.add(new Waiting(batch, told));
      pump();
      if (cluster.has(ProtocolBug.DISPATCH_BEFORE_COMMIT)) {
        return CompletableFuture.completedFuture(null);
      }
      return told;
    }

    @Override
    public boolean isSaturated() {
      return waiting.size() > MOST_WAITING;
    }

    /** Runs the action once everything submitted so far is durable. */
    void whenDurable(Runnable then) {
      if (waiting.isEmpty()) {
        then.run();
      } else {
        var unused = waiting.getLast().told().thenRun(then);
      }
    }

    /** Its process has died: a transaction under way may still be applied. */
    void end() {
      ended = true;
    }

    private void pump() {
      if (busy || ended || waiting.isEmpty()) {
        return;
      }
      busy = true;
      owner.transacts();
      boolean slow = cluster.now() < slowUntil;
      cluster.timeline.after(1 + random.nextInt(slow ? 4_000 : 8), this::transact);
    }

    private void transact() {
      Waiting first = waiting.element();
      if (ended) {
        boolean done = random.nextBoolean();
        cluster.coverage.happened(
            done ? SimulationEvent.CRASH_AFTER_COMMIT : SimulationEvent.CRASH_BEFORE_COMMIT);
        if (!done) {
          return;
        }
      }
      if (owner.isCutOff() && !ended) {
        owner.later(500, () -> cluster.timeline.after(1, this::transact));
        return;
      }
      if (ownEpoch != epoch) {
        cluster.coverage.happened(SimulationEvent.OLD_EPOCH_REFUSED);
        owner.handle(() -> cluster.staleEpoch(owner));
        return;
      }
      if (cluster.now() < failsUntil && !ended) {
        // The writer retries the same batch, because it cannot know whether the last attempt
        // succeeded.
        if (random.nextInt(4) == 0) {
          apply(first.batch());
        }
        owner.later(500, () -> cluster.timeline.after(1, this::transact));
        return;
      }
      apply(first.batch());
      owner.later(
          1 + random.nextInt(3),
          () -> {
            waiting.remove();
            busy = false;
            first.told().complete(null);
            pump();
            cluster.woken(owner);
          });
    }
  }
}
