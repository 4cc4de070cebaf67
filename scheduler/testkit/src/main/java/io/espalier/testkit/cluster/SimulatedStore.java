package io.espalier.testkit.cluster;

import io.espalier.core.loop.state.LoopPorts;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.protocol.SchedulerProtocol.Past;
import io.espalier.core.running.WorkerCordon;
import io.espalier.core.status.TaskKey;
import io.espalier.core.status.store.Brake;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.core.status.store.Pause;
import io.espalier.core.status.store.Quarantine;
import io.espalier.core.status.store.RolloutRow;
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
 * The durable store: it applies whole transactions in order, and refuses those of an old epoch. A
 * transaction contains all batches that were waiting when it began. The store may be slow or fail
 * for a while. A transaction whose answer is lost, or whose scheduler dies, may or may not be
 * applied; a mark in the store shows which.
 */
final class SimulatedStore {
  private static final int MOST_WAITING = 50;

  /** Some transactions are small, so that the order of several matters, too. */
  private static final int MOST_TOGETHER = 20;

  private final SimulatedCluster cluster;
  private final Random random;
  private final boolean durable;
  private final Map<TaskKey, StatusRow> rows = new LinkedHashMap<>();
  private final Map<String, WorkerCordon> cordons = new LinkedHashMap<>();
  private final Map<String, Long> incarnations = new LinkedHashMap<>();
  private final Map<String, Pause> pauses = new LinkedHashMap<>();
  private final Map<LimitOverride.Key, LimitOverride> limits = new LinkedHashMap<>();
  private final Map<Brake.Key, Brake> brakes = new LinkedHashMap<>();
  private final Map<RolloutRow.Key, RolloutRow> rollouts = new LinkedHashMap<>();
  private final Map<Quarantine.Key, Quarantine> quarantines = new LinkedHashMap<>();
  private final Map<String, JobStateRecord> jobStates = new LinkedHashMap<>();

  /** What the batches have written one by one, however they were merged. */
  private final Written written = new Written();

  private long mark;
  private long epoch;
  private long leaseMillis;

  /** The number of stores that were lost before this one. */
  private int lost;

  /** What the next leadership must assume about the time before it. */
  private Past past = Past.NEW;

  /** Copies from before each take-over, any of which an operator may restore. */
  private final List<Copy> copies = new ArrayList<>();

  /** How long a transaction usually takes; several batches wait for the end of a long one. */
  private final int usual;

  private long slowUntil;
  private long failsUntil;

  SimulatedStore(SimulatedCluster cluster, Random random, boolean durable) {
    this.cluster = cluster;
    this.random = random;
    this.durable = durable;
    this.usual = random.nextInt(3) == 0 ? 80 : 8;
  }

