package io.espalier.core.scheduling.state;

import io.espalier.core.config.ResourceCatalog;
import io.espalier.core.scheduling.capacity.NodeCapacity;
import io.espalier.core.scheduling.capacity.ResourceCharges;
import io.espalier.core.scheduling.gate.JobGates;
import io.espalier.core.scheduling.group.RedundancyGroups;
import io.espalier.core.scheduling.index.NodeRateLimiter;
import io.espalier.core.scheduling.index.StartableIndex;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.scheduling.job.StatusCodes;
import io.espalier.core.scheduling.queue.QueueTable;
import io.espalier.core.scheduling.reservation.NodeReservations;
import io.espalier.core.scheduling.reservation.ReservationStages;
import io.espalier.core.scheduling.task.JobThrottle;
import io.espalier.core.scheduling.task.RunBatches;
import io.espalier.core.scheduling.task.RunPlacements;
import io.espalier.core.scheduling.task.RunningTasks;
import io.espalier.core.scheduling.task.TaskStatuses;
import io.espalier.core.scheduling.task.TaskTable;
import io.espalier.core.scheduling.util.BestPath;
import io.espalier.core.scheduling.worker.WorkerIndex;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.topology.Topology;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Charges the running tasks of one state for what they use: slots on the nodes of their paths and
 * on their workers, and a share of their job's and queue's limits. Everything is charged together
 * when a task starts, is adopted or is carried over from the previous state, and released together
 * when it ends. The index is up to date when a call returns.
 */
public final class TaskAllocator {
  /** A redundancy group was in the way, and a member of it is closed now: look again. */
  public static final int PARKED = -1;

  /** A batch can have no more tasks. */
  public static final int NO_MORE = -2;

  /**
   * The number of tasks from which on their data is larger than the cache of one processor, so that
   * it pays to read ahead.
   */
  private static final int READS_AHEAD_FROM = 1_000_000;

  private final Topology topology;
  private final JobTable jobs;
  private final NodeCapacity ledger;
  private final StartableIndex index;
  private final WorkerIndex workers;
  private final TaskTable tasks;
  private final TaskStatuses statuses;
  private final JobThrottle caps;
  private final NodeRateLimiter rates;
  private final QueueTable queues;
  private final RunningTasks runs;
  private final RunPlacements places;

  /** Null: no job can be starved by lighter ones. */
  private final @Nullable NodeReservations reservations;

  private final ReservationStages rooms;

  /** Null: no redundancy groups are configured. */
  private final @Nullable RedundancyGroups groups;

  private final RunBatches batches;
  private final JobGates gates;
  private final ResourceCatalog catalog;
  private final ResourceCharges[] charges;

  /** By job: what each task of a batch is charged by itself. */
  private final ResourceCharges[] ownCharges;

  /** By job: what a batch is charged once. */
  private final ResourceCharges[] sharedCharges;

  /** The node per level of the task being handled, -1 for none. */
  private final int[] path;

  /** By level of that path: whether the set of jobs that fit on the node may have changed. */
  private final boolean[] refit;

  private final boolean readsAhead;

  /** Receives what was read ahead, so that the compiler cannot leave the reading out. */
  @SuppressWarnings("UnusedVariable")
  private long readAhead;

  /** Must be called when the rest of the state is complete. */
  TaskAllocator(SchedulingState state, TaskStatuses statuses, RunningTasks runs) {
    this.statuses = statuses;
    this.runs = runs;
    topology = state.topology;
    jobs = state.jobs;
    ledger = state.ledger;
    index = state.index;
    workers = state.workers;
    tasks = state.tasks;
    caps = state.caps;
    rates = state.rates;
    queues = state.queues;
    places = state.places;
    reservations = state.reservations;
    rooms = state.rooms;
    groups = state.groups;
    gates = state.gates;
    batches = runs.batches();
    charges = new ResourceCharges[jobs.count()];
    ownCharges = new ResourceCharges[charges.length];
    sharedCharges = new ResourceCharges[charges.length];
    catalog = state.config().settings().resources();
    for (int j = 0; j < charges.length; j++) {
      charges[j] = new ResourceCharges(topology.levels(), catalog, jobs.needs[j]);
      boolean shares = jobs.sharesCharge(j);
      ownCharges[j] =
          shares ? new ResourceCharges(topology.levels(), catalog, jobs.ownNeeds[j]) : charges[j];
      sharedCharges[j] =
          shares
              ? new ResourceCharges(
                  topology.levels(), catalog, without(jobs.needs[j], jobs.ownNeeds[j]))
              : ResourceCharges.NONE;
    }
    path = new int[topology.levels().count()];
    refit = new boolean[path.length];
    readsAhead = tasks.size() >= READS_AHEAD_FROM;
  }

