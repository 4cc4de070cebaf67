package io.espalier.core.forecast;

import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.Resource;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.capacity.RunningCap;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.scheduling.group.GroupMembers;
import io.espalier.core.scheduling.group.RedundancyGroups;
import io.espalier.core.status.TaskStatus;
import io.espalier.core.status.TaskStatus.Main;
import io.espalier.core.topology.Topology;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The work that is left in a core. Use it on the thread of the core. */
public final class LiveWork implements WorkLeft {
  private static final int OVER = Main.DONE.bit() | Main.FAILED.bit() | Main.CANCELLED.bit();
  private static final int CLOSED = TaskStatus.AVOIDED | TaskStatus.DISABLED;

  private static final List<GateKind> CLOSING =
      List.of(GateKind.NODE_BRAKE, GateKind.NODE_QUARANTINE, GateKind.JOB_QUARANTINE);

  private final SchedulingCore core;

  public LiveWork(SchedulingCore core) {
    this.core = core;
  }

  @Override
  public Config config() {
    return core.config();
  }

  @Override
  public Topology topology() {
    return core.topology();
  }

  @Override
  public long number() {
    return core.stateNumber();
  }

  @Override
  public int jobCount() {
    return core.jobCount();
  }

  @Override
  public @Nullable Job job(int job) {
    return core.job(job);
  }

  @Override
  public boolean mayStart(int job) {
    return core.tasks().mayStart(job);
  }

  @Override
  public boolean mayStartLater(int job) {
    Job config = core.job(job);
    return core.config().settings().enabled()
        && config != null
        && config.canRun()
        && !core.gates().isEnded(core.jobName(job));
  }

  @Override
  public boolean isHeld(int job) {
    String name = core.jobName(job);
    Gate brake = core.gates().get(GateKind.JOB_BRAKE, name);
    return core.gates().isEnded(name)
        || core.gates().get(GateKind.PAUSE, name) != null
        || (brake != null && brake.untilMillis() == 0);
  }

  @Override
  public long left(int job) {
    return core.tasks().progress(job).left();
  }

  @Override
  public long running(int job) {
    return core.tasks().progress(job).running();
  }

  @Override
  public int firstNode(int job) {
    return core.tasks().firstNode(job);
  }

  @Override
  public int endNode(int job) {
    return core.tasks().endNode(job);
  }

  @Override
  public boolean isLeft(int job, int node) {
    int bits = core.tasks().bits(job, node);
    return (bits & Main.RUNNING.bit()) != 0 || (bits & (OVER | CLOSED)) == 0;
  }

  /** Returns whether the status of a task is final, also where its node is closed to the job. */
  boolean isOver(int job, int node) {
    return (core.tasks().bits(job, node) & OVER) != 0;
  }

  @Override
  public boolean isRunning(int job, int node) {
    return (core.tasks().bits(job, node) & Main.RUNNING.bit()) != 0;
  }

  @Override
  public int limit(int node, int resource) {
    return core.capacity().limit(node, resource);
  }

  @Override
  public double ofWorkers(Resource resource) {
    return (double) resource.limit() * workers();
  }

  /** Returns how many workers take tasks. */
  int workers() {
    List<WorkerInfo> pool = core.capacity().workers();
    long taking = pool == null ? 0 : pool.stream().filter(WorkerInfo::takesTasks).count();
    boolean isLocal = pool != null && pool.size() == 1 && pool.get(0).ref().isLocal();
    return isLocal ? 1 : (int) taking;
  }

  @Override
  public long slots(Resource resource) {
    return core.capacity().total(resource);
  }

  @Override
  public Collection<RunningCap> caps() {
    return core.capacity().caps();
  }

  @Override
  public Map<Integer, GateKind> closedNodes(Job job) {
    return closedNodes(topology(), closed(), job);
  }

  /** Returns the gates of {@link #closedNodes}, of all jobs. */
  List<Gate> closed() {
    return CLOSING.stream()
        .flatMap(kind -> core.gates().of(kind).stream())
        .filter(gate -> gate.untilMillis() == 0)
        .toList();
  }

  /** Returns the numbers of those nodes that a tree has, for one job. */
  static Map<Integer, GateKind> closedNodes(Topology topology, List<Gate> gates, Job job) {
    Map<Integer, GateKind> nodes = new HashMap<>();
    for (Gate gate : gates) {
      Scope scope = gate.scope();
      if (!scope.job().isEmpty() && !scope.job().equals(job.name())) {
        continue;
      }
      int level = topology.levels().find(scope.level());
      int node =
          level >= 0 && level < topology.levels().worker()
              ? topology.find(level, scope.name())
              : -1;
      if (node >= 0) {
        nodes.putIfAbsent(node, gate.kind());
      }
    }
    return nodes;
  }

  @Override
  public @Nullable GroupMembers groups() {
    RedundancyGroups groups = core.capacity().redundancyGroups();
    return groups == null ? null : groups.members();
  }

  @Override
  public int groupLimit(int group) {
    RedundancyGroups groups = core.capacity().redundancyGroups();
    return groups == null ? 0 : groups.limit(group);
  }
}