  private record Copy(
      long epoch,
      Map<TaskKey, StatusRow> rows,
      Map<String, WorkerCordon> cordons,
      Map<String, JobStateRecord> jobStates) {}

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
    cordons.clear();
    cordons.putAll(copy.cordons());
    jobStates.clear();
    jobStates.putAll(copy.jobStates());
    written.rows.clear();
    written.rows.putAll(rows);
    cluster.invariants.storeSetBack(rows.values());
    return true;
  }

  /**
   * The store is lost, with all that knew of it but the workers, and a new one replaces it.
   *
   * @return false if there is nothing to lose
   */
  boolean lose() {
    if (epoch == 0 || !durable) {
      return false;
    }
    clear();
    copies.clear();
    epoch = 0;
    leaseMillis = 0;
    mark = 0;
    lost++;
    past = Past.NEW;
    cluster.invariants.storeLost();
    return true;
  }

  /** Returns the id of the store. */
  String id() {
    return "store " + lost;
  }

  /** Returns what the next leadership must assume about the time before it. */
  Past past() {
    return past;
  }

  /** Returns whether the store replaces a lost one, and does not know it yet. */
  boolean isIgnorant() {
    return lost > 0 && past == Past.NEW;
  }

  /** Records that a safe wait has begun. */
  void outwaits(long byEpoch) {
    if (byEpoch == epoch) {
      past = Past.UNKNOWN;
    }
  }

  /** Returns how long the leases of all leaderships so far may last. */
  long leaseMillis() {
    return leaseMillis;
  }

  /** All leases of earlier leaderships have expired. */
  void outwaited(long byEpoch, long ownLeaseMillis) {
    if (byEpoch == epoch) {
      leaseMillis = ownLeaseMillis;
      past = Past.KNOWN;
    }
  }

  /** Takes the store over with a new epoch. */
  long openEpoch(long atLeast, long ownLeaseMillis) {
    if (durable) {
      copies.add(
          new Copy(
              epoch,
              new LinkedHashMap<>(rows),
              new LinkedHashMap<>(cordons),
              new LinkedHashMap<>(jobStates)));
    }
    leaseMillis = Math.max(leaseMillis, ownLeaseMillis);
    if (!durable) {
      clear();
      if (epoch > 0) {
        cluster.coverage.happened(SimulationEvent.STORE_FORGOT);
      }
      cluster.invariants.storeForgets();
    }
    epoch = Math.max(epoch + 1, atLeast);
    return epoch;
  }

  private void clear() {
    rows.clear();
    cordons.clear();
    incarnations.clear();
    pauses.clear();
    limits.clear();
    brakes.clear();
    rollouts.clear();
    quarantines.clear();
    jobStates.clear();
    written.rows.clear();
    written.incarnations.clear();
  }

  List<StatusRow> rows() {
    return new ArrayList<>(rows.values());
  }

  /** Returns the shards that operators have cordoned or drained. */
  List<WorkerCordon> cordons() {
    return new ArrayList<>(cordons.values());
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

  List<RolloutRow> rollouts() {
    return List.copyOf(rollouts.values());
  }

  List<Brake> brakes() {
    return List.copyOf(brakes.values());
  }

  List<Quarantine> quarantines() {
    return List.copyOf(quarantines.values());
  }

  List<LimitOverride> limits() {
    return List.copyOf(limits.values());
  }

  List<JobStateRecord> jobStates() {
    return List.copyOf(jobStates.values());
  }

  /** The order of the batches, of which a merged transaction shows only the result. */
  private final class Written {
    private final Map<TaskKey, StatusRow> rows = new LinkedHashMap<>();
    private final Map<String, Long> incarnations = new LinkedHashMap<>();

    void add(StoreTransaction batch) {
      for (String job : batch.forgottenJobs()) {
        cluster.invariants.forgot(
            job, incarnations.getOrDefault(job, 0L), batch.incarnations().getOrDefault(job, 0L));
        cluster.coverage.happened(SimulationEvent.JOB_FORGOTTEN);
        rows.keySet().removeIf(task -> task.job().equals(job));
        incarnations.remove(job);
      }
      incarnations.putAll(batch.incarnations());
      for (StatusRow row : batch.rows()) {
        cluster.invariants.committed(rows.put(row.key(), row), row);
      }
      batch.jobStates().forEach(state -> cluster.invariants.became(state, rows.values()));
    }
  }

  private void apply(Group group) {
    if (mark == group.mark()) {
      cluster.coverage.happened(SimulationEvent.COMMITTED_WITHOUT_ANSWER);
      return;
    }
    mark = group.mark();
    group.batches().forEach(written::add);
    if (group.batches().size() > 1) {
      cluster.coverage.happened(SimulationEvent.BATCHES_MERGED);
    }
    StoreTransaction batch = group.together();
    for (String job : batch.forgottenJobs()) {
      rows.keySet().removeIf(task -> task.job().equals(job));
      incarnations.remove(job);
      jobStates.remove(job);
    }
    incarnations.putAll(batch.incarnations());
    batch.pauses().applyTo(pauses);
    batch.limits().applyTo(limits);
    batch.brakes().applyTo(brakes);
    batch.endedRollouts().forEach(job -> rollouts.keySet().removeIf(key -> key.job().equals(job)));
    batch.rollouts().forEach(row -> rollouts.put(row.key(), row));
    batch.quarantines().applyTo(quarantines);
    batch.jobStates().forEach(standing -> jobStates.put(standing.job(), standing));
    batch.rows().forEach(row -> rows.put(row.key(), row));
    batch.cordons().applyTo(cordons);
  }

  /**
   * The content of one transaction.
   *
   * @param mark left in the store by the transaction
   */
  private record Group(List<StoreTransaction> batches, StoreTransaction together, long mark) {}

  /** The connection of one scheduler process to the store. */
  final class Connection implements LoopPorts.Commits {
    private final SimulatedScheduler owner;
    private final long ownEpoch;
    private final int ownStore = lost;
    private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
    private @Nullable Group underWay;
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
      if (underWay != null || ended || waiting.isEmpty()) {
        return;
      }
      underWay = group(cluster.next());
      owner.transacts();
      boolean slow = cluster.now() < slowUntil;
      cluster.timeline.after(1 + random.nextInt(slow ? 4_000 : usual), this::transact);
    }

    /** Merges the waiting batches, as the writer does. */
    private Group group(long newMark) {
      int most = random.nextInt(3) == 0 ? 1 : MOST_TOGETHER;
      List<StoreTransaction> batches = waiting.stream().limit(most).map(Waiting::batch).toList();
      StoreTransaction.Builder all = StoreTransaction.builder();
      batches.forEach(all::add);
      if (cluster.has(ProtocolBug.MERGED_WITHOUT_ORDER)) {
        batches.forEach(batch -> batch.forgottenJobs().forEach(all::forget));
      }
      return new Group(batches, all.build(), newMark);
    }

    private void transact() {
      Group group = underWay;
      if (group == null) {
        return;
      }
      if (ownStore != lost) {
        return;
      }
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
        // The writer retries the same transaction: it cannot know whether it was committed.
        if (random.nextInt(4) == 0) {
          apply(group);
        }
        if (cluster.has(ProtocolBug.MARK_REUSED)) {
          underWay = group(group.mark());
        }
        owner.later(500, () -> cluster.timeline.after(1, this::transact));
        return;
      }
      apply(group);
      owner.later(
          1 + random.nextInt(3),
          () -> {
            List<Waiting> done = new ArrayList<>();
            for (int i = 0; i < group.batches().size(); i++) {
              done.add(waiting.remove());
            }
            underWay = null;
            done.forEach(each -> each.told().complete(null));
            pump();
            cluster.woken(owner);
          });
    }
  }
}
