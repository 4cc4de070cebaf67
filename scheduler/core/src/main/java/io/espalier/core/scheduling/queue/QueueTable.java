package io.espalier.core.scheduling.queue;

import io.espalier.core.config.Config;
import io.espalier.core.config.JobScheduling;
import io.espalier.core.config.Levels;
import io.espalier.core.config.LimitRules;
import io.espalier.core.config.QueueSpec;
import io.espalier.core.config.Resource;
import io.espalier.core.scheduling.capacity.LimitTable;
import io.espalier.core.scheduling.capacity.NodeCapacity;
import io.espalier.core.scheduling.gate.JobGates;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.scheduling.task.RunPlacements;
import io.espalier.core.scheduling.task.RunningTasks;
import io.espalier.core.scheduling.worker.WorkerIndex;
import io.espalier.core.scheduling.worker.WorkerTable;
import io.espalier.core.status.store.QueueUsage;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The queues of one scheduling state (docs/design/features.md#queues): the slots of their running
 * tasks, the jobs that fit under their caps, and their recent usage.
 *
 * <p>A task uses slots on each node of its path and on its worker. A cap compares a queue's slots
 * with the total slots: the limits in effect, summed over the nodes of the resource's level or over
 * the workers. The use of a queue is its dominant share, the largest fraction of any resource that
 * it holds.
 *
 * <p>{@link #refresh} applies changes of the total slots together. A start or an end of a task in a
 * queue without caps only counts the task: what lasted no time has no weight in the recent usage,
 * so slots in use are added up when the clock moves on or when they are read
 * (docs/adr/0057-cost-of-a-start.md).
 */
public final class QueueTable {
  private final JobTable jobs;
  private final NodeCapacity ledger;
  private final WorkerIndex workers;
  private final JobGates gates;
  private final LimitTable limits;
  private final int workerLevel;
  private final int[] levelOf;
  private final QueueCharges charges;
  private final QueueState[] queues;
  private final int[] ofJob;
  private final long[] open;

  /** By resource: the total slots, as of the versions below. */
  private final long[] totals;

  private int seenNodes = -1;
  private int seenWorkers = -1;
  private boolean isByWeight;
  private long halfLifeMillis;
  private long now;

  /** Whether the state is in force; otherwise another state has the history. */
  private boolean isInForce;

  /**
   * @param gates must be told of every job that a cap closes or opens; {@link #open} is one of
   *     their sources
   */
  public QueueTable(
      Config config,
      JobTable jobs,
      NodeCapacity ledger,
      WorkerIndex workers,
      JobGates gates,
      LimitTable limits) {
    this.limits = limits;
    this.jobs = jobs;
    this.ledger = ledger;
    this.workers = workers;
    this.gates = gates;
    Levels names = config.settings().levels();
    workerLevel = names.worker();
    levelOf = config.settings().resources().all().stream().mapToInt(Resource::level).toArray();
    charges = new QueueCharges(jobs, ledger, workers, levelOf, workerLevel);
    totals = new long[levelOf.length];
    open = new long[jobs.words];
    Arrays.fill(open, -1L);
    ofJob = new int[jobs.count()];
    halfLifeMillis = config.settings().rules().priorityHalfLife().toMillis();
    Map<String, QueueSpec> specs = specs(config.settings().rules());
    Map<String, List<Integer>> members = new LinkedHashMap<>();
    specs.keySet().forEach(name -> members.put(name, new ArrayList<>()));
    for (int j = 0; j < ofJob.length; j++) {
      members.computeIfAbsent(jobs.queues[j], name -> new ArrayList<>()).add(j);
    }
    queues = new QueueState[members.size()];
    int number = 0;
    for (Map.Entry<String, List<Integer>> entry : members.entrySet()) {
      int[] itsJobs = entry.getValue().stream().mapToInt(Integer::intValue).toArray();
      for (int j : itsJobs) {
        ofJob[j] = number;
      }
      queues[number] =
          new QueueState(
              specs.getOrDefault(entry.getKey(), plain(entry.getKey())),
              itsJobs,
              levelOf.length,
              new DecayedUsage(0, 0, 0, halfLifeMillis));
      number++;
    }
    setSpecs(specs);
  }

  private static QueueSpec plain(String name) {
    return new QueueSpec(name, 1, Map.of(), Map.of());
  }

  /** Returns the queues by name; the default queue, for jobs that name none, always exists. */
  private static Map<String, QueueSpec> specs(LimitRules rules) {
    Map<String, QueueSpec> specs = new LinkedHashMap<>();
    rules.queues().forEach(spec -> specs.put(spec.name(), spec));
    specs.putIfAbsent(JobScheduling.DEFAULT_QUEUE, plain(JobScheduling.DEFAULT_QUEUE));
    return specs;
  }

  /** Returns the names of the configured queues, in their order. */
  public static List<String> names(Config config) {
    return config.settings().rules().queues().stream().map(QueueSpec::name).toList();
  }

  private void setSpecs(Map<String, QueueSpec> specs) {
    isByWeight = specs.values().stream().anyMatch(spec -> spec.weight().isPresent());
    for (QueueState queue : queues) {
      QueueSpec spec = specs.getOrDefault(queue.name, plain(queue.name));
      List<QueueLimit> caps = new ArrayList<>();
      for (int r = 0; r < levelOf.length; r++) {
        int[] needs = new int[queue.jobs.length];
        for (int i = 0; i < needs.length; i++) {
          needs[i] = need(queue.jobs[i], r);
        }
        QueueLimit cap = QueueLimit.of(spec, r, queue.jobs, needs, queue.words);
        if (cap != null) {
          caps.add(cap);
        }
      }
      queue.setSpec(spec, caps.toArray(new QueueLimit[0]));
      tellCaps(queue);
    }
    seenNodes = -1;
  }

  /** Passes a queue's reservation to its caps; {@link QueueLimit#hold} must follow. */
  private void tellCaps(QueueState queue) {
    int job = queue.holder;
    int place = job < 0 ? -1 : Arrays.binarySearch(queue.words, job >>> 6);
    for (QueueLimit cap : queue.caps()) {
      cap.keep(job < 0 ? 0 : need(job, cap.resource), place, job < 0 ? 0 : 1L << job);
    }
  }

  /**
   * Reserves a queue's capacity for one of its jobs, as far as the job needs it.
   *
   * @param job -1: ends the reservation
   */
  public void keepFor(int number, int job) {
    refresh();
    settle();
    QueueState queue = queues[number];
    queue.holder = job;
    tellCaps(queue);
    for (QueueLimit cap : queue.caps()) {
      cap.hold(queue.held[cap.resource]);
    }
    updateOpen(queue);
  }

  /** Returns the slots that a task of a job uses on its path or its worker. */
  public int need(int job, int resource) {
    return charges.need(job, resource);
  }

  /** Applies a configuration with the same queues and the same jobs in them. */
  public void replace(Config config) {
    refresh();
    settle();
    LimitRules rules = config.settings().rules();
    long newHalfLife = rules.priorityHalfLife().toMillis();
    if (newHalfLife != halfLifeMillis) {
      halfLifeMillis = newHalfLife;
      for (QueueState queue : queues) {
        queue.usage.setHalfLife(newHalfLife, now);
      }
    }
    setSpecs(specs(rules));
  }

  // ---- caps

  /** Returns the bits of the jobs whose queues allow another start. */
  public long open(int word) {
    refresh();
    return open[word];
  }

  /**
   * Applies changes of limits and workers, if any. To be called after such changes, before the next
   * start or end of a task.
   */
  public void refresh() {
    if (seenNodes == ledger.totalsVersion() && seenWorkers == workers.capacity().totalsVersion()) {
      return;
    }
    seenNodes = ledger.totalsVersion();
    seenWorkers = workers.capacity().totalsVersion();
    settle();
    for (int r = 0; r < totals.length; r++) {
      totals[r] = ledger.total(r);
    }
    for (int k = 0; k < workers.capacity().resources().size(); k++) {
      totals[workers.capacity().resources().get(k).index()] = workers.capacity().total(k);
    }
    for (QueueState queue : queues) {
      for (QueueLimit cap : queue.caps()) {
        cap.setTotal(totals[cap.resource]);
        cap.hold(queue.held[cap.resource]);
      }
      updateOpen(queue);
      updateUse(queue);
    }
  }

  /** Begins to follow the caps, which may only be read on the scheduler's thread. */
  public void followCaps() {
    for (QueueState queue : queues) {
      capChanged(queue.name);
    }
  }

  /** Rereads the caps on the running tasks of a queue. */
  public void capChanged(String name) {
    for (QueueState queue : queues) {
      if (queue.name.equals(name)) {
        queue.setMost(limits.mostRunning(Scope.queue(name)));
        updateOpen(queue);
      }
    }
  }

  private void updateOpen(QueueState queue) {
    for (int i = 0; i < queue.words.length; i++) {
      int word = queue.words[i];
      long next = (open[word] & ~queue.members[i]) | queue.open(i);
      if (open[word] != next) {
        open[word] = next;
        gates.changed(word);
      }
    }
  }

  // ---- use

  /**
   * Charges a running task to its queue, whether it was started here or not.
   *
   * @param job -1: unknown
   */
  public void entered(int job, int run, RunPlacements places) {
    change(job, run, places, 1);
  }

  /** Releases the charge of a running task. */
  public void left(int job, int run, RunPlacements places) {
    change(job, run, places, -1);
  }

  private void change(int job, int run, RunPlacements places, int sign) {
    if (job < 0) {
      return;
    }
    QueueState queue = queues[ofJob[job]];
    boolean flips = queue.isFull();
    queue.running += sign;
    flips ^= queue.isFull();
    charges.change(queue, job, run, places, sign);
    if (queue.caps().length > 0 || flips) {
      settle();
      for (QueueLimit cap : queue.caps()) {
        flips |= cap.hold(queue.held[cap.resource]);
      }
      if (flips) {
        updateOpen(queue);
      }
    }
  }

  /** Adds up the slots in use as of the last event, and updates the use of the queues. */
  private void settle() {
    for (QueueState queue = charges.settle(); queue != null; queue = charges.settle()) {
      updateUse(queue);
    }
  }

  private void updateUse(QueueState queue) {
    if (isInForce) {
      queue.usage.setUse(dominantShare(queue), now);
    }
  }

  /**
   * Returns the largest fraction of any resource that a queue holds
   * (docs/design/features.md#use-of-a-queue).
   */
  double dominantShare(QueueState queue) {
    double most = 0;
    for (int r = 0; r < totals.length; r++) {
      // Usage may exceed the total, which may even be 0.
      most = Math.max(most, (double) queue.held[r] / Math.max(1, totals[r]));
    }
    return most;
  }

  // ---- time

  /** Advances the clock; earlier changes of limits and workers count from before it. */
  public void advance(long nowMillis) {
    refresh();
    if (nowMillis > now) {
      settle();
      now = nowMillis;
    }
  }

  public long now() {
    return now;
  }

  /**
   * Brings the state into force.
   *
   * @param past the history by name; entries that are taken over are removed
   */
  public void enter(long nowMillis, QueueUsageHistory past) {
    now = nowMillis;
    isInForce = true;
    seenNodes = -1;
    for (QueueState queue : queues) {
      past.restore(queue, jobs, now, halfLifeMillis);
    }
    past.prune(now, halfLifeMillis);
    refresh();
  }

  /** Takes over the values restored from elsewhere. */
  public void restore(QueueUsageHistory past) {
    refresh();
    for (QueueState queue : queues) {
      past.restoreKnown(queue, now, halfLifeMillis);
    }
  }

  /** Returns the recent usage of every queue as of now. */
  public List<QueueUsage> usage(QueueUsageHistory past) {
    refresh();
    List<QueueUsage> all = new ArrayList<>();
    for (QueueState queue : queues) {
      all.add(new QueueUsage(queue.name, queue.usage.at(now), now));
    }
    past.values(now, halfLifeMillis)
        .forEach((name, value) -> all.add(new QueueUsage(name, value, now)));
    return all;
  }

  /**
   * Settles the history before a change of the half-life, also for queues that are no longer
   * configured.
   */
  public void settle(QueueUsageHistory past) {
    past.settle(now, halfLifeMillis);
  }

  /** Takes the state out of force; the next one continues with the history. */
  public void leave(QueueUsageHistory past) {
    refresh();
    settle();
    for (QueueState queue : queues) {
      past.keep(queue, jobs, now);
    }
    isInForce = false;
  }

  // ---- queries

  public int count() {
    return queues.length;
  }

  /** Returns a queue, whose slots and use may be out of date; see {@link #settled}. */
  public QueueState queue(int number) {
    return queues[number];
  }

  /** Returns a queue whose slots and use are up to date. */
  public QueueState settled(int number) {
    settle();
    return queues[number];
  }

  /** Returns how many times the slots of a job were added to those of its queue. */
  public long work() {
    return charges.work();
  }

  /** Returns the number of a job's queue. */
  public int ofJob(int job) {
    return ofJob[job];
  }

  /** Returns the total slots of a resource. */
  public long total(int resource) {
    refresh();
    return totals[resource];
  }

  /** Returns whether weights rather than factors determine priorities. */
  public boolean isByWeight() {
    return isByWeight;
  }

  public double effective(int number) {
    if (isByWeight) {
      settle();
    }
    return queues[number].effective(now, isByWeight);
  }

  /**
   * Recomputes incrementally updated data from scratch, and compares.
   *
   * @throws IllegalStateException with the first difference
   */
  public void check(
      Config config,
      Topology topology,
      WorkerTable table,
      RunningTasks runs,
      RunPlacements places) {
    refresh();
    settle();
    QueueTable fresh =
        new QueueTable(config, jobs, ledger, workers, new JobGates(jobs.words), limits);
    fresh.refresh();
    fresh.followCaps();
    for (int i = 0; i < queues.length; i++) {
      fresh.keepFor(i, queues[i].holder);
    }
    for (int run = 0; run < runs.high(); run++) {
      if (runs.isUsed(run)) {
        fresh.entered(places.job(run), run, places);
      }
    }
    fresh.settle();
    check(Arrays.equals(totals, slotsInAll(topology, table)), "slots in all");
    check(Arrays.equals(open, fresh.open), "jobs that caps leave room for");
    for (int i = 0; i < queues.length; i++) {
      QueueState queue = queues[i];
      check(Arrays.equals(queue.held, fresh.queues[i].held), "slots of queue " + queue.name);
      check(queue.running == fresh.queues[i].running, "tasks of queue " + queue.name);
      check(queue.usage.use() == dominantShare(fresh.queues[i]), "use of queue " + queue.name);
    }
  }

  private static void check(boolean holds, String what) {
    if (!holds) {
      throw new IllegalStateException("the queues are inconsistent: " + what);
    }
  }

  private long[] slotsInAll(Topology topology, WorkerTable table) {
    long[] all = new long[levelOf.length];
    for (int r = 0; r < all.length; r++) {
      int level = levelOf[r];
      for (int node = topology.levelStart(level);
          level != workerLevel && node < topology.levelEnd(level);
          node++) {
        all[r] += ledger.limit(node, r);
      }
    }
    for (int k = 0; k < workers.capacity().resources().size() && workers.isActive(); k++) {
      for (int worker : table.pool()) {
        all[workers.capacity().resources().get(k).index()] += workers.capacity().limit(worker, k);
      }
    }
    return all;
  }
}