  private static int[] without(int[] amounts, int[] others) {
    int[] rest = amounts.clone();
    for (int r = 0; r < rest.length; r++) {
      rest[r] -= others[r];
    }
    return rest;
  }

  private static int[] plus(int[] amounts, int[] others) {
    int[] sum = amounts.clone();
    for (int r = 0; r < sum.length; r++) {
      sum[r] += others[r];
    }
    return sum;
  }

  /**
   * Returns what a running task of a known job is charged by itself, if it started under the
   * configuration of this state.
   */
  public ResourceCharges charges(int run) {
    int job = places.job(run);
    return batches.name(run).isEmpty() ? charges[job] : ownCharges[job];
  }

  // ---- starting

  /**
   * Starts a task of a job that is open at the root.
   *
   * @return {@link #PARKED}: none was started
   */
  public int start(int job) {
    int level = jobs.levels[job];
    int node = index.descend(job, level, path);
    Arrays.fill(path, level + 1, path.length, -1);
    if (groups != null && groups.park(path, index)) {
      return PARKED;
    }
    int run = startOn(job, node, level, workers.choose(job, path));
    if (jobs.sharesCharge(job)) {
      batches.add(Long.toString(runs.id(run)), run);
      batches.setCarrier(run, sharedCharges[job]);
    }
    return run;
  }

  /**
   * Starts another task of a job for the process of a task that was started just before: on the
   * same worker, and under its node of a level. A task whose last attempt has failed is not started
   * here, because it is to run alone.
   *
   * <p>What the tasks of the batch share is free while this looks for the task, which then becomes
   * the carrier. So a task fits here if and only if what it takes by itself does.
   *
   * @param first the running task; its worker and its path are those of the batch
   * @param under the index of the level
   * @return {@link #PARKED} or {@link #NO_MORE}: none was started
   */
  public int startBeside(int first, int under) {
    int carrier = batches.carrier(first);
    if (carrier == RunBatches.NONE) {
      return startUnder(first, under);
    }
    ResourceCharges shared = batches.shared(first);
    moveShared(carrier, RunBatches.NONE, shared);
    int run = startUnder(first, under);
    if (run >= 0) {
      batches.add(batches.name(first), run);
      batches.setCarrier(run);
    } else {
      moveShared(RunBatches.NONE, carrier, shared);
    }
    return run;
  }

  private boolean isOpen(int job) {
    int word = job >>> 6;
    return (index.openAtRoot(word) & gates.open(word) & 1L << job) != 0;
  }

  private int startUnder(int first, int under) {
    int job = places.job(first);
    int worker = places.worker(first);
    // Tasks for another host have another worker.
    int from = Math.max(under, workers.placementLevel(job));
    int level = jobs.levels[job];
    if (!isOpen(job)
        || from >= level
        || places.node(first, from) < 0
        || !workers.takesAnother(job, worker)) {
      return NO_MORE;
    }
    for (int l = 0; l <= from; l++) {
      path[l] = places.node(first, l);
    }
    int node = index.descendAgain(job, level, path, from);
    if (node < 0 || runsAlone(tasks.code(job, node))) {
      return NO_MORE;
    }
    Arrays.fill(path, level + 1, path.length, -1);
    if (groups != null && groups.park(path, index)) {
      return PARKED;
    }
    return startOn(job, node, level, worker);
  }

  private static boolean runsAlone(int code) {
    return StatusCodes.main(code) == TaskStatus.Main.ERROR;
  }

  private int startOn(int job, int node, int level, int worker) {
    if (readsAhead) {
      readAhead(job, node);
    }
    int run = enter(job, node, level, worker, jobs.needs[job]);
    caps.started(job);
    rates.started(path, index);
    return run;
  }

  private boolean starts(int job, int node, int level) {
    return reservations != null && node >= 0 && reservations.started(job, node, level);
  }

  /**
   * Returns whether the node is reserved, so that any change of its free slots may change which
   * jobs fit.
   */
  private boolean isHeld(int node, int level) {
    return reservations != null && reservations.isHeld(node, level);
  }

