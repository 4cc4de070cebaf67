package io.espalier.core.scheduling.capacity;

import io.espalier.core.config.Resource;
import io.espalier.core.config.ResourceCatalog;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The {@link LimitFactor}s by the numbers of one tree. A limit costs the nodes above its node, and
 * nothing while no factor concerns its resource. A node with several parents is below all of them.
 */
public final class LimitFactors {
  private final Topology topology;
  private final ResourceCatalog catalog;

  private List<LimitFactor> all = List.of();

  /** By resource: whether any factor concerns it on some node of its level. */
  private final boolean[] concerned;

  /** By resource: the smallest share on all nodes of its level. */
  private final int[] wide;

  /** By node: the factors for it and everything below. */
  private final Map<Integer, List<LimitFactor>> below = new HashMap<>();

  LimitFactors(Topology topology, ResourceCatalog catalog) {
    this.topology = topology;
    this.catalog = catalog;
    concerned = new boolean[catalog.count()];
    wide = new int[catalog.count()];
    Arrays.fill(wide, LimitFactor.ONE);
  }

  /** Replaces all factors; those for unknown levels and nodes have no effect. */
  public void set(Collection<LimitFactor> factors) {
    Arrays.fill(concerned, false);
    Arrays.fill(wide, LimitFactor.ONE);
    below.clear();
    all = List.copyOf(factors);
    for (LimitFactor factor : factors) {
      Scope scope = factor.scope();
      int level = topology.levels().find(scope.level());
      int node = node(scope);
      if (node >= 0) {
        below.computeIfAbsent(node, n -> new ArrayList<>()).add(factor);
      }
      for (Resource resource : catalog.all()) {
        int r = resource.index();
        boolean isWide =
            scope.kind() == Scope.Kind.ALL
                || (scope.kind() == Scope.Kind.LEVEL && level == resource.level());
        if (factor.concerns(resource.name())
            && (isWide || (node >= 0 && resource.level() >= level))) {
          concerned[r] = true;
          wide[r] = isWide ? Math.min(wide[r], factor.millionths()) : wide[r];
        }
      }
    }
  }

  /** Returns the node of a scope; -1: it has none, or the node is not known. */
  private int node(Scope scope) {
    int level = topology.levels().find(scope.level());
    return scope.kind() == Scope.Kind.NODE && level >= 0 && level < topology.levels().worker()
        ? topology.find(level, scope.name())
        : -1;
  }

  /** Returns whether any factor concerns a resource somewhere. */
  boolean concerns(int resource) {
    return concerned[resource];
  }

  /** Returns what is left of the base of a node. */
  int limit(int base, int node, int resource) {
    if (!concerned[resource]) {
      return base;
    }
    LimitFactor least = below.isEmpty() ? null : above(node, catalog.get(resource).name(), null);
    int share = wide[resource];
    return LimitFactor.share(base, least == null ? share : Math.min(share, least.millionths()));
  }

  /** Returns the smallest factor for a resource on a node, or null. */
  public @Nullable LimitFactor smallest(int node, Resource resource) {
    LimitFactor least = above(node, resource.name(), null);
    for (LimitFactor factor : all) {
      boolean isWide =
          factor.scope().kind() == Scope.Kind.ALL
              || (factor.scope().kind() == Scope.Kind.LEVEL
                  && factor.scope().level().equals(topology.levels().name(resource.level())));
      if (isWide) {
        least = smaller(least, factor, resource.name());
      }
    }
    return least;
  }

  private static @Nullable LimitFactor smaller(
      @Nullable LimitFactor least, LimitFactor factor, String resource) {
    boolean isLess = least == null || factor.millionths() < least.millionths();
    return isLess && factor.concerns(resource) ? factor : least;
  }

  /** Returns the smallest factor on a node or above, if it is smaller than another one. */
  private @Nullable LimitFactor above(int node, String resource, @Nullable LimitFactor than) {
    LimitFactor least = than;
    for (LimitFactor factor : below.getOrDefault(node, List.of())) {
      least = smaller(least, factor, resource);
    }
    int slots = topology.slotCount(node);
    for (int i = 0; i < slots; i++) {
      int parent = topology.parent(topology.slot(node, i));
      if (parent >= 0) {
        least = above(parent, resource, least);
      }
    }
    return least;
  }

  /** Receives a range of nodes. */
  public interface Ranges {
    void range(Resource resource, int from, int to);
  }

  /**
   * Finds the nodes whose limits a factor may concern: in a plain tree only those, otherwise all of
   * the levels from that of its node on.
   */
  public void visit(LimitFactor factor, Ranges ranges) {
    Scope scope = factor.scope();
    int from = node(scope);
    if (scope.kind() == Scope.Kind.NODE && from < 0) {
      return;
    }
    int level = topology.levels().find(scope.level());
    for (Resource resource : catalog.all()) {
      int own = resource.level();
      if (own >= topology.levels().worker() || !factor.concerns(resource.name())) {
        continue;
      }
      if (scope.kind() == Scope.Kind.NODE && topology.slotsAreNodes()) {
        subtree(from, resource, ranges);
      } else if (scope.kind() == Scope.Kind.ALL
          || (scope.kind() == Scope.Kind.NODE ? own >= level : own == level)) {
        ranges.range(resource, topology.levelStart(own), topology.levelEnd(own));
      }
    }
  }

  /** Finds the nodes with a resource in the subtree of a node of a plain tree. */
  private void subtree(int node, Resource resource, Ranges ranges) {
    int start = topology.levelStart(resource.level());
    int end = topology.levelEnd(resource.level());
    int from = node;
    int to = node + 1;
    while (from < to) {
      int first = Math.max(from, start);
      int last = Math.min(to, end);
      if (first < last) {
        ranges.range(resource, first, last);
      }
      int next = topology.childStart(from);
      to = topology.childEnd(to - 1);
      from = next;
    }
  }
}
