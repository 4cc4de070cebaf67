package io.espalier.testkit.oracle;

import io.espalier.core.config.FilterEvaluator;
import io.espalier.core.config.Job;
import io.espalier.core.config.JobFilter;
import io.espalier.core.topology.Topology;
import io.espalier.testkit.oracle.Oracle.Place;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;

/** Where nodes are, and which of them jobs pass: every path is walked. */
public final class OracleTree {
  private final Oracle oracle;

  OracleTree(Oracle oracle) {
    this.oracle = oracle;
  }

  private Topology topology() {
    return oracle.topology();
  }

  /** Returns the names of a level, in node order. */
  static List<String> names(Topology topology, int level) {
    return IntStream.range(topology.levelStart(level), topology.levelEnd(level))
        .mapToObj(topology::name)
        .toList();
  }

  int find(Place place) {
    return topology().find(topology().levels().find(place.level()), place.node());
  }

  /** Returns the place of a slot of the tree. */
  Place placeOf(int slot) {
    return place(topology().node(slot));
  }

  boolean isThere(String levelName, String node) {
    int level = topology().levels().find(levelName);
    return level >= 0 && level < topology().levels().worker() && topology().find(level, node) >= 0;
  }

  int node(Job job, String name) {
    return job.level() == topology().levels().worker() ? -1 : topology().find(job.level(), name);
  }

  Place place(int node) {
    return new Place(topology().levels().name(topology().level(node)), topology().name(node));
  }

  /** Returns all paths of a node, each from the node's own slot to the instance's. */
  public List<List<Integer>> paths(int node) {
    List<List<Integer>> paths = new ArrayList<>();
    for (int i = 0; i < topology().slotCount(node); i++) {
      int slot = topology().slot(node, i);
      if (slot == 0) {
        paths.add(List.of(0));
      } else {
        for (List<Integer> above : paths(topology().parent(slot))) {
          List<Integer> path = new ArrayList<>(List.of(slot));
          path.addAll(above);
          paths.add(path);
        }
      }
    }
    return paths;
  }

  boolean passes(Job job, int slot) {
    int node = topology().node(slot);
    JobFilter filter = job.filters().get(topology().level(node));
    if (!permits(job, topology().role(slot))) {
      return false;
    }
    return filter == null
        || FilterEvaluator.passes(filter, job.name(), topology().name(node), topology().tags(slot));
  }

  private static boolean permits(Job job, String role) {
    List<String> wanted = job.scheduling().roles();
    return wanted.isEmpty() || role.equals("") || wanted.stream().anyMatch(role::equals);
  }

  enum Verdict {
    YES,
    AVOIDED,
    DISABLED
  }

  Verdict verdict(Job job, int node) {
    Verdict best = Verdict.DISABLED;
    for (List<Integer> path : paths(node)) {
      Verdict verdict = Verdict.YES;
      for (int slot : path) {
        if (verdict == Verdict.YES && !topology().enabled(slot)) {
          verdict = Verdict.DISABLED;
        }
        if (verdict == Verdict.YES && !passes(job, slot)) {
          verdict = Verdict.AVOIDED;
        }
      }
      best = verdict.compareTo(best) < 0 ? verdict : best;
    }
    return best;
  }

  /**
   * Returns whether the node is enabled on the job's own level, or on any level if it is missing
   * there.
   */
  boolean isEnabledSomewhere(Job job, String name) {
    int own = node(job, name);
    Set<Integer> nodes = new TreeSet<>();
    for (int level = 0; level <= topology().levels().bottom(); level++) {
      nodes.add(own >= 0 ? own : topology().find(level, name));
    }
    nodes.remove(-1);
    for (int node : nodes) {
      for (List<Integer> path : paths(node)) {
        if (path.stream().allMatch(topology()::enabled)) {
          return true;
        }
      }
    }
    return false;
  }
}
