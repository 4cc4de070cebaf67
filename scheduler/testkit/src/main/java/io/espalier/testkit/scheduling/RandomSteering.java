package io.espalier.testkit.scheduling;

import io.espalier.core.config.GroupRule;
import io.espalier.core.config.Job;
import io.espalier.core.config.Levels;
import io.espalier.core.config.Resource;
import io.espalier.core.rollout.RolloutMembers;
import io.espalier.core.rollout.RolloutOrder;
import io.espalier.core.running.WorkerInfo;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.capacity.HealthLimit;
import io.espalier.core.scheduling.capacity.LimitFactor;
import io.espalier.core.scheduling.capacity.RunningCap;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.scheduling.gate.StageGate;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.core.topology.Topology;
import io.espalier.testkit.oracle.Oracle;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Closes nodes and changes limits at random, for the core and the oracle alike. */
final class RandomSteering {
  private static final List<GateKind> NODE_GATES =
      List.of(GateKind.NODE_CLOSED, GateKind.JOB_QUARANTINE, GateKind.WINDOW_CUTOFF);

  private final SchedulingCore core;
  private final Oracle oracle;
  private final Random random;

  /** For start windows alone, so that worlds of earlier seeds differ in nothing else. */
  private final Random ofWindows;

  private final boolean isPool;
  private final Map<String, Stages> staged = new HashMap<>();

  /**
   * The roll-out of a job.
   *
   * @param order the nodes of all stages but the last
   * @param sizes how many of them each stage and those before it have
   */
  private record Stages(RolloutMembers members, List<String> order, List<Long> sizes, int open) {
    boolean isLast() {
      return open == sizes.size() - 1;
    }
  }

  /**
   * @param isPool whether workers run the tasks
   */
  RandomSteering(
      SchedulingCore core, Oracle oracle, Random random, Random ofWindows, boolean isPool) {
    this.core = core;
    this.oracle = oracle;
    this.random = random;
    this.ofWindows = ofWindows;
    this.isPool = isPool;
  }

  /** Closes or opens nodes that exist or may exist one day, for all jobs or for one. */
  void closeNodes(long now) {
    GateKind kind = NODE_GATES.get(random.nextInt(NODE_GATES.size()));
    List<Gate> all = gates(kind);
    boolean opens = !all.isEmpty() && random.nextInt(1 + all.size()) > 0;
    Scope node = anyNode();
    Scope scope =
        opens
            ? all.get(random.nextInt(all.size())).scope()
            : kind.closes() == Scope.Kind.NODE
                ? node
                : Scope.jobOnNode(anyJob(), node.level(), node.name());
    if (opens) {
      core.gates().open(kind, scope);
    } else {
      core.gates().close(new Gate(kind, scope, "ada", "by chance", now, 0));
    }
    oracle.nodeGates().set(kind, scope, !opens);
  }

  /** Changes what lowers limits, and which jobs have room for starts. */
  void limits(long now) {
    factor(now);
    health();
    cap();
    startWindow();
  }

  /**
   * Begins the roll-out of a job that exists or may exist one day, opens its next stage, or ends
   * it. {@code SchedulingCore.stepLimits} must follow before a round.
   */
  void stages() {
    String job = anyJob();
    Stages before = staged.get(job);
    if (before != null && random.nextInt(4) == 0) {
      staged.remove(job);
      core.gates().openStages(job);
      oracle.closings().stages(job, null);
      return;
    }
    Stages now =
        before == null || before.isLast() || random.nextInt(4) == 0
            ? anyStages(job)
            : new Stages(before.members(), before.order(), before.sizes(), before.open() + 1);
    staged.put(job, now);
    core.gates().close(new StageGate(now.members(), now.open(), List.of(), "by chance"));
    oracle
        .closings()
        .stages(
            job,
            now.isLast()
                ? null
                : Set.copyOf(now.order().subList(0, now.sizes().get(now.open()).intValue())));
  }

