package io.espalier.testkit.scheduling;

import io.espalier.core.config.Job;
import io.espalier.core.config.Levels;
import io.espalier.core.config.Resource;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.capacity.HealthLimit;
import io.espalier.core.scheduling.capacity.LimitFactor;
import io.espalier.core.scheduling.capacity.RunningCap;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.status.store.LimitOverride;
import io.espalier.core.topology.Topology;
import io.espalier.testkit.oracle.Oracle;
import io.espalier.testkit.oracle.Oracle.Place;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.Set;

/** Closes nodes and changes limits at random, for the core and the oracle alike. */
final class RandomSteering {
  private final SchedulingCore core;
  private final Oracle oracle;
  private final Random random;
  private final boolean isPool;

  /**
   * @param isPool whether workers run the tasks
   */
  RandomSteering(SchedulingCore core, Oracle oracle, Random random, boolean isPool) {
    this.core = core;
    this.oracle = oracle;
    this.random = random;
    this.isPool = isPool;
  }

  /** Closes or opens nodes that exist or may exist one day. */
  void closeNodes(long now) {
    List<Gate> all = new ArrayList<>(core.gates(GateKind.NODE_CLOSED));
    all.sort(Comparator.comparing(gate -> gate.scope().toString()));
    boolean opens = !all.isEmpty() && random.nextInt(1 + all.size()) > 0;
    Scope scope = opens ? all.get(random.nextInt(all.size())).scope() : anyNode();
    if (opens) {
      core.open(GateKind.NODE_CLOSED, scope);
    } else {
      core.close(new Gate(GateKind.NODE_CLOSED, scope, "ada", "by chance", now, 0));
    }
    oracle.close(new Place(scope.level(), scope.name()), !opens);
  }

  /** Sets or removes a factor. */
  void factor(long now) {
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

  /** Sets or removes what health leaves of the limit of a node or level. */
  void health() {
    LimitOverride.Key key = anyLimit();
    if (key.level().equals(Levels.WORKER)) {
      return;
    }
    if (random.nextInt(3) == 0) {
      core.limits().removeHealth(key.level(), key.resource(), key.node());
      oracle.slots().health(key, null);
      return;
    }
    int limit = random.nextBoolean() ? HealthLimit.WHOLE : random.nextInt(5);
    core.limits()
        .setHealth(
            new HealthLimit(
                key.level(), key.resource(), key.node(), limit, "probe lag is high", 0));
    oracle.slots().health(key, limit);
  }

  /** Sets or removes a cap of a job or queue that exists or may exist one day. */
  void cap() {
    String id = "cap" + random.nextInt(4);
    if (random.nextInt(3) == 0) {
      core.limits().removeCap(id);
      oracle.slots().cap(id, null);
      return;
    }
    List<Job> jobs = List.copyOf(core.config().jobs().values());
    String name =
        jobs.isEmpty() || random.nextInt(6) == 0
            ? "job" + random.nextInt(6)
            : jobs.get(random.nextInt(jobs.size())).name();
    Job job = core.config().job(name);
    Scope scope =
        job == null || random.nextBoolean()
            ? Scope.job(name)
            : Scope.queue(job.scheduling().queue());
    RunningCap cap = new RunningCap(id, scope, 1 + random.nextInt(4), "", "", 0);
    core.limits().setCap(cap);
    oracle.slots().cap(id, cap);
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
