package io.espalier.core.scheduling.state;

import io.espalier.core.scheduling.capacity.NodeCapacity;
import io.espalier.core.scheduling.capacity.ResourceCharges;
import io.espalier.core.scheduling.index.NodeRateLimiter;
import io.espalier.core.scheduling.index.StartableIndex;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.scheduling.queue.QueueTable;
import io.espalier.core.scheduling.reservation.NodeReservations;
import io.espalier.core.scheduling.reservation.ReservationStages;
import io.espalier.core.scheduling.task.JobThrottle;
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
 * What the running tasks of one world take: slots on the nodes of their paths and on their workers,
 * a place among those of their job and of its queue. Taken as a whole when a task starts, is
 * adopted or comes from the world before, given back as a whole when it ends; the index is right
 * when the call returns.
 */
public final class TaskAllocator {
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

  private final ResourceCharges[] charges;

  /** Of the task that is being looked at: its node per level, -1 for none. */
  private final int[] path;

  /** By level of that path: whether other jobs fit there now. */
  private final boolean[] refit;

  /** The rest of the world is complete by now. */
  TaskAllocator(SchedulingState world, TaskStatuses statuses, RunningTasks runs) {
    this.statuses = statuses;
    this.runs = runs;
    topology = world.topology;
    jobs = world.jobs;
    ledger = world.ledger;
    index = world.index;
    workers = world.workers;
    tasks = world.tasks;
    caps = world.caps;
    rates = world.rates;
    queues = world.queues;
    places = world.places;
    reservations = world.reservations;
    rooms = world.rooms;
    charges = new ResourceCharges[jobs.count()];
    for (int j = 0; j < charges.length; j++) {
      charges[j] =
          new ResourceCharges(
              topology.levels(), world.config().settings().resources(), jobs.needs[j]);
    }
    path = new int[topology.levels().count()];
    refit = new boolean[path.length];
  }

  /** What the tasks of a job are charged. */
  public ResourceCharges charges(int job) {
    return charges[job];
  }

  // ---- starting

  /** Starts a task of a job that is open at the root. */
  public int start(int job) {
    int level = jobs.levels[job];
    int node = index.descend(job, level, path);
    Arrays.fill(path, level + 1, path.length, -1);
    int run = enter(job, node, level, workers.choose(job, path), jobs.needs[job]);
    caps.started(job);
    rates.started(path, index);
    return run;
  }

  private boolean starts(int job, int node, int level) {
    return reservations != null && node >= 0 && reservations.started(job, node, level);
  }

  /** Whether it is kept free for a job, so that others fit depending on all that is free there. */
  private boolean isHeld(int node, int level) {
    return reservations != null && reservations.isHeld(node, level);
  }

  private int enter(int job, int node, int level, int worker, int[] needs) {
    int run = runs.add(charges[job]);
    places.add(run, job, node, path, needs, worker, true);
    entered(job, run);
    for (int l = level; l >= 0; l--) {
      boolean changed = path[l] >= 0 && ledger.charge(path[l], l, needs);
      boolean released = starts(job, path[l], l);
      refit[l] = changed || released;
    }
    rooms.started(job);
    boolean changed = statuses.started(job, node, run);
    index.settle(path, level, true, refit, changed ? job >>> 6 : -1);
    workers.charge(worker, needs);
    return run;
  }

  /** A task started in the world before while it was carried over: those who wait begin anew. */
  public void startedBefore(int run) {
    for (int l = path.length - 1; l >= 0; l--) {
      int node = places.node(run, l);
      if (starts(places.job(run), node, l)) {
        index.refresh(node, l);
      }
    }
  }

  // ---- taking over

  /** Takes a given task for running, fitting or not, where least is missing. */
  public int adopt(int job, int node, int worker) {
    findBestPath(job, node);
    int[] amounts = countable(path, jobs.needs[job], worker);
    return enter(job, node, jobs.levels[job], worker, amounts);
  }

  /**
   * Takes a task for running of which job or node is not known here: it is charged nothing but its
   * place on its worker.
   *
   * @param job -1: not known
   */
  public int adoptOutside(int job, int worker) {
    int run = runs.add(ResourceCharges.NONE);
    carryOutside(run, job, worker);
    return run;
  }

  /** Takes over a running task whose job or node is not known here. */
  public void carryOutside(int run, int job, int worker) {
    Arrays.fill(path, -1);
    int[] nothing = new int[ledger.resourceCount()];
    places.add(run, job, -1, path, nothing, worker, false);
    entered(job, run);
    workers.charge(worker, nothing);
  }

  /** Fills {@link #path} with the path to a node on which least is missing. */
  private void findBestPath(int job, int node) {
    int[] needs = jobs.needs[job];
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

  /** Takes over a running task that was charged for no path before, where least is missing. */
  public void carryAnew(int run, int job, int node, int worker) {
    findBestPath(job, node);
    carry(run, job, node, path.clone(), jobs.needs[job], worker);
  }

  /** Takes over a running task from the world before. */
  public void carry(int run, int job, int node, int[] carriedPath, int[] charged, int worker) {
    int[] amounts = countable(carriedPath, charged, worker);
    places.add(run, job, node, carriedPath, amounts, worker, false);
    entered(job, run);
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

  // ---- ending

  /**
   * Ends a running task.
   *
   * @param status its next one; ignored when its node is gone
   */
  public void finish(int run, @Nullable TaskStatus status, long nowMillis) {
    int job = places.job(run);
    int node = places.node(run);
    int lowest = release(run);
    boolean changed = node >= 0 && statuses.assign(job, node, status, nowMillis);
    if (changed && places.node(run, jobs.levels[job]) != node) {
      // The job has moved to another level while the task ran.
      index.refresh(node, jobs.levels[job], job >>> 6);
      changed = false;
    }
    index.settle(path, lowest, places.isOfTree(run), refit, changed ? job >>> 6 : -1);
    leave(run);
  }

  /** Also fills {@link #path} and {@link #refit}; returns the level of the last node. */
  private int release(int run) {
    int[] amounts = places.amounts(run);
    int lowest = 0;
    for (int l = 0; l < path.length; l++) {
      int at = places.node(run, l);
      path[l] = at;
      refit[l] = at >= 0 && (ledger.release(at, l, amounts) || isHeld(at, l));
      lowest = at >= 0 ? l : lowest;
    }
    return lowest;
  }

  private void entered(int job, int run) {
    tasks.touch(job);
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
   * The statuses of a removed job are worth nothing once nothing of it runs (T9 in
   * docs/design/bistro.md#conformance-of-statuses).
   */
  public void dropIfIdle(int job) {
    if (job < 0) {
      return;
    }
    jobs.dropped[job] = jobs.job(job) == null && places.ofJob(job) == 0;
  }
}