  private Stages anyStages(String job) {
    Job configured = core.config().job(job);
    Topology nodes = core.topology();
    int level = configured == null ? 1 : configured.level();
    Set<String> names = new TreeSet<>();
    for (int i = 0; i < 6; i++) {
      names.add("n" + level + "_" + random.nextInt(12));
    }
    for (int node = 0; node < nodes.size(); node++) {
      if (nodes.level(node) == level && random.nextInt(3) > 0) {
        names.add(nodes.name(node));
      }
    }
    List<String> order = new ArrayList<>(names);
    Collections.shuffle(order, random);
    List<Long> sizes = new ArrayList<>();
    for (int stage = random.nextInt(3); stage > 0; stage--) {
      sizes.add((long) random.nextInt(order.size() + 1));
    }
    sizes.add((long) order.size());
    Collections.sort(sizes);
    sizes.add(2L * order.size());
    long[] hashes = order.stream().mapToLong(node -> RolloutOrder.hash(job, node)).toArray();
    return new Stages(
        RolloutMembers.of(job, hashes, sizes), order, sizes, random.nextInt(sizes.size()));
  }

  /** A start fills the window of its job, or of its worker, or none. */
  void mayFill(String job, @Nullable WorkerInfo worker) {
    if (ofWindows.nextInt(8) == 0) {
      fill(job, worker);
    }
  }

  /** Starts are confirmed, so that half of the windows that are full have room again. */
  void confirmStarts() {
    for (Gate gate : gates(GateKind.JOB_STARTING)) {
      if (ofWindows.nextBoolean()) {
        jobWindow(gate.scope().name(), false);
      }
    }
    for (Gate gate : gates(GateKind.WORKER_STARTING)) {
      if (ofWindows.nextBoolean()) {
        workerWindow(gate.scope().name(), false);
      }
    }
  }

  private List<Gate> gates(GateKind kind) {
    List<Gate> all = new ArrayList<>(core.gates().of(kind));
    all.sort(Comparator.comparing(gate -> gate.scope().toString()));
    return all;
  }

  private void fill(String job, @Nullable WorkerInfo worker) {
    if (worker == null || !isPool || ofWindows.nextBoolean()) {
      jobWindow(job, true);
    } else {
      workerWindow(worker.ref().shard(), true);
    }
  }

  private void jobWindow(String job, boolean isFull) {
    if (isFull) {
      core.gates().close(Gate.of(GateKind.JOB_STARTING, job, ""));
    } else {
      core.gates().open(GateKind.JOB_STARTING, job);
    }
    oracle.closings().starting(job, isFull);
  }

  private void workerWindow(String shard, boolean isFull) {
    if (isFull) {
      core.gates().close(new Gate(GateKind.WORKER_STARTING, Scope.worker(shard), "", "", 0, 0));
    } else {
      core.gates().open(GateKind.WORKER_STARTING, Scope.worker(shard));
    }
    oracle.slots().starting(shard, isFull);
  }

  /** The window of a job that exists or may exist one day becomes full, or has room. */
  private void startWindow() {
    String job = "job" + ofWindows.nextInt(6);
    if (ofWindows.nextInt(3) == 0) {
      fill(job, null);
    } else {
      jobWindow(job, false);
    }
    if (isPool) {
      workerWindow("w" + ofWindows.nextInt(7), ofWindows.nextInt(3) == 0);
    }
  }

  /** Sets or removes a factor. */
  private void factor(long now) {
    String id = "factor" + random.nextInt(4);
    if (random.nextInt(3) == 0) {
      core.limits().removeFactor(id);
      oracle.slots().factor(id, null);
      return;
    }
    Scope node = anyNode();
    Scope scope =
        switch (random.nextInt(4)) {
          case 0 -> Scope.all();
          case 1 -> Scope.level(node.level());
          default -> node;
        };
    Set<String> resources = random.nextBoolean() ? Set.of() : Set.of(node.level() + "1");
    int millionths = random.nextInt(5) * LimitFactor.ONE / 5 + random.nextInt(2);
    LimitFactor factor = new LimitFactor(id, scope, resources, millionths, "", "", now, 0);
    core.limits().setFactor(factor);
    oracle.slots().factor(id, factor);
  }