  private int enter(int job, int node, int level, int worker, int[] needs) {
    int run = runs.add(ownCharges[job]);
    places.add(run, job, node, path, needs, worker, true);
    entered(job, run, path);
    for (int l = level; l >= 0; l--) {
      boolean changed = path[l] >= 0 && ledger.charge(path[l], l, needs);
      boolean released = starts(job, path[l], l);
      refit[l] = changed || released;
    }
    rooms.ended(job);
    boolean changed = statuses.started(job, node, run);
    index.settle(path, level, true, refit, changed ? job >>> 6 : -1);
    workers.charge(worker, needs);
    return run;
  }

  /**
   * Restarts the waits at the nodes of a task that the previous state started during the migration.
   */
  public void startedBefore(int run) {
    for (int l = path.length - 1; l >= 0; l--) {
      int node = places.node(run, l);
      if (starts(places.job(run), node, l)) {
        index.refresh(node, l);
      }
    }
  }

  // ---- registering running tasks

  /**
   * Registers a task that is already running. It is charged on the path with the smallest
   * shortfall, even if limits are exceeded.
   *
   * @param batch the name of the batch with whose tasks it shares a charge; empty: none
   */
  public int adopt(int job, int node, int worker, String batch) {
    int carrier = batch.isEmpty() ? RunBatches.NONE : batches.carrier(batch);
    boolean isCarried = carrier != RunBatches.NONE && places.isPlaced(carrier);
    int[] needs = isCarried ? jobs.ownNeeds[job] : jobs.needs[job];
    findBestPath(job, node, needs);
    int run = enter(job, node, jobs.levels[job], worker, countable(path, needs, worker));
    if (batch.isEmpty()) {
      runs.setCharges(run, charges[job]);
    } else {
      batches.add(batch, run);
      if (!isCarried) {
        batches.setCarrier(run, sharedCharges[job]);
      }
    }
    return run;
  }

  /**
   * Registers a running task whose job or node is unknown here. It is charged only on its worker.
   *
   * @param job -1: unknown
   * @param batch as for {@link #adopt}; of the tasks of a batch that are outside, none is charged
   *     what they share
   */
  public int adoptOutside(int job, int worker, String batch) {
    int run = runs.add(ResourceCharges.NONE);
    if (!batch.isEmpty()) {
      batches.add(batch, run);
    }
    carryOutside(run, job, worker);
    return run;
  }

  /** Carries over a running task whose job or node is unknown here. */
  public void carryOutside(int run, int job, int worker) {
    Arrays.fill(path, -1);
    int[] nothing = new int[ledger.resourceCount()];
    places.add(run, job, -1, path, nothing, worker, false);
    entered(job, run, path);
    workers.charge(worker, nothing);
  }

  /** Fills {@link #path} with the path to a node with the smallest shortfall. */
  private void findBestPath(int job, int node, int[] needs) {
    int[] slots =
        BestPath.find(
            topology,
            node,
            slot -> {
              int at = topology.node(slot);
              int level = index.level(at);
              long missing = index.isAllowed(slot, job) ? 0 : 1;
              for (int r : ledger.resources(level)) {
                missing += Math.max(0L, (long) needs[r] - ledger.free(at, level, r));
              }
              return missing;
            });
    Arrays.fill(path, -1);
    for (int slot : slots) {
      path[index.level(topology.node(slot))] = topology.node(slot);
    }
  }

  private int[] countable(int[] onPath, int[] amounts, int worker) {
    return workers.countable(worker, ledger.countable(onPath, amounts));
  }

  /**
   * Carries over a running task that was not charged on any path before; it is charged on the path
   * with the smallest shortfall.
   */
  public void carryAnew(int run, int job, int node, int worker) {
    int carrier = batches.carrier(run);
    int[] needs = carrier == RunBatches.NONE ? jobs.needs[job] : jobs.ownNeeds[job];
    findBestPath(job, node, needs);
    carry(run, job, node, path.clone(), needs, worker);
    if (carrier == RunBatches.NONE && !batches.name(run).isEmpty()) {
      batches.setCarrier(run, sharedCharges[job]);
    }
  }

  /** Carries over a running task from the previous state. */
  public void carry(int run, int job, int node, int[] carriedPath, int[] charged, int worker) {
    int[] amounts = countable(carriedPath, charged, worker);
    places.add(run, job, node, carriedPath, amounts, worker, false);
    entered(job, run, carriedPath);
    int lowest = 0;
    for (int l = 0; l < path.length; l++) {
      int at = carriedPath[l];
      refit[l] = at >= 0 && (ledger.charge(at, l, amounts) || isHeld(at, l));
      lowest = carriedPath[l] >= 0 ? l : lowest;
    }
    index.settle(carriedPath, lowest, false, refit, -1);
    workers.charge(worker, amounts);
    if (node >= 0) {
      statuses.carried(job, node);
    }
  }

