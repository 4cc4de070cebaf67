package io.espalier.core.scheduling;

import io.espalier.core.outcome.JobCounts;
import io.espalier.core.scheduling.job.StatusCodes;
import io.espalier.core.scheduling.state.SchedulingState;
import io.espalier.core.scheduling.task.RunningTasks;
import io.espalier.core.status.TaskStatus.Main;
import java.util.EnumMap;
import java.util.Map;

/** Recomputes from scratch all incrementally updated data of the core, and compares. */
final class InvariantChecker {
  private final SchedulingState world;
  private final RunningTasks runs;

  InvariantChecker(SchedulingState world, RunningTasks runs) {
    this.world = world;
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
    world.limits.check();
    world.caps.check(world.places);
    world.rates.check();
    world.index.check();
    if (world.reservations != null) {
      world.reservations.check();
    }
    world.rooms.check();
    world.queues.check(world.config(), world.topology, world.pool, runs, world.places);
    new WorkerInvariants(world, runs).run();
  }

  private static void check(boolean holds, String what) {
    if (!holds) {
      throw new IllegalStateException("the scheduling core is inconsistent: " + what);
    }
  }

  private void counts() {
    for (int job = 0; job < world.jobs.count(); job++) {
      int[] counts = new int[StatusCodes.COUNT];
      long remaining = 0;
      for (int node = world.tasks.first(job); node < world.tasks.end(job); node++) {
        int code = world.tasks.code(job, node);
        counts[code]++;
        remaining += StatusCodes.isRemaining(code) ? 1 : 0;
      }
      for (int code = 0; code < counts.length; code++) {
        check(counts[code] == world.tasks.count(job, code), "count of code " + code);
      }
      check(remaining == world.tasks.remaining(job), "remaining tasks of job " + job);
      check(tally(counts).equals(world.tasks.tally(job, 0)), "tally of job " + job);
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
        of.getOrDefault(Main.FAILED, 0L));
  }

  private void free() {
    int levels = world.topology.levels().count();
    for (int level = 0; level < levels; level++) {
      for (int resource : world.ledger.resources(level)) {
        int start = world.topology.levelStart(level);
        int[] free = new int[world.topology.levelEnd(level) - start];
        for (int i = 0; i < free.length; i++) {
          free[i] = world.ledger.limit(start + i, level, resource);
        }
        for (int run = 0; run < runs.high(); run++) {
          if (runs.isUsed(run) && world.places.node(run, level) >= 0) {
            free[world.places.node(run, level) - start] -= world.places.amounts(run)[resource];
          }
        }
        for (int i = 0; i < free.length; i++) {
          check(free[i] == world.ledger.free(start + i, level, resource), "free slots");
          int place = world.ledger.place(start + i, level, resource);
          check(free[i] < 0 == world.over.isOver(resource, place), "over the limit");
        }
      }
    }
  }

  private void ready() {
    for (int job = 0; job < world.jobs.count(); job++) {
      for (int node = world.tasks.first(job); node < world.tasks.end(job); node++) {
        check(
            world.statuses.isReady(job, node) == world.index.isReady(node, job),
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
    for (int job = 0; job < world.jobs.count(); job++) {
      for (int node = world.tasks.first(job); node < world.tasks.end(job); node++) {
        int code = world.tasks.code(job, node);
        boolean kept = world.tasks.detail(job, node) != null;
        check(kept == StatusCodes.hasDetail(code), "status of job " + job + " on node " + node);
        details += kept ? 1 : 0;
        boolean found = world.places.find(job, node) >= 0;
        check(found || !StatusCodes.isRunning(code), "running task of job " + job);
      }
    }
    check(details == world.tasks.details().size(), "statuses of no task");
    for (int run = 0; run < runs.high(); run++) {
      if (runs.isUsed(run) && world.places.job(run) >= 0 && world.places.node(run) >= 0) {
        int found = world.places.find(world.places.job(run), world.places.node(run));
        check(found >= 0, "a running task that is not found");
      }
    }
  }
}
