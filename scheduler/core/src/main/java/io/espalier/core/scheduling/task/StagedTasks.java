package io.espalier.core.scheduling.task;

import io.espalier.core.rollout.RolloutMembers;
import io.espalier.core.scheduling.gate.GateTable;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.scheduling.gate.StageGate;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.scheduling.job.StatusCodes;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.topology.Topology;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which tasks wait for a later stage of the roll-out of their job. They are not ready, so the index
 * does not contain them and a round never looks at them. When a stage opens or the nodes change,
 * the tasks of the job are visited once, in slices.
 */
public final class StagedTasks {
  /** The cost of comparing the name of a node with those of the members. */
  private static final int NODE_UNITS = 4;

  private static final int REFRESH_UNITS = 16;

  private final Topology topology;
  private final JobTable jobs;
  private final TaskTable tasks;
  private final GateTable gates;

  /** By job; a job without stages has none. */
  private final @Nullable Stages[] byJob;

  private final Queue<Integer> dirty = new ArrayDeque<>();

  /** How many tasks were visited so far. */
  private long visited;

  StagedTasks(Topology topology, JobTable jobs, TaskTable tasks, GateTable gates) {
    this.topology = topology;
    this.jobs = jobs;
    this.tasks = tasks;
    this.gates = gates;
    byJob = new @Nullable Stages[jobs.count()];
  }

  /** The stages of one job. */
  private static final class Stages implements TaskTable.Watch {
    final RolloutMembers members;

    /** By task: its stage plus one; 0: not known yet. */
    final byte[] of;

    /** By stage: the tasks that have not ended, among those before {@link #counted}. */
    final long[] left;

    /** By task: whether it is below a node that is set apart. */
    final BitSet apart = new BitSet();

    /** By stage: the tasks that are set apart and have not ended; {@link #left} has the others. */
    final long[] leftApart;

    /** By stage: the tasks that are set apart and have failed. */
    final long[] failedApart;

    /** By stage: the tasks that only wait for their stage, or for less. */
    final long[] ready;

    int open;
    List<Scope> apartNodes = List.of();
    int counted;

    /** The next task to be visited. */
    int next;

    Stages(RolloutMembers members, int tasks) {
      this.members = members;
      of = new byte[tasks];
      left = new long[members.stages()];
      leftApart = new long[members.stages()];
      failedApart = new long[members.stages()];
      ready = new long[members.stages()];
    }

    void count(int at, int code, int by) {
      int stage = of[at] - 1;
      boolean isApart = apart.get(at);
      (isApart ? leftApart : left)[stage] += isLeft(code) ? by : 0;
      failedApart[stage] += isApart && StatusCodes.main(code) == Main.FAILED ? by : 0;
      ready[stage] +=
          StatusCodes.isReady(code) && StatusCodes.effect(code) == StatusCodes.OPEN ? by : 0;
    }

    @Override
    public void changed(int at, int before, int after) {
      if (at < counted) {
        count(at, before, -1);
        count(at, after, 1);
      }
    }
  }

  /**
   * Returns whether a task runs or may start again. A task that is done and will be verified has
   * ended, because the verifications begin when all tasks are done.
   */
  public static boolean isLeft(int code) {
    return StatusCodes.isRemaining(code) && StatusCodes.main(code) != Main.DONE;
  }

  /** Begins to follow the gates, when this state is about to be built. */
  public void follow() {
    gates.staged().forEach(this::changed);
  }

  /** Handles a gate that was closed, changed or opened; {@link #step} must follow. */
  public void changed(String name) {
    int job = jobs.find(name);
    if (job < 0 || jobs.job(job) == null) {
      return;
    }
    StageGate gate = gates.stages(name);
    Stages before = byJob[job];
    if (gate == null) {
      if (before != null) {
        tasks.unwatch(job, before);
        byJob[job] = null;
        dirty.add(job);
      }
      return;
    }
    Stages stages = before;
    if (stages == null || stages.members != gate.members()) {
      if (stages != null) {
        tasks.unwatch(job, stages);
      }
      stages = new Stages(gate.members(), tasks.end(job) - tasks.first(job));
      tasks.watch(job, stages);
      byJob[job] = stages;
    } else if (stages.open == gate.open() && stages.apartNodes.equals(gate.apart())) {
      return; // only its reason has changed
    }
    stages.open = gate.open();
    stages.apartNodes = gate.apart();
    stages.next = 0;
    dirty.add(job);
  }

  /** Returns whether the stage of a task is open. */
  boolean isOpen(int job, int node) {
    Stages stages = byJob[job];
    return stages == null || stage(stages, job, node) <= stages.open;
  }

