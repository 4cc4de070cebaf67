package io.espalier.core.scheduling.state;

import io.espalier.core.config.Levels;
import io.espalier.core.config.ResourceCatalog;
import io.espalier.core.scheduling.capacity.ResourceCharges;
import io.espalier.core.scheduling.task.RunningTasks;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The names of running tasks, of their nodes and of what they are charged, which outlive their jobs
 * and nodes.
 */
public final class RunNames {
  private RunNames() {}

  /** Returns the nodes in force that a running task is charged on. */
  public static RunningTasks.NamedPath nodesInForce(SchedulingState state, int run) {
    List<String> levels = new ArrayList<>();
    List<String> nodes = new ArrayList<>();
    for (int l = 0; l < state.topology.levels().count(); l++) {
      int node = state.places.node(run, l);
      if (node >= 0) {
        levels.add(state.topology.levels().name(l));
        nodes.add(state.topology.name(node));
      }
    }
    return new RunningTasks.NamedPath(levels, nodes);
  }

  /** Returns what a running task is charged by itself. */
  public static ResourceCharges charges(SchedulingState state, RunningTasks runs, int run) {
    return runs.isFound(run) ? state.occupancy.charges(run) : runs.charges(run);
  }

  /** Returns what a running task carries for its batch on top of that. */
  private static ResourceCharges carried(RunningTasks runs, int run) {
    return runs.batches().isCarrier(run) ? runs.batches().shared(run) : ResourceCharges.NONE;
  }

  /**
   * Returns what a running task is charged in all, in slots by resource index of a catalog;
   * resources that are unknown there are omitted.
   */
  public static int[] amounts(
      SchedulingState state, RunningTasks runs, int run, Levels levels, ResourceCatalog catalog) {
    int[] amounts = charges(state, runs, run).in(levels, catalog);
    int[] carried = carried(runs, run).in(levels, catalog);
    for (int r = 0; r < amounts.length; r++) {
      amounts[r] += carried[r];
    }
    return amounts;
  }

  /** Returns the names of the levels and nodes on the path that a running task is charged on. */
  public static RunningTasks.NamedPath path(SchedulingState state, RunningTasks runs, int run) {
    RunningTasks.NamedPath names = runs.names(run);
    return names != null ? names : nodesInForce(state, run);
  }

  /** Returns the name of the job of a running task. */
  public static String job(SchedulingState state, RunningTasks runs, int run) {
    int job = state.places.job(run);
    String name = runs.jobName(run);
    return job >= 0 || name == null ? state.jobs.name(job) : name;
  }

  /** Returns the name of the node of a running task. */
  public static String node(SchedulingState state, RunningTasks runs, int run) {
    int node = state.places.node(run);
    RunningTasks.NamedPath names = runs.names(run);
    return node >= 0
        ? state.topology.name(node)
        : (names != null ? names : nodesInForce(state, run)).last();
  }

  /** Returns the slots by node and resource, in path order, with the worker's shard last. */
  public static Map<String, Map<String, Integer>> chargesByNode(
      SchedulingState state, RunningTasks runs, int run) {
    ResourceCharges charges = charges(state, runs, run);
    ResourceCharges carried = carried(runs, run);
    RunningTasks.NamedPath path = path(state, runs, run);
    Map<String, Map<String, Integer>> byNode = new LinkedHashMap<>();
    for (int i = 0; i < path.levels().size(); i++) {
      Map<String, Integer> amounts = charges.onLevel(path.levels().get(i));
      carried
          .onLevel(path.levels().get(i))
          .forEach((name, n) -> amounts.merge(name, n, Integer::sum));
      if (!amounts.isEmpty()) {
        // Nodes of different levels may share a name; resources never do.
        byNode.computeIfAbsent(path.nodes().get(i), n -> new LinkedHashMap<>()).putAll(amounts);
      }
    }
    int worker = state.places.worker(run);
    Map<String, Integer> ofWorker = charges.onWorker();
    if (worker >= 0 && !ofWorker.isEmpty()) {
      // The name of the scheduler's own host is the name of the instance.
      String shard = state.pool.shard(worker);
      byNode
          .computeIfAbsent(
              shard.isEmpty() ? state.topology.name(0) : shard, n -> new LinkedHashMap<>())
          .putAll(ofWorker);
    }
    return byNode;
  }
}
