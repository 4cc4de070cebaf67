package io.espalier.core.scheduling;

import io.espalier.core.outcome.JobCounts;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.scheduling.group.RedundancyGroups;
import io.espalier.core.scheduling.job.StatusCodes;
import io.espalier.core.scheduling.state.SchedulingState;
import io.espalier.core.scheduling.task.RunBatches;
import io.espalier.core.scheduling.task.RunningTasks;
import io.espalier.core.status.TaskStatus.Main;
import java.util.EnumMap;
import java.util.Map;

/** Recomputes from scratch all incrementally updated data of the core, and compares. */
final class InvariantChecker {
  private final SchedulingState state;
  private final RunningTasks runs;

  InvariantChecker(SchedulingState state, RunningTasks runs) {
    this.state = state;
    this.runs = runs;
  }

  /**
   * @throws IllegalStateException with the first difference
   */
  void run() {
    counts();
    free();
    ready();
    statuses();
    gates();
    state.limits.check();
    state.caps.check(state.places);
    state.rates.check();
    batches();
    groups();
    state.index.check();
    if (state.reservations != null) {
      state.reservations.check();
    }
    state.rooms.check();
    state.queues.check(state.config(), state.topology, state.pool, runs, state.places);
    new WorkerInvariants(state, runs).run();
  }

  private static void check(boolean holds, String what) {
    if (!holds) {
      throw new IllegalStateException("the scheduling core is inconsistent: " + what);
    }
  }

  private void counts() {
    for (int job = 0; job < state.jobs.count(); job++) {
      int[] counts = new int[StatusCodes.COUNT];
      long remaining = 0;
      for (int node = state.tasks.first(job); node < state.tasks.end(job); node++) {
        int code = state.tasks.code(job, node);
        counts[code]++;
        remaining += StatusCodes.isRemaining(code) ? 1 : 0;
      }
      for (int code = 0; code < counts.length; code++) {
        check(counts[code] == state.tasks.count(job, code), "count of code " + code);
      }
      check(remaining == state.tasks.remaining(job), "remaining tasks of job " + job);
      check(tally(counts).equals(state.tasks.tally(job, 0)), "tally of job " + job);
    }
  }

  private static JobCounts tally(int[] counts) {
    Map<Main, Long> of = new EnumMap<>(Main.class);
    for (int code = 0; code < counts.length; code++) {
      if (StatusCodes.effect(code) == StatusCodes.OPEN) {
        of.merge(StatusCodes.main(code), (long) counts[code], Long::sum);
      }
    }
    return new JobCounts(
        of.getOrDefault(Main.UNSTARTED, 0L),
        of.getOrDefault(Main.INCOMPLETE, 0L) + of.getOrDefault(Main.ERROR, 0L),
        0,
        of.getOrDefault(Main.DONE, 0L),
        of.getOrDefault(Main.FAILED, 0L),
        of.getOrDefault(Main.CANCELLED, 0L));
  }

  private void free() {
    int levels = state.topology.levels().count();
    for (int level = 0; level < levels; level++) {
      for (int resource : state.ledger.resources(level)) {
        int start = state.topology.levelStart(level);
        int[] free = new int[state.topology.levelEnd(level) - start];
        for (int i = 0; i < free.length; i++) {
          free[i] = state.ledger.limit(start + i, resource);
        }
        for (int run = 0; run < runs.high(); run++) {
          if (runs.isUsed(run) && state.places.node(run, level) >= 0) {
            free[state.places.node(run, level) - start] -= state.places.amounts(run)[resource];
          }
        }
        for (int i = 0; i < free.length; i++) {
          check(free[i] == state.ledger.free(start + i, level, resource), "free slots");
          int place = state.ledger.place(start + i, level, resource);
          int withheld =
              state.ledger.base(start + i, resource) - state.ledger.limit(start + i, resource);
          check(
              (long) free[i] + withheld < 0 == state.over.isOver(resource, place),
              "over the limit");
        }
      }
    }
  }

  /** Checks that of the tasks of a batch that are charged on nodes, one carries what they share. */
  private void batches() {
    RunBatches batches = runs.batches();
    for (int run = 0; run < runs.high(); run++) {
      if (runs.isUsed(run) && !batches.name(run).isEmpty() && state.places.isPlaced(run)) {
        int carrier = batches.carrier(run);
        check(carrier >= 0 && state.places.isPlaced(carrier), "the carrier of a batch");
        check(batches.name(carrier).equals(batches.name(run)), "the batch of a carrier");
      }
    }
  }

  private void groups() {
    RedundancyGroups groups = state.groups;
    if (groups == null) {
      return;
    }
    int[] running = new int[groups.members().count()];
    for (int level = 0; level < state.topology.levels().count(); level++) {
      for (int run = 0; groups.members().has(level) && run < runs.high(); run++) {
        if (runs.isUsed(run) && state.places.node(run, level) >= 0) {
          running[groups.members().member(state.places.node(run, level), level)]++;
        }
      }
    }
    groups.check(running);
  }

  /**
   * Checks that no closed job is open, and which nodes are closed; a job that has just become open
   * may still be closed.
   */
  private void gates() {
    state.gates.check();
    state.closed.check();
    for (int job = 0; job < state.jobs.count(); job++) {
      boolean closed =
          !state.jobs.canRun(job) || state.gateTable.isClosed(Scope.job(state.jobs.name(job)));
      boolean open = (state.gates.open(job >>> 6) & 1L << job) != 0;
      check(!(closed && open), "gates of job " + job);
    }
    for (int node = 0; node < state.topology.size(); node++) {
      String level = state.topology.levels().name(state.index.level(node));
      boolean closed = state.gateTable.isClosed(Scope.node(level, state.topology.name(node)));
      check(closed == state.closed.isClosed(node), "gates of node " + node);
      for (int job = 0; job < state.jobs.count(); job++) {
        Scope scope = Scope.jobOnNode(state.jobs.name(job), level, state.topology.name(node));
        check(
            state.gateTable.isClosed(scope) == state.closed.isClosedFor(node, job),
            "gates of job " + job + " on node " + node);
      }
    }
  }

  private void ready() {
    for (int job = 0; job < state.jobs.count(); job++) {
      for (int node = state.tasks.first(job); node < state.tasks.end(job); node++) {
        check(
            state.statuses.isReady(job, node) == state.index.isReady(node, job),
            "ready bit of job " + job + " on node " + node);
      }
    }
  }

  /**
   * Checks that a status is kept exactly when the task's code requires one, and that running tasks
   * are found.
   */
  private void statuses() {
    long details = 0;
    for (int job = 0; job < state.jobs.count(); job++) {
      for (int node = state.tasks.first(job); node < state.tasks.end(job); node++) {
        int code = state.tasks.code(job, node);
        boolean kept = state.tasks.detail(job, node) != null;
        check(kept == StatusCodes.hasDetail(code), "status of job " + job + " on node " + node);
        details += kept ? 1 : 0;
        boolean found = state.places.find(job, node) >= 0;
        check(found || !StatusCodes.isRunning(code), "running task of job " + job);
      }
    }
    check(details == state.tasks.details().size(), "statuses of no task");
    for (int run = 0; run < runs.high(); run++) {
      if (runs.isUsed(run) && state.places.job(run) >= 0 && state.places.node(run) >= 0) {
        int found = state.places.find(state.places.job(run), state.places.node(run));
        check(found >= 0, "a running task that is not found");
      }
    }
  }
}