  /** Returns the stage of a task, from 0; -1: its job has no stages. */
  public int stage(int job, int node) {
    Stages stages = byJob[job];
    return stages == null ? -1 : stage(stages, job, node);
  }

  private int stage(Stages stages, int job, int node) {
    int at = node - tasks.first(job);
    if (stages.of[at] == 0) {
      stages.of[at] = (byte) (1 + stages.members.stage(topology.name(node)));
    }
    return stages.of[at] - 1;
  }

  /**
   * Returns how many tasks of the open stages have not ended, without those set apart; -1: that is
   * not known yet.
   *
   * @param job the number of a job
   */
  public long left(int job) {
    Stages stages = byJob[job];
    return stages == null || stages.counted < stages.of.length
        ? -1
        : Arrays.stream(stages.left, 0, stages.open + 1).sum();
  }

  /** Returns how many tasks of the open stages of a job have not ended and are set apart. */
  public long leftApart(int job) {
    Stages stages = byJob[job];
    return stages == null ? 0 : Arrays.stream(stages.leftApart, 0, stages.open + 1).sum();
  }

  /** Returns how many tasks of the stage opened last are set apart, and are left or have failed. */
  public long apartOfOpen(int job) {
    Stages stages = byJob[job];
    return stages == null ? 0 : stages.leftApart[stages.open] + stages.failedApart[stages.open];
  }

  /** Returns whether a task is below a node that is set apart in the stages of its job. */
  public boolean isApart(int job, int node) {
    Stages stages = byJob[job];
    return stages != null && stages.apart.get(node - tasks.first(job));
  }

  /** Returns whether all that is above a node, or itself, is among some nodes. */
  private boolean isBelow(int node, Set<Integer> nodes) {
    if (nodes.contains(node)) {
      return true;
    }
    int places = topology.slotCount(node);
    for (int i = 0; i < places; i++) {
      int parent = topology.parent(topology.slot(node, i));
      if (parent < 0 || !isBelow(parent, nodes)) {
        return false;
      }
    }
    return places > 0;
  }

  private Set<Integer> numbers(List<Scope> nodes) {
    Set<Integer> numbers = new HashSet<>();
    for (Scope each : nodes) {
      int level = topology.levels().find(each.level());
      int node = level < 0 ? -1 : topology.find(level, each.name());
      if (node >= 0) {
        numbers.add(node);
      }
    }
    return numbers;
  }

  /** Returns how many tasks would be ready if their stages were open, as far as is known. */
  public long waiting(int job) {
    Stages stages = byJob[job];
    return stages == null
        ? 0
        : Arrays.stream(stages.ready, stages.open + 1, stages.ready.length).sum();
  }

  public boolean isDone() {
    return dirty.isEmpty();
  }

  /** Returns how many tasks were visited so far: the measure of the cost. */
  public long visited() {
    return visited;
  }

  /**
   * Visits tasks whose stage may have been opened or closed.
   *
   * @return the number of units used
   */
  public int step(int units, TaskStatuses statuses) {
    int done = 0;
    while (done < units && !dirty.isEmpty()) {
      int job = dirty.element();
      Stages stages = byJob[job];
      int count = tasks.end(job) - tasks.first(job);
      int at = stages == null ? opened : stages.next;
      Set<Integer> apart = stages == null ? Set.of() : numbers(stages.apartNodes);
      for (; at < count && done < units; at++) {
        int node = tasks.first(job) + at;
        if (stages != null) {
          visit(stages, job, at, !apart.isEmpty() && isBelow(node, apart));
        }
        done += NODE_UNITS + (statuses.stageChanged(job, node) ? REFRESH_UNITS : 0);
        visited++;
      }
      if (stages == null) {
        opened = at;
      } else {
        stages.next = at;
      }
      if (at == count) {
        dirty.remove();
        opened = 0;
        tasks.touch(job);
      }
      done++;
    }
    return done;
  }

  /** Counts a task that was not counted yet, or is counted elsewhere from now on. */
  private void visit(Stages stages, int job, int at, boolean isApart) {
    int node = tasks.first(job) + at;
    int code = tasks.code(job, node);
    if (at == stages.counted) {
      stages.of[at] = (byte) (1 + stage(stages, job, node));
      stages.apart.set(at, isApart);
      stages.count(at, code, 1);
      stages.counted++;
    } else if (stages.apart.get(at) != isApart) {
      stages.count(at, code, -1);
      stages.apart.set(at, isApart);
      stages.count(at, code, 1);
    }
  }

  /** The next task of the first job in the queue, if that has no stages any more. */
  private int opened;
}