  // ---- what the tasks of a batch share

  /**
   * Moves what the tasks of a batch share from one of them to another. Where both are charged on
   * the same node, nothing changes there.
   *
   * @param from {@link RunBatches#NONE}, or outside: nothing is released
   * @param to {@link RunBatches#NONE}, or outside: nothing is charged
   */
  public void moveShared(int from, int to, ResourceCharges shared) {
    int giver = from >= 0 && places.isPlaced(from) ? from : RunBatches.NONE;
    int taker = to >= 0 && places.isPlaced(to) ? to : RunBatches.NONE;
    int[] moved = shared.in(topology.levels(), catalog);
    for (int l = 0; l < path.length; l++) {
      int before = giver < 0 ? -1 : places.node(giver, l);
      int after = taker < 0 ? -1 : places.node(taker, l);
      if (before != after) {
        if (before >= 0 && (ledger.release(before, l, moved) || isHeld(before, l))) {
          index.refresh(before, l);
        }
        if (after >= 0 && (ledger.charge(after, l, moved) || isHeld(after, l))) {
          index.refresh(after, l);
        }
      }
    }
    if (giver >= 0) {
      recharge(giver, without(places.amounts(giver), moved));
    }
    if (taker >= 0) {
      recharge(taker, plus(places.amounts(taker), moved));
    }
  }

  /** Changes what a task is charged, after its nodes were. */
  private void recharge(int run, int[] amounts) {
    queues.left(places.job(run), run, places);
    places.setAmounts(run, amounts);
    queues.entered(places.job(run), run, places);
  }

  // ---- ending

  /**
   * Ends a running task.
   *
   * @param status the next status; ignored when the node is gone
   */
  public void finish(int run, @Nullable TaskStatus status, long nowMillis) {
    int job = places.job(run);
    int node = places.node(run);
    if (readsAhead && node >= 0) {
      readAhead(job, node);
      for (int l = jobs.levels[job] - 1; l > 0; l--) {
        int above = places.node(run, l);
        readAhead += above < 0 ? 0 : ledger.readAhead(above, l) + index.readAhead(above);
      }
    }
    int lowest = release(run);
    boolean changed = node >= 0 && statuses.assign(job, node, status, nowMillis);
    if (changed && places.node(run, jobs.levels[job]) != node) {
      // The job has moved to another level while the task was running.
      index.refresh(node, jobs.levels[job], job >>> 6);
      changed = false;
    }
    index.settle(path, lowest, places.isOfTree(run), refit, changed ? job >>> 6 : -1);
    leave(run);
  }

  /**
   * Releases the slots of the path and fills {@link #path} and {@link #refit}; returns the level of
   * the last node.
   */
  private int release(int run) {
    int[] amounts = places.amounts(run);
    int lowest = 0;
    for (int l = 0; l < path.length; l++) {
      int at = places.node(run, l);
      path[l] = at;
      refit[l] = at >= 0 && (ledger.release(at, l, amounts) || isHeld(at, l));
      lowest = at >= 0 ? l : lowest;
    }
    if (groups != null) {
      groups.left(path);
    }
    return lowest;
  }

  /**
   * Reads what the start or the end of a task is going to read, and does nothing with it. In a
   * large tree each of these words is far away from the others and in no cache. Where a start or an
   * end comes to them one by one, it cannot go on to the next before a branch has waited for the
   * last; here no read depends on another, so the processor waits for all of them at once.
   */
  private void readAhead(int job, int node) {
    readAhead +=
        tasks.code(job, node)
            + ledger.readAhead(node, jobs.levels[job])
            + index.readAheadReady(node)
            + index.readAhead(node);
  }

  private void entered(int job, int run, int[] onPath) {
    tasks.touch(job);
    if (groups != null) {
      groups.entered(onPath);
    }
    caps.entered(job);
    queues.entered(job, run, places);
  }

  private void leave(int run) {
    int job = places.job(run);
    tasks.touch(job);
    caps.left(job);
    queues.left(job, run, places);
    workers.release(places.worker(run), places.amounts(run));
    places.remove(run);
    dropIfIdle(job);
  }

  /**
   * Drops a removed job without running tasks, because its statuses are obsolete (T9 in
   * docs/design/bistro.md#conformance-of-statuses).
   */
  public void dropIfIdle(int job) {
    if (job < 0) {
      return;
    }
    jobs.dropped[job] = jobs.job(job) == null && places.ofJob(job) == 0;
  }
}