  /** Sets or removes what health leaves of the limit of a node, level or kind of groups. */
  private void health() {
    List<GroupRule> kinds = oracle.config().settings().rules().groups();
    if (!kinds.isEmpty() && random.nextBoolean()) {
      healthOfMember(kinds.get(random.nextInt(kinds.size())));
      return;
    }
    LimitOverride.Key key = anyLimit();
    if (key.level().equals(Levels.WORKER)) {
      return;
    }
    if (random.nextInt(3) == 0) {
      core.limits().removeHealth(key.level(), key.resource(), key.node());
      oracle.slots().health(key, null);
      return;
    }
    setHealth(key, random.nextBoolean() ? HealthLimit.WHOLE : random.nextInt(5));
  }

  /** A member of groups is not well, or is again; or all of a level are not, or are. */
  private void healthOfMember(GroupRule kind) {
    Topology nodes = core.topology();
    String level = nodes.levels().name(kind.level());
    int first = nodes.levelStart(kind.level());
    int count = nodes.levelEnd(kind.level()) - first;
    boolean isAll = count == 0 || random.nextInt(8) == 0;
    String node = isAll ? "" : nodes.name(first + random.nextInt(count));
    if (random.nextInt(3) == 0) {
      core.limits().removeHealth(level, kind.limitName(), "");
      oracle.slots().health(new LimitOverride.Key(level, kind.limitName(), ""), null);
    } else {
      LimitOverride.Key key = new LimitOverride.Key(level, kind.limitName(), node);
      setHealth(key, random.nextBoolean() ? HealthLimit.WHOLE : 0);
    }
  }

  private void setHealth(LimitOverride.Key key, int limit) {
    core.limits()
        .setHealth(
            new HealthLimit(
                key.level(), key.resource(), key.node(), limit, "probe lag is high", 0));
    oracle.slots().health(key, limit);
  }

  /** Sets or removes a cap of a job or queue that exists or may exist one day. */
  private void cap() {
    String id = "cap" + random.nextInt(4);
    if (random.nextInt(3) == 0) {
      core.limits().removeCap(id);
      oracle.slots().cap(id, null);
      return;
    }
    String name = anyJob();
    Job job = core.config().job(name);
    Scope scope =
        job == null || random.nextBoolean()
            ? Scope.job(name)
            : Scope.queue(job.scheduling().queue());
    RunningCap cap = new RunningCap(id, scope, 1 + random.nextInt(4), "", "", 0);
    core.limits().setCap(cap);
    oracle.slots().cap(id, cap);
  }

  private String anyJob() {
    List<Job> jobs = List.copyOf(core.config().jobs().values());
    return jobs.isEmpty() || random.nextInt(6) == 0
        ? "job" + random.nextInt(6)
        : jobs.get(random.nextInt(jobs.size())).name();
  }

  private Scope anyNode() {
    Topology nodes = core.topology();
    if (random.nextInt(6) == 0) {
      return Scope.node("host", "n1_" + random.nextInt(8));
    }
    int node = random.nextInt(nodes.size());
    return Scope.node(nodes.levels().name(nodes.level(node)), nodes.name(node));
  }

  LimitOverride.Key anyLimit() {
    Topology nodes = core.topology();
    List<Resource> resources = oracle.config().settings().resources().all();
    if (resources.isEmpty() || random.nextInt(8) == 0) {
      return new LimitOverride.Key("host", "host1", random.nextBoolean() ? "" : "n1_0");
    }
    Resource resource = resources.get(random.nextInt(resources.size()));
    int level = resource.level();
    String node = "";
    if (random.nextInt(3) > 0) {
      int first = nodes.levelStart(level);
      int count = nodes.levelEnd(level) - first;
      if (level == nodes.levels().worker()) {
        node = isPool ? "w" + random.nextInt(7) : TreeFixture.INSTANCE;
      } else {
        node = count == 0 ? "n1_0" : nodes.name(first + random.nextInt(count));
      }
    }
    return new LimitOverride.Key(nodes.levels().name(level), resource.name(), node);
  }
}
