package io.espalier.core.scheduling;

import io.espalier.core.config.Job;
import io.espalier.core.config.Resource;
import io.espalier.core.outcome.JobCounts;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.job.StatusCodes;
import io.espalier.core.scheduling.query.Explainer;
import io.espalier.core.scheduling.state.SchedulingState;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.text.ShortText;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Finds jobs that cannot make progress unless somebody acts: no task runs or could start even with
 * free slots, no back-off ends, and the dependencies cannot make progress either. A job that an
 * operator has paused, or stopped by a limit of 0, is not stuck, and neither are the jobs that wait
 * for it.
 *
 * <p>The decision is per job: while any task of a job may still run, all tasks that depend on that
 * job node by node count as able to make progress. So a reported job is always stuck, but a stuck
 * job may be reported late.
 *
 * <p>{@link SchedulingCore#stuckJobs} creates an instance for one moment; use it on the thread of
 * the core.
 */
public final class StuckJobs {
  private final SchedulingState state;
  private final SchedulingCore core;

  /** Whether each job can make progress; false until the job has been judged. */
  private final Map<Integer, Boolean> known = new HashMap<>();

  private final Set<Integer> judged = new HashSet<>();

  StuckJobs(SchedulingCore core) {
    this.core = core;
    state = core.state();
  }

  /**
   * Explains in one sentence why a job cannot make progress.
   *
   * @param job a configured job
   * @return empty when a task can make progress, the whole job is stopped, or all tasks have ended
   */
  public String why(int job) {
    JobCounts tally = core.tasks().tally(job);
    if (tally.running() > 0 || !state.jobs.canRun(job) || isKeptByPeople(job)) {
      return "";
    }
    if (core.gates().isEnded(state.jobs.name(job))) {
      return "";
    }
    if (tally.total() == 0) {
      return noTasks(job);
    }
    if (tally.isThrough() || getsOn(job)) {
      return "";
    }
    List<String> inVain = state.wholeJobs.waitsInVainFor(job, this::getsOn);
    if (!inVain.isEmpty()) {
      return ShortText.few(inVain, "; ");
    }
    String tooLarge = tooLarge(job);
    return tooLarge.isEmpty() ? waitsOnNodes(job) : tooLarge;
  }

  /**
   * Returns whether an operator, a window, a roll-out, the reading of stored statuses, or jobs
   * before it keep the job from starting; this is taken to be temporary.
   */
  private boolean isKeptByPeople(int job) {
    String name = state.jobs.name(job);
    return core.gates().get(GateKind.PAUSE, name) != null
        || core.gates().get(GateKind.JOB_BRAKE, name) != null
        || core.gates().get(GateKind.JOB_WINDOW, name) != null
        || core.gates().get(GateKind.ROLLOUT, name) != null
        || core.gates().get(GateKind.HALTED, name) != null
        || core.gates().stages(name) != null
        || core.gates().get(GateKind.LOADING, name) != null
        || core.gates().get(GateKind.CAPACITY, name) != null;
  }

  /**
   * Returns whether a job has running tasks or may start some, where only a pause may have to end
   * first. Judges what it waits for first, without recursion: chains may be as long as there are
   * jobs.
   */
  private boolean getsOn(int job) {
    Deque<Integer> open = new ArrayDeque<>();
    open.push(job);
    while (!open.isEmpty()) {
      int next = open.peek();
      if (known.putIfAbsent(next, false) == null) {
        IntStream.concat(
                IntStream.of(state.jobs.dependencies[next]), state.wholeJobs.dependencies(next))
            .filter(before -> before >= 0 && !known.containsKey(before))
            .forEach(open::push);
      } else {
        open.pop();
        if (judged.add(next)) {
          known.put(next, judge(next));
        }
      }
    }
    return isKnownToGetOn(job);
  }

  private boolean isKnownToGetOn(int job) {
    return known.getOrDefault(job, false);
  }

  private boolean judge(int job) {
    JobCounts tally = core.tasks().tally(job);
    if (tally.running() > 0) {
      return true;
    }
    if (tally.isThrough() || !state.jobs.canRun(job)) {
      return false;
    }
    if (isKeptByPeople(job)) {
      return true;
    }
    if (core.gates().isEnded(state.jobs.name(job))
        || !state.wholeJobs.waitsInVainFor(job, this::isKnownToGetOn).isEmpty()
        || !tooLarge(job).isEmpty()) {
      return false;
    }
    int[] dependencies = state.jobs.dependencies[job];
    if (dependencies.length == 0
        || state.tasks.startable(job) > 0
        || core.tasks().progress(job).waiting() > 0) {
      return true;
    }
    for (int dependency : dependencies) {
      if (dependency >= 0 && isKnownToGetOn(dependency)) {
        return true;
      }
    }
    return false;
  }

  private String noTasks(int job) {
    int level = state.jobs.levels[job];
    String name = state.topology.levels().name(level);
    int nodes = state.topology.levelEnd(level) - state.topology.levelStart(level);
    if (state.config().shard().count() > 1) {
      return ""; // it may run on nodes of other schedulers
    }
    if (nodes == 0) {
      return "there is no node of its level, " + name + ": no node source delivers any";
    }
    long disabled = core.tasks().progress(job).disabled();
    long excluded = nodes - disabled;
    return "it has no task: of "
        + nodes
        + (nodes == 1 ? " node" : " nodes")
        + " of its level, "
        + name
        + ", its filters exclude "
        + excluded
        + " and "
        + disabled
        + (disabled == 1 ? " is disabled" : " are disabled");
  }

  /** A limit of 0 on all nodes is a deliberate stop, not a mistake. */
  private String tooLarge(int job) {
    for (Resource resource : state.config().settings().resources().all()) {
      int need = state.bounds.needs(job, resource);
      int largest = state.bounds.largest(resource);
      if (need > largest && largest > 0) {
        return "its tasks need "
            + need
            + " of "
            + resource.name()
            + ", and no node of level "
            + state.topology.levels().name(resource.level())
            + " has more than "
            + largest;
      }
    }
    return "";
  }

  private String waitsOnNodes(int job) {
    Job configured = state.jobs.job(job);
    for (int node = state.tasks.first(job); node < state.tasks.end(job); node++) {
      int code = state.tasks.code(job, node);
      if (StatusCodes.isRemaining(code) && StatusCodes.main(code) != Main.RUNNING) {
        List<String> waits = new ArrayList<>(new Explainer(state).waitsFor(job, node));
        if (configured != null && !waits.isEmpty()) {
          return "its tasks wait for "
              + ShortText.few(
                  configured.dependsOn().stream().map(name -> "job " + name).toList(), " and ")
              + " on their node; on "
              + state.topology.name(node)
              + " "
              + ShortText.few(waits, " and ");
        }
      }
    }
    return "";
  }
}
