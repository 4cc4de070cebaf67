package io.espalier.core.scheduling;

import io.espalier.core.scheduling.capacity.NodeCapacity;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.scheduling.state.SchedulingState;
import io.espalier.core.scheduling.task.RunningTasks;
import io.espalier.core.scheduling.worker.WorkerIndex;

/** Recomputes the data of the {@link WorkerIndex} from scratch, and compares. */
final class WorkerInvariants {
  private final SchedulingState state;
  private final WorkerIndex index;
  private final RunningTasks runs;

  WorkerInvariants(SchedulingState state, RunningTasks runs) {
    this.state = state;
    this.index = state.workers;
    this.runs = runs;
  }

  /**
   * @throws IllegalStateException with the first difference
   */
  void run() {
    if (!index.isActive()) {
      return;
    }
    index.check();
    for (int worker = 0; worker < state.pool.high(); worker++) {
      used(worker);
    }
    for (int job = 0; job < state.jobs.count(); job++) {
      open(job);
    }
  }

  private static void check(boolean holds, String what) {
    if (!holds) {
      throw new IllegalStateException("the worker index is inconsistent: " + what);
    }
  }

  private void used(int worker) {
    int tasks = 0;
    int[] used = new int[index.capacity().resources().size()];
    for (int run = 0; run < runs.high(); run++) {
      if (runs.isUsed(run) && state.places.worker(run) == worker) {
        tasks++;
        for (int k = 0; k < used.length; k++) {
          used[k] += state.places.amounts(run)[index.capacity().resources().get(k).index()];
        }
      }
    }
    check(tasks == index.tasks(worker), "tasks of worker " + worker);
    Scope gate = Scope.worker(state.pool.shard(worker));
    check(
        state.pool.info(worker) == null
            || state.pool.isHeld(worker)
                == (state.gateTable.get(GateKind.WORKER_STARTING, gate) != null),
        "gate of worker " + worker);
    check(tasks == state.pool.runs(worker), "charged tasks of worker " + worker);
    for (int k = 0; k < used.length && index.isKnown(worker); k++) {
      check(
          used[k] == index.capacity().limit(worker, k) - index.capacity().free(worker, k),
          "used slots of worker " + worker);
      check(
          state.over.isOver(index.capacity().resources().get(k).index(), worker)
              == (state.pool.info(worker) != null && index.capacity().free(worker, k) < 0),
          "over the limit of worker " + worker);
    }
  }

  /** Checks the result for a job by testing every worker. */
  private void open(int job) {
    boolean anywhere = false;
    boolean pinned = false;
    String pin = index.pinnedTo(job);
    for (int host = 0; host < state.hosts.high(); host++) {
      boolean there = false;
      for (int worker : state.pool.pool()) {
        there |= index.isOn(worker, host) && fits(job, worker);
      }
      check(there == state.hosts.fits(host, job), "job " + job + " on host " + host);
      anywhere |= there;
      pinned |= there && state.hosts.name(host).equals(pin);
    }
    boolean open = (index.open(job >>> 6) & 1L << job) != 0;
    check(open == (pin == null ? anywhere : pinned), "job " + job + " finds a worker");
  }

  private boolean fits(int job, int worker) {
    var info = state.pool.info(worker);
    boolean fits =
        info != null
            && info.takesTasks()
            && !state.pool.isHeld(worker)
            && !index.capacity().isFull(worker)
            && !index.isFullFor(job, worker)
            && index.passes(job, worker);
    for (int k = 0; k < index.capacity().resources().size(); k++) {
      fits &= NodeCapacity.fits(index.need(job, k), index.freeFor(job, worker, k));
    }
    return fits;
  }
}
